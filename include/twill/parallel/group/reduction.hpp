#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// How ranks' elements become one: the reductions of kernel/primitive.hpp and the mean, which a kernel over one array gets by
// dividing and a group gets in the same pass as the sum. It is the sum divided by the number of ranks, in the type that
// partial results are held in, and rounded once. Read next: parallel/group/reduction_tree.hpp.

#include <twill/core/config.hpp>

#include <cstdint>
#include <string_view>

namespace twill::inline v0::parallel::inline TWILL_ISA {

/// `mean` is one of floating-point elements.
enum class Reduction : std::uint8_t { sum, product, max, min, any, all, mean };

/// As messages spell it.
[[nodiscard]] constexpr std::string_view name(Reduction reduction) {
  constexpr std::string_view names[] = {"sum", "product", "max", "min", "any", "all", "mean"};
  return names[static_cast<int>(reduction)];
}

} // namespace twill::inline v0::parallel::inline TWILL_ISA
