#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The part of each weight that one rank updates. A bucket is cut into equal parts, one for each rank, wherever weights begin
// and end in it. An update is elementwise in the weights, so the same compiled program, its launches shortened to the part
// of their weight, updates it: the bits are those of an update of everything. States exist for the part alone (Rajbhandari
// et al., ZeRO, 2020). Read next: parallel/distributed_step.hpp.

#include <twill/compile/executor.hpp>
#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/nn/network.hpp>
#include <twill/parallel/buckets.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace twill::inline v0::parallel::inline TWILL_ISA {

/// Elements [begin, end) of a weight.
struct Part {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] constexpr std::int64_t count() const { return end - begin; }
};

/// What belongs to a rank of an entry of a bucket.
[[nodiscard]] constexpr Part part_of(const Buckets& buckets, const BucketEntry& entry, int rank, int ranks) {
  const std::int64_t each = buckets.buckets[static_cast<std::size_t>(entry.bucket)].count / ranks;
  const auto inside = [&](std::int64_t place) {
    return std::clamp<std::int64_t>(place - entry.offset, 0, entry.count);
  };
  return {inside(each * rank), inside(each * (rank + 1))};
}

/// The parts of all trainable weights, in their order: weight k is result k + 1.
[[nodiscard]] inline std::vector<Part> parts_of(const Buckets& buckets, int rank, int ranks) {
  std::vector<Part> parts{};
  for (std::size_t output = 1; output < buckets.entries.size(); ++output)
    parts.push_back(part_of(buckets, buckets.entries[output], rank, ranks));
  return parts;
}

} // namespace twill::inline v0::parallel::inline TWILL_ISA

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

/// The trainable weight that a parameter of a table is, or of which it is a state; -1: none.
[[nodiscard]] inline int weight_of(std::span<const graph::ParameterInfo> infos, std::size_t parameter) {
  const graph::ParameterInfo& own = infos[parameter];
  int weight = -1;
  int found = -1;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].role != graph::Role::weight) continue;
    ++weight;
    if (i == parameter) return weight;
    const std::string_view name = infos[i].name.view();
    if (own.role != graph::Role::optimiser_state || name.size() < longest || own.name.view().size() <= name.size() ||
        !own.name.view().starts_with(name) || own.name.view()[name.size()] != '.' ||
        own.shape.elements().factor != infos[i].shape.elements().factor)
      continue;
    longest = name.size();
    found = weight;
  }
  return found;
}

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA

namespace twill::inline v0::parallel::inline TWILL_ISA {

/// Shortens the launches of an update to parts of the weights. Addresses of weights, gradients and states are then those of
/// the first element of the part.
class ShortenUpdate final : public compile::BindingEdit {
public:
  explicit ShortenUpdate(std::vector<Part> parts) : parts_{std::move(parts)} {}

  /// throws: ValueError for an update that is not elementwise in one weight
  void apply(const compile::TableView& table, compile::Binding& binding) const override {
    for (std::size_t i = 0; i < binding.instructions.size(); ++i) {
      compile::BoundInstruction& instruction = binding.instructions[i];
      int weight = -1;
      for (std::size_t k = 0; k < instruction.operand_count; ++k) {
        const int other = weight_of(table, table.operands[instruction.first_operand + k]);
        if (other < 0) continue;
        if (weight >= 0 && weight != other) refuse();
        weight = other;
      }
      if (weight < 0) continue;
      if (instruction.grid.rank != 1 || table.kernels[instruction.kernel].kind != compile::KernelKind::elementwise)
        refuse();
      instruction.grid = Dims(parts_[static_cast<std::size_t>(weight)].count());
    }
  }

private:
  [[nodiscard]] int weight_of(const compile::TableView& table, const compile::OperandInfo& operand) const {
    if (operand.kind != compile::OperandKind::memory) return -1;
    const compile::ValueInfo& value = table.values[static_cast<std::size_t>(operand.value)];
    const auto index = static_cast<std::size_t>(value.index);
    if (value.storage == compile::Storage::input) return index < parts_.size() ? value.index : -1;
    return value.storage == compile::Storage::parameter ? detail::weight_of(table.parameters, index) : -1;
  }

  [[noreturn]] static void refuse() {
    throw ValueError("zero: the rule's update is not elementwise in each weight; train without zero");
  }

  std::vector<Part> parts_;
};

/// The states of a rule for the parts of the weights that one rank updates, and the numbers that it keeps for all.
template <ComputeDevice D> class ShardedState {
public:
  ShardedState(const nn::NetworkState<D>& network, std::span<const graph::ParameterInfo> parameters,
               const std::vector<Part>& parts)
      : infos_{parameters}, memory_(network.device, static_cast<std::size_t>(bytes(parameters, parts))) {
    std::size_t offset = 0;
    for (std::size_t i = network.infos.size(); i < parameters.size(); ++i) {
      addresses_.push_back(static_cast<std::byte*>(memory_.data()) + offset);
      offset += static_cast<std::size_t>(bytes_of(parameters, i, parts));
    }
    if (offset == 0) return;
    const auto count = static_cast<std::int64_t>(offset / sizeof(float)); // states start as zeros
    Tensor<float, D, Shape<dyn>>(memory_, static_cast<float*>(memory_.data()), Dims(count), Dims(1)).fill(0.0f);
  }

  /// What all states take.
  [[nodiscard]] static std::int64_t bytes(std::span<const graph::ParameterInfo> parameters,
                                          const std::vector<Part>& parts) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].role == graph::Role::optimiser_state) sum += bytes_of(parameters, i, parts);
    return sum;
  }

  /// In the order of the table, behind the network's own.
  [[nodiscard]] const std::vector<void*>& addresses() const { return addresses_; }

  /// Waits for the device and reads a number. throws: ValueError when there is none of this name
  [[nodiscard]] double item(std::string_view name) const {
    const std::size_t own = infos_.size() - addresses_.size();
    for (std::size_t i = own; i < infos_.size(); ++i) {
      if (infos_[i].name.view() != name || infos_[i].shape.rank > 0) continue;
      if (infos_[i].dtype == DType::float64)
        return twill::detail::read_item(memory_.device(), static_cast<const double*>(addresses_[i - own]), Dims{});
      return static_cast<double>(
          twill::detail::read_item(memory_.device(), static_cast<const float*>(addresses_[i - own]), Dims{}));
    }
    throw ValueError(join_text({"state: the rule keeps no single number '", name, "'"}));
  }

private:
  [[nodiscard]] static std::int64_t bytes_of(std::span<const graph::ParameterInfo> parameters, std::size_t i,
                                             const std::vector<Part>& parts) {
    const int weight = detail::weight_of(parameters, i);
    const std::int64_t count =
        weight < 0 ? parameters[i].shape.elements().factor : parts[static_cast<std::size_t>(weight)].count();
    return detail::rounded_up(count * static_cast<std::int64_t>(size_of(parameters[i].dtype)), 64);
  }

  std::span<const graph::ParameterInfo> infos_;
  memory::Buffer<D> memory_;
  std::vector<void*> addresses_{};
};

} // namespace twill::inline v0::parallel::inline TWILL_ISA
