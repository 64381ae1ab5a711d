#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Axes of ranks as a model names them: `using Tensor = RankAxis<"tensor", 4>;`. The size is known to the compiler, so a
// shape can be divided by it, and one that it does not divide is refused at compile time. The place of a rank along the
// axis is known only to a run. Read next: ops/collective.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/graph/functions.hpp>
#include <twill/kernel/rank_group.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 {

/// A number of ranks that work on one model, under a name of at most 16 characters.
template <FixedString Name, int Size> struct RankAxis {
  static_assert(Size >= 1, "twill: an axis of ranks has at least one");
  static_assert(Name.view().size() <= 16, "twill: the name of an axis of ranks has at most 16 characters");
  static constexpr int size = Size;                      ///< the number of ranks along it
  static constexpr std::string_view name = Name.view();  ///< as layers and meshes call it
  static constexpr kernel::AxisId id{Name.view(), Size}; ///< name and size, as a value
};

/// An axis of ranks.
template <class A>
concept AnyRankAxis = requires {
  { A::size } -> std::convertible_to<int>;
  { A::id } -> std::convertible_to<kernel::AxisId>;
};

}} // namespace twill::v0

namespace twill { inline namespace v0 { namespace graph {

/// The prefix of the names of run-time scalars that are the rank along an axis; the initial value is their number.
inline constexpr std::string_view rank_scalar = "rank along ";

/// The place along an axis of the rank that runs this: 0, 1, …, a scalar of int64.
[[nodiscard]] TWILL_CONSTEXPR Value rank_along(Graph& graph, const kernel::AxisId& axis) {
  Name name{rank_scalar};
  for (int i = 0; i < 16 && axis.character(i) != 0; ++i) {
    const char character = axis.character(i);
    name.append({&character, 1});
  }
  return run_scalar(graph, name.view(), static_cast<double>(axis.size), DType::int64);
}
template <AnyRankAxis A> [[nodiscard]] constexpr Value rank_along(Graph& graph) { return rank_along(graph, A::id); }

}}} // namespace twill::v0::graph
