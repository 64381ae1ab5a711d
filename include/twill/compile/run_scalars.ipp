#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/run_scalars.hpp.

#include <twill/compile/run_scalars.hpp>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_BODY RunScalars::RunScalars(ListView<graph::RunScalarInfo> infos) : infos_{infos} {
  for (const graph::RunScalarInfo& info : infos) bits_.push_back(kernel::bits_of(info.dtype, info.initial));
}

TWILL_BODY std::span<const std::uint64_t> RunScalars::bits() const { return bits_; }

TWILL_BODY void RunScalars::set(std::string_view name, double number) {
  const int index = find(name);
  if (index < 0) {
    std::string known{};
    for (const graph::RunScalarInfo& info : infos_)
      known += (known.empty() ? "" : ", ") + std::string{info.name.view()};
    throw ValueError("set: there is no run-time number '" + std::string{name} + "'; " +
                     (known.empty() ? "the model has none" : "there are: " + known));
  }
  if (infos_[static_cast<std::size_t>(index)].is_probability && !(number >= 0 && number <= 1))
    throw ValueError("set: '" + std::string{name} + "' has to be between 0 and 1; it is " + std::to_string(number));
  set_at(static_cast<std::size_t>(index), number);
}

TWILL_BODY void RunScalars::set_if_present(std::string_view name, double number) {
  if (const int index = find(name); index >= 0) set_at(static_cast<std::size_t>(index), number);
}

TWILL_BODY void RunScalars::set_draw(std::uint64_t seed, std::uint64_t step) {
  if (const int index = find(graph::seed_scalar); index >= 0) bits_[static_cast<std::size_t>(index)] = seed;
  if (const int index = find(graph::step_scalar); index >= 0) bits_[static_cast<std::size_t>(index)] = step;
}

TWILL_BODY void RunScalars::take(const RunScalars& other) {
  for (std::size_t i = 0; i < infos_.size(); ++i)
    if (const int index = other.find(infos_[i].name.view()); index >= 0)
      bits_[i] = other.bits_[static_cast<std::size_t>(index)];
}

TWILL_BODY int RunScalars::find(std::string_view name) const {
  for (std::size_t i = 0; i < infos_.size(); ++i)
    if (infos_[i].name.view() == name) return static_cast<int>(i);
  return -1;
}

}}}} // namespace twill::v0::compile::TWILL_ISA
