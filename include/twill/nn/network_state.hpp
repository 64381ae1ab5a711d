#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Weights of a network on a device, with their gradients once computed: the state shared by a network with the tracked
// results of its staged runs, with steps and with replicas. Read next: nn/network.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/list.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/stream.hpp>
#include <twill/device/generator.hpp>
#include <twill/kernel/rank_group.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/nn/tracked.hpp>
#include <twill/tensor/borrowed.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// total += addend, element by element.
template <FloatingScalar T, ComputeDevice D>
void add_elements(const D& device, std::int64_t count, void* total, void* addend) {
  using kernel::Access, kernel::In, kernel::Operand, kernel::Out, kernel::Step;
  Operand operands[3]{};
  void* data[3] = {total, addend, total};
  for (int k = 0; k < 3; ++k) {
    operands[k].data = data[k];
    operands[k].strides[0] = 1;
  }
  kernel::launch(kernel::Program<In<T, Access::contiguous>, In<T, Access::contiguous>,
                                 Step<kernel::Primitive::add, 0, 1>, Out<T, 2>>{},
                 device, Dims(count), operands);
}

/// total += addend for a weight of a network of T, some of whose weights may be float32.
template <FloatingScalar T, ComputeDevice D>
void add_weights(const D& device, DType dtype, std::int64_t count, void* total, void* addend) {
  if (dtype == dtype_of<T>) return add_elements<T>(device, count, total, addend);
  if constexpr (sizeof(T) < sizeof(float)) add_elements<float>(device, count, total, addend);
}

/// Half precision is summed in float32: the total's rounding error is stored beside it.
/// s = total + rest + addend,    total = half(s),    rest = s - total
template <FloatingScalar T, ComputeDevice D>
void add_half_elements(const D& device, std::int64_t count, void* total, void* rest, void* addend) {
  using kernel::Access, kernel::Cast, kernel::In, kernel::Operand, kernel::Out, kernel::Primitive, kernel::Step;
  Operand operands[5]{};
  void* data[5] = {total, rest, addend, total, rest};
  for (int k = 0; k < 5; ++k) {
    operands[k].data = data[k];
    operands[k].strides[0] = 1;
  }
  kernel::launch(
      kernel::Program<In<T, Access::contiguous>, In<float, Access::contiguous>, In<T, Access::contiguous>,
                      Cast<float, 0>, Step<Primitive::add, 3, 1>, Cast<float, 2>, Step<Primitive::add, 4, 5>,
                      Cast<T, 6>, Cast<float, 7>, Step<Primitive::subtract, 6, 8>, Out<T, 7>, Out<float, 9>>{},
      device, Dims(count), operands);
}

/// `add_half_elements` for a network of half elements, nothing for others.
template <FloatingScalar T, ComputeDevice D> [[nodiscard]] constexpr auto half_addition() {
  using Add = void (*)(const D&, std::int64_t, void*, void*, void*);
  if constexpr (sizeof(T) < sizeof(float))
    return Add{&add_half_elements<T, D>};
  else
    return Add{nullptr};
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A weight with its name, type and memory at run time.
template <ComputeDevice D> struct ParameterView {
  std::string_view name;
  DType dtype;
  Dims shape;
  memory::Buffer<D> buffer;
  memory::Buffer<D> gradient; ///< empty until a backward pass
};

/// State shared by tracked results and the network that made them.
template <ComputeDevice D> class NetworkState : public Weights<D> {
public:
  /// Adds this number of elements to others.
  using Add = void (*)(const D& device, DType dtype, std::int64_t count, void* total, void* addend);
  /// Adds half-precision elements in float32: the total's rounding error is stored in the rest.
  using AddHalf = void (*)(const D& device, std::int64_t count, void* total, void* rest, void* addend);

  NetworkState(D place, ListView<graph::ParameterInfo> parameters, Add adding, AddHalf adding_half = nullptr)
      : NetworkState{std::vector<D>{place}, parameters, adding, adding_half} {}

  /// A state with a device for each slot of the model.
  NetworkState(std::vector<D> places, ListView<graph::ParameterInfo> parameters, Add adding,
               AddHalf adding_half = nullptr);

  /// The devices of all slots.
  [[nodiscard]] std::span<const D> devices() const override { return devices_; }
  /// The device of a weight, or of a state of its optimiser.
  [[nodiscard]] const D& device_of(const graph::ParameterInfo& info) const;

  [[nodiscard]] static std::size_t bytes_of(const graph::ParameterInfo& info);

  /// throws: ValueError while the weights are in parts on several ranks
  [[nodiscard]] std::span<void* const> addresses() const override;

  /// Releases the memory of a weight while each of several ranks holds its part elsewhere, until it is taken back.
  void give_up(std::size_t weight);

  /// Allocates memory for all released weights; the caller fills in the elements.
  void take_back();

  /// Whether all weights are here.
  [[nodiscard]] bool is_whole() const { return is_whole_; }

  /// throws: ValueError while the weights are in parts on several ranks
  void require_whole(std::string_view where) const;

  /// Adds to the gradients, in the order of the trainable weights. Half precision is summed in float32.
  void add_gradients(std::vector<memory::Buffer<D>> fresh) override;

  /// Drops the rounding errors after gradients were changed elsewhere, such as by division.
  void forget_rests() { rests_.clear(); }

  /// Moves the contents of each slot to another device.
  void move_to(std::vector<D> targets);

  /// The draw of the next run. Ranks that work on one model draw alike, whatever is drawn on their devices otherwise.
  [[nodiscard]] RandomDraw next_draw();
  /// Returns the last draw, from a run that failed.
  void give_back(const RandomDraw& unused);

  D device; ///< of slot 0
  ListView<graph::ParameterInfo> infos;
  Add add;          ///< for the network's element type, so that no other is compiled
  AddHalf add_half; ///< null if there is no half precision
  std::vector<memory::Buffer<D>> buffers{};
  std::vector<memory::Buffer<D>> gradients{};
  kernel::RankGroups groups{}; ///< of the ranks that share the model, if there are several
  RandomDraw last_draw{};      ///< at first that of the weights

private:
  /// The rounding error of a gradient's sum in float32; initially nothing.
  [[nodiscard]] void* rest_of(std::size_t weight);

  std::vector<D> devices_;
  std::vector<void*> addresses_{};
  std::vector<memory::Buffer<D>> rests_{};
  bool is_whole_ = true;
};

template <ComputeDevice D>
NetworkState<D>::NetworkState(std::vector<D> places, ListView<graph::ParameterInfo> parameters, Add adding,
                              AddHalf adding_half)
    : device{places.front()},
      infos{parameters},
      add{adding},
      add_half{adding_half},
      gradients(parameters.size()),
      devices_{std::move(places)} {
  for (const graph::ParameterInfo& info : infos) {
    buffers.emplace_back(device_of(info), bytes_of(info));
    addresses_.push_back(buffers.back().data());
  }
}

template <ComputeDevice D> const D& NetworkState<D>::device_of(const graph::ParameterInfo& info) const {
  return devices_[static_cast<std::size_t>(info.slot)];
}

template <ComputeDevice D> std::size_t NetworkState<D>::bytes_of(const graph::ParameterInfo& info) {
  return static_cast<std::size_t>(info.shape.elements().factor) * size_of(info.dtype);
}

template <ComputeDevice D> std::span<void* const> NetworkState<D>::addresses() const {
  require_whole("run");
  return ListView<void*>{addresses_.data(), addresses_.size()}.span();
}

template <ComputeDevice D> void NetworkState<D>::give_up(std::size_t weight) {
  buffers[weight].reset();
  addresses_[weight] = nullptr;
  is_whole_ = false;
}

template <ComputeDevice D> void NetworkState<D>::take_back() {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i] && bytes_of(infos[i]) > 0) buffers[i] = memory::Buffer<D>(device, bytes_of(infos[i]));
    addresses_[i] = buffers[i].data();
  }
  is_whole_ = true;
}

