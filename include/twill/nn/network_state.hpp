#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The weights of a network on a device, with their gradients once there are some: what a network shares with the tracked
// results of its staged runs, with steps and with replicas. Read next: nn/network.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/generator.hpp>
#include <twill/kernel/rank_group.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/nn/tracked.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace twill::inline v0::nn::detail::inline TWILL_ISA {

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

/// The same for a weight of a network of T, some of whose weights may be float32.
template <FloatingScalar T, ComputeDevice D>
void add_weights(const D& device, DType dtype, std::int64_t count, void* total, void* addend) {
  if (dtype == dtype_of<T>) return add_elements<T>(device, count, total, addend);
  if constexpr (sizeof(T) < sizeof(float)) add_elements<float>(device, count, total, addend);
}

} // namespace twill::inline v0::nn::detail::inline TWILL_ISA

namespace twill::inline v0::nn::inline TWILL_ISA {

/// A weight as the run time sees it.
template <ComputeDevice D> struct ParameterView {
  std::string_view name;
  DType dtype;
  Dims shape;
  memory::Buffer<D> buffer;
  memory::Buffer<D> gradient; ///< empty until a backward pass
};

/// What tracked results share with the network that made them.
template <ComputeDevice D> class NetworkState : public Weights<D> {
public:
  /// Adds so many elements to others.
  using Add = void (*)(const D& device, DType dtype, std::int64_t count, void* total, void* addend);

  NetworkState(D place, std::span<const graph::ParameterInfo> parameters, Add adding)
      : NetworkState{std::vector<D>{place}, parameters, adding} {}

  /// With a device for each slot of the model.
  NetworkState(std::vector<D> places, std::span<const graph::ParameterInfo> parameters, Add adding)
      : device{places.front()},
        infos{parameters},
        add{adding},
        gradients(parameters.size()),
        devices_{std::move(places)} {
    for (const graph::ParameterInfo& info : infos) {
      buffers.emplace_back(device_of(info), bytes_of(info));
      addresses_.push_back(buffers.back().data());
    }
  }

  /// The devices of all slots.
  [[nodiscard]] std::span<const D> devices() const override { return devices_; }
  /// That of a weight, or of a state of its optimiser.
  [[nodiscard]] const D& device_of(const graph::ParameterInfo& info) const {
    return devices_[static_cast<std::size_t>(info.slot)];
  }

  [[nodiscard]] static std::size_t bytes_of(const graph::ParameterInfo& info) {
    return static_cast<std::size_t>(info.shape.elements().factor) * size_of(info.dtype);
  }

  /// throws: ValueError while the weights lie in parts on several ranks
  [[nodiscard]] std::span<void* const> addresses() const override {
    require_whole("run");
    return addresses_;
  }

  /// Gives up the memory of a weight of which each of several ranks holds its part elsewhere, until it is taken back.
  void give_up(std::size_t weight) {
    buffers[weight].reset();
    addresses_[weight] = nullptr;
    is_whole_ = false;
  }

  /// Makes room for all weights that were given up; their elements are the caller's to fill in.
  void take_back() {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (!buffers[i] && bytes_of(infos[i]) > 0) buffers[i] = memory::Buffer<D>(device, bytes_of(infos[i]));
      addresses_[i] = buffers[i].data();
    }
    is_whole_ = true;
  }

  /// Whether all weights are here.
  [[nodiscard]] bool is_whole() const { return is_whole_; }

  /// throws: ValueError while the weights lie in parts on several ranks
  void require_whole(std::string_view where) const {
    if (!is_whole_)
      throw ValueError(join_text({where, ": since a step with zero<3> the weights of this network lie in parts on all "
                                         "ranks; call gather_weights() of that step on every rank first"}));
  }

  /// Adds to the gradients there are, in the order of the trainable weights.
  void add_gradients(std::vector<memory::Buffer<D>> fresh) override {
    std::size_t next = 0;
    for (std::size_t i = 0; i < infos.size(); ++i) {
      if (infos[i].role != graph::Role::weight) continue;
      memory::Buffer<D> gradient = std::move(fresh[next++]);
      if (!gradients[i])
        gradients[i] = std::move(gradient);
      else
        add(device_of(infos[i]), infos[i].dtype, infos[i].shape.elements().factor, gradients[i].data(),
            gradient.data());
    }
  }

  /// Moves what lies in each slot to another device.
  void move_to(std::vector<D> targets) {
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

  /// What the next run draws with. Ranks that work on one model draw alike, whatever others draw on their devices.
  [[nodiscard]] Draw next_draw() {
    if (groups.all().empty()) return generator(device).next();
    ++last_draw.step;
    return last_draw;
  }

  D device; ///< of slot 0
  std::span<const graph::ParameterInfo> infos;
  Add add; ///< for the network's element type, so that no other is compiled
  std::vector<memory::Buffer<D>> buffers{};
  std::vector<memory::Buffer<D>> gradients{};
  kernel::RankGroups groups{}; ///< of the ranks that the model works on, if there are several
  Draw last_draw{};            ///< at first that of the weights

private:
  std::vector<D> devices_;
  std::vector<void*> addresses_{};
  bool is_whole_ = true;
};

} // namespace twill::inline v0::nn::inline TWILL_ISA
