#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/data/shards.hpp.

#include <twill/parallel/data/shards.hpp>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

TWILL_BODY std::vector<Part> parts_of(const Buckets& buckets, int rank, int ranks) {
  std::vector<Part> parts{};
  for (std::size_t output = 1; output < buckets.entries.size(); ++output)
    parts.push_back(part_of(buckets, buckets.entries[output], rank, ranks));
  return parts;
}

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY int weight_of(ListView<graph::ParameterInfo> infos, std::size_t parameter) {
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

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

TWILL_BODY void ShortenUpdate::apply(const compile::TableView& table, compile::Binding& binding) const {
  std::vector<int> of_temporaries(table.values.size(), -1);
  for (std::size_t i = 0; i < binding.instructions.size(); ++i) {
    compile::BoundInstruction& instruction = binding.instructions[i];
    int weight = -1;
    const auto for_each_value = [&](const auto& f) {
      for (std::size_t k = 0; k < instruction.operand_count; ++k)
        if (const compile::OperandBinding& operand = table.operands[instruction.first_operand + k];
            operand.kind == compile::OperandKind::memory)
          f(static_cast<std::size_t>(operand.value), operand.writes);
    };
    for_each_value([&](std::size_t value, bool) {
      const int other = weight_of(table, value, of_temporaries);
      if (other < 0) return;
      if (weight >= 0 && weight != other) refuse();
      weight = other;
    });
    if (weight < 0) continue;
    const Part& part = parts_[static_cast<std::size_t>(weight)];
    const compile::KernelKind kind = table.kernels[instruction.kernel].kind;
    if (instruction.grid.rank != 1 || instruction.grid[0] != part.whole ||
        (kind != compile::KernelKind::elementwise && kind != compile::KernelKind::rows))
      refuse();
    instruction.grid = Dims(part.count());
    for_each_value([&](std::size_t value, bool writes) {
      if (writes && table.values[value].shape.elements().factor == part.whole) of_temporaries[value] = weight;
    });
  }
}

TWILL_BODY int ShortenUpdate::weight_of(const compile::TableView& table, std::size_t number,
                                        const std::vector<int>& of_temporaries) const {
  const compile::ValueInfo& value = table.values[number];
  const auto index = static_cast<std::size_t>(value.index);
  int weight = of_temporaries[number];
  if (value.storage == compile::Storage::input) weight = value.index;
  if (value.storage == compile::Storage::parameter) weight = detail::weight_of(table.parameters, index);
  return weight >= 0 && parts_[static_cast<std::size_t>(weight)].whole > 1 ? weight : -1;
}

TWILL_BODY void ShortenUpdate::refuse() {
  throw ValueError("zero: the rule's update mixes the elements of a weight; train without zero");
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
