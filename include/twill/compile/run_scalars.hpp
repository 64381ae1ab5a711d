#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Run-time scalars of a table: rates, probabilities, seeds. They are set by name and given to each run as bit patterns,
// so changing one compiles and plans nothing. Read next: compile/run/executor.hpp.

#include <twill/compile/plan/binding.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/graph/random.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

class RunScalars {
public:
  RunScalars() = default;
  explicit RunScalars(ListView<graph::RunScalarInfo> infos);

  [[nodiscard]] std::span<const std::uint64_t> bits() const;
  [[nodiscard]] ListView<graph::RunScalarInfo> infos() const { return infos_; }
  [[nodiscard]] bool contains(std::string_view name) const { return find(name) >= 0; }

  /// throws: ValueError when there is no number of this name, listing the names, or when it cannot have this value
  void set(std::string_view name, double number);

  void set_at(std::size_t index, double number) { bits_[index] = kernel::bits_of(infos_[index].dtype, number); }

  void copy_at(std::size_t index, const RunScalars& from, std::size_t source) { bits_[index] = from.bits_[source]; }

  /// Sets the number if the table has one of this name.
  void set_if_present(std::string_view name, double number);

  /// Sets the seed and the step of the random draws of the next run.
  void set_draw(std::uint64_t seed, std::uint64_t step);

  [[nodiscard]] bool draws() const { return contains(graph::seed_scalar); }

  /// Takes over the values of all numbers that both have.
  void take(const RunScalars& other);

  [[nodiscard]] int find(std::string_view name) const;

private:
  ListView<graph::RunScalarInfo> infos_{};
  std::vector<std::uint64_t> bits_{};
};

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/run_scalars.ipp>
#endif