template <ComputeDevice D> void NetworkState<D>::require_whole(std::string_view where) const {
  if (!is_whole_)
    throw ValueError(join_text({where, ": since a step with zero<3> the weights of this network lie in parts on all "
                                       "ranks; call gather_weights() of that step on every rank first"}));
}

template <ComputeDevice D> void NetworkState<D>::add_gradients(std::vector<memory::Buffer<D>> fresh) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].role != graph::Role::weight) continue;
    memory::Buffer<D> gradient = std::move(fresh[next++]);
    const bool is_half = add_half != nullptr && size_of(infos[i].dtype) < sizeof(float);
    if (!gradients[i]) {
      gradients[i] = std::move(gradient);
      if (is_half && i < rests_.size()) rests_[i].reset();
    } else if (is_half)
      add_half(device_of(infos[i]), infos[i].shape.elements().factor, gradients[i].data(), rest_of(i), gradient.data());
    else
      add(device_of(infos[i]), infos[i].dtype, infos[i].shape.elements().factor, gradients[i].data(), gradient.data());
  }
}

template <ComputeDevice D> void NetworkState<D>::move_to(std::vector<D> targets) {
  forget_rests();
  require_whole("to");
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const D& target = targets[static_cast<std::size_t>(infos[i].slot)];
    for (memory::Buffer<D>* buffer : {&buffers[i], &gradients[i]}) {
      if (!*buffer || target == device_of(infos[i])) continue;
      memory::Buffer<D> moved(target, bytes_of(infos[i]));
      copy_bytes(target, moved.data(), device_of(infos[i]), buffer->data(), moved.bytes(), CopyOptions{});
      *buffer = std::move(moved);
    }
    addresses_[i] = buffers[i].data();
  }
  for (const D& before : devices_) synchronize(before);
  devices_ = std::move(targets);
  device = devices_.front();
}

template <ComputeDevice D> RandomDraw NetworkState<D>::next_draw() {
  if (groups.all().empty()) return generator(device).next();
  ++last_draw.step;
  return last_draw;
}

template <ComputeDevice D> void NetworkState<D>::give_back(const RandomDraw& unused) {
  if (groups.all().empty())
    generator(device).give_back(unused);
  else
    --last_draw.step;
}

template <ComputeDevice D> void* NetworkState<D>::rest_of(std::size_t weight) {
  if (rests_.size() < gradients.size()) rests_.resize(gradients.size());
  memory::Buffer<D>& rest = rests_[weight];
  if (!rest) {
    const D& own = device_of(infos[weight]);
    const std::int64_t count = infos[weight].shape.elements().factor;
    rest = memory::Buffer<D>(own, static_cast<std::size_t>(count) * sizeof(float));
    tensor_over<Shape<dyn>>(static_cast<float*>(rest.data()), Dims(count), own).fill(0.0f);
  }
  return rest.data();
}

}}}} // namespace twill::v0::nn::TWILL_ISA

#if !TWILL_HEADER_ONLY
namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {
TWILL_INSTANCE template void add_elements<float>(const Cpu&, std::int64_t, void*, void*);
TWILL_INSTANCE template void add_elements<double>(const Cpu&, std::int64_t, void*, void*);
}}}}} // namespace twill::v0::nn::detail::TWILL_ISA
namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {
TWILL_INSTANCE template class NetworkState<Cpu>;
}}}} // namespace twill::v0::nn::TWILL_ISA
#endif
