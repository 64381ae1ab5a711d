#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sharded states of a rule on one rank: of each weight those of the rank's part, in one allocation, and the numbers
// that the rule keeps for all weights. They can be gathered into those of one device, and taken out of these. Read
// next: parallel/data/zero.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/nn/initialise.hpp>
#include <twill/parallel/data/shards.hpp>
#include <twill/parallel/group/communicator.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// The states of a rule for the parts of the weights updated by one rank, and its numbers for all weights.
template <ComputeDevice D> class ShardedState {
public:
  ShardedState(const nn::NetworkState<D>& network, ListView<graph::ParameterInfo> parameters,
               const std::vector<Part>& parts)
      : infos_{parameters}, memory_(network.device, static_cast<std::size_t>(bytes(parameters, parts))) {
    std::size_t offset = 0;
    for (std::size_t i = network.infos.size(); i < parameters.size(); ++i) {
      addresses_.push_back(static_cast<std::byte*>(memory_.data()) + offset);
      offset += static_cast<std::size_t>(bytes_of(parameters, i, parts));
    }
    reset();
  }

  /// Sets all states to their values before the first step.
  void reset() {
    const auto count = static_cast<std::int64_t>(memory_.bytes() / sizeof(float)); // states of weights start as zeros
    if (count == 0) return;
    Tensor<float, D, Shape<dyn>>(memory_, static_cast<float*>(memory_.data()), Dims(count), Dims(1)).fill(0.0f);
    const std::size_t own = infos_.size() - addresses_.size();
    for (std::size_t i = own; i < infos_.size(); ++i)
      if (detail::weight_of(infos_, i) < 0)
        nn::initialise_parameter(memory_.device(), infos_[i], i, RandomDraw{}, addresses_[i - own]);
  }

  /// The memory of all states.
  [[nodiscard]] static std::int64_t bytes(ListView<graph::ParameterInfo> parameters, const std::vector<Part>& parts) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].role == graph::Role::optimiser_state) sum += bytes_of(parameters, i, parts);
    return sum;
  }

  /// In the order of the table, after the network's own.
  [[nodiscard]] const std::vector<void*>& addresses() const { return addresses_; }

  /// The states themselves.
  [[nodiscard]] ListView<graph::ParameterInfo> infos() const {
    return infos_.subspan(infos_.size() - addresses_.size());
  }

  /// The whole of a state, on all ranks, which call this together: each part comes from the rank that has it.
  /// `parts_of_ranks[r]` are the parts of rank r, `run(call)` carries out a call.
  template <class Run>
  [[nodiscard]] memory::Buffer<D> gather(std::size_t number, const std::vector<std::vector<Part>>& parts_of_ranks,
                                         int rank, const Run& run) const {
    const D& device = memory_.device();
    const graph::ParameterInfo& info = infos()[number];
    const std::size_t size = size_of(info.dtype);
    memory::Buffer<D> whole(device, static_cast<std::size_t>(info.shape.elements().factor) * size);
    const int weight = weight_of(number);
    if (weight < 0) copy_bytes(device, whole.data(), device, addresses_[number], whole.bytes(), CopyOptions{});
    for (std::size_t owner = 0; weight >= 0 && owner < parts_of_ranks.size(); ++owner) {
      const Part& part = parts_of_ranks[owner][static_cast<std::size_t>(weight)];
      if (part.count() == 0) continue;
      auto* const begin = static_cast<std::byte*>(whole.data()) + static_cast<std::size_t>(part.begin) * size;
      if (static_cast<int>(owner) == rank)
        copy_bytes(device, begin, device, addresses_[number], static_cast<std::size_t>(part.count()) * size,
                   CopyOptions{});
      run(Call::broadcast({begin, part.count(), info.dtype}, static_cast<int>(owner)));
    }
    return whole;
  }

  /// Takes this rank's part of a whole state in host memory.
  void take(std::size_t number, const std::vector<Part>& own, const std::byte* from) {
    const graph::ParameterInfo& info = infos()[number];
    const std::size_t size = size_of(info.dtype);
    const int weight = weight_of(number);
    Part part{0, info.shape.elements().factor, 0};
    if (weight >= 0) part = own[static_cast<std::size_t>(weight)];
    if (part.count() > 0)
      copy_bytes(memory_.device(), addresses_[number], Cpu{}, from + static_cast<std::size_t>(part.begin) * size,
                 static_cast<std::size_t>(part.count()) * size, CopyOptions{});
  }

  /// Waits for the device and reads a number. throws: ValueError when there is none of this name
  [[nodiscard]] double item(std::string_view name) const {
    if (const auto found = find_item(name)) return *found;
    throw ValueError(join_text({"state: the rule keeps no single number '", name, "'"}));
  }
  /// A number of this name, like `item`; nothing when there is none.
  [[nodiscard]] std::optional<double> find_item(std::string_view name) const {
    const std::size_t own = infos_.size() - addresses_.size();
    for (std::size_t i = own; i < infos_.size(); ++i) {
      if (infos_[i].name.view() != name || infos_[i].shape.rank > 0) continue;
      if (infos_[i].dtype == DType::float64)
        return read_item(memory_.device(), static_cast<const double*>(addresses_[i - own]), Dims{});
      return static_cast<double>(read_item(memory_.device(), static_cast<const float*>(addresses_[i - own]), Dims{}));
    }
    return {};
  }

private:
  [[nodiscard]] int weight_of(std::size_t number) const {
    return detail::weight_of(infos_, infos_.size() - addresses_.size() + number);
  }
  [[nodiscard]] static std::int64_t bytes_of(ListView<graph::ParameterInfo> parameters, std::size_t i,
                                             const std::vector<Part>& parts) {
    const int weight = detail::weight_of(parameters, i);
    const std::int64_t count =
        weight < 0 ? parameters[i].shape.elements().factor : parts[static_cast<std::size_t>(weight)].updated();
    return detail::rounded_up(count * static_cast<std::int64_t>(size_of(parameters[i].dtype)), 64);
  }

  ListView<graph::ParameterInfo> infos_;
  memory::Buffer<D> memory_;
  std::vector<void*> addresses_{};
};

}}}} // namespace twill::v0::parallel::TWILL_ISA
