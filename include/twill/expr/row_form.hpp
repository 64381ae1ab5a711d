#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Row forms: ways to run an expression with reductions, chosen by its type. `rows`: every reduction runs along the rows
// of the result, as in softmax. `totals`: the result is one value for each reduced row, as in sqrt(sum(x * x)).
// `columns` and `permuted`: a single row operation over other axes. These are one kernel each. `staged`: anything else;
// its reductions are evaluated first, each by itself. Read next: expr/evaluate_reductions.hpp.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/node.hpp>
#include <twill/expr/reduced.hpp>
#include <twill/tensor/shapes.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

enum class Form : std::uint8_t { elementwise, rows, totals, columns, permuted, staged };

/// The number of axes from the last one on that are reduced; 0 when others are too, or none.
[[nodiscard]] constexpr int trailing_axes(unsigned mask, int rank) {
  int count = 0;
  while (count < rank && (mask >> (rank - 1 - count) & 1U) != 0) ++count;
  return count > 0 && (mask & ((1U << (rank - count)) - 1U)) == 0 ? count : 0;
}

[[nodiscard]] constexpr bool may_be_equal(std::int64_t a, std::int64_t b) { return a == b || a == dyn || b == dyn; }

/// Whether all reductions in a part of an expression can run along rows of this many elements.
template <class E> struct RowReductions {
  static constexpr bool fit(std::int64_t) { return true; }
};
template <class Op, class... A> struct RowReductions<Node<Op, A...>> {
  static constexpr bool fit(std::int64_t length) { return (RowReductions<A>::fit(length) && ...); }
};
template <class Op, unsigned Mask, Rest Remains, class... A> struct RowReductions<Reduced<Op, Mask, Remains, A...>> {
  static constexpr bool fit(std::int64_t length) {
    using S = typename Reduced<Op, Mask, Remains, A...>::domain_type;
    if (S::rank == 0 || trailing_axes(Mask, S::rank) != 1 || (Remains == Rest::dropped && S::rank != 1)) return false;
    return may_be_equal(dims_of<S>[S::rank - 1], length) && (RowReductions<A>::fit(length) && ...);
  }
};

/// Common facts about the outermost reductions of an expression.
struct Outermost {
  int count = 0;
  bool agree = true;
  int rank = 0;     ///< of the reduced operand
  int trailing = 0; ///< how many last axes are reduced
  bool keep = false;
  Dims domain{};
};

template <class E> struct Reductions {
  static constexpr void outermost(Outermost&) {}
};
template <class Op, class... A> struct Reductions<Node<Op, A...>> {
  static constexpr void outermost(Outermost& found) { (Reductions<A>::outermost(found), ...); }
};
template <class Op, unsigned Mask, Rest Remains, class... A> struct Reductions<Reduced<Op, Mask, Remains, A...>> {
  static constexpr void outermost(Outermost& found) {
    using E = Reduced<Op, Mask, Remains, A...>;
    using S = typename E::domain_type;
    const int trailing = trailing_axes(Mask, S::rank);
    const bool keep = Remains == Rest::kept;
    const bool fits =
        Remains != Rest::whole &&
        (!E::reduces_reductions || (trailing == 1 && (RowReductions<A>::fit(dims_of<S>[S::rank - 1]) && ...)));
    if (found.count++ == 0) {
      found = {1, (trailing > 0 || S::rank == 0) && fits, S::rank, trailing, keep, dims_of<S>};
      return;
    }
    found.agree = found.agree && fits && found.rank == S::rank && found.trailing == trailing && found.keep == keep;
    for (int axis = S::rank - trailing; axis < S::rank && found.agree; ++axis)
      found.agree = may_be_equal(found.domain[axis], dims_of<S>[axis]);
  }
};

template <class E>
inline constexpr Outermost outermost_of = [] {
  Outermost found{};
  Reductions<E>::outermost(found);
  return found;
}();

template <class E> inline constexpr bool is_reduced = false;
template <class Op, unsigned Mask, Rest Remains, class... A>
inline constexpr bool is_reduced<Reduced<Op, Mask, Remains, A...>> = true;

/// A row operation that is not a total of the last axes.
template <class Op, unsigned Mask, Rest Remains, class... A>
[[nodiscard]] constexpr Form single_form(const Reduced<Op, Mask, Remains, A...>*) {
  using E = Reduced<Op, Mask, Remains, A...>;
  constexpr int rank = E::domain_type::rank;
  if (Remains == Rest::whole && rank > 0 && RowReductions<E>::fit(dims_of<typename E::domain_type>[rank - 1]))
    return Form::rows;
  if (E::reduces_reductions) return Form::staged;
  if (rank == 0) return Form::permuted;
  const bool keeps_last = (Mask & (1U << rank >> 1)) == 0;
  return keeps_last && requires { Op::is_mean; }
  ? Form::columns : Form::permuted;
}

template <class E> [[nodiscard]] constexpr Form form_of() {
  if constexpr (!E::has_reductions) {
    return Form::elementwise;
  } else {
    using S = typename E::shape_type;
    constexpr Outermost found = outermost_of<E>;
    bool totals = found.agree && S::rank == (found.keep ? found.rank : found.rank - found.trailing);
    for (int axis = S::rank - found.trailing; found.keep && axis < S::rank && totals; ++axis)
      totals = S::extents[static_cast<std::size_t>(axis)] == 1;
    if (totals) return Form::totals;
    if constexpr (is_reduced<E>)
      return single_form(static_cast<const E*>(nullptr));
    else if constexpr (S::rank == 0)
      return Form::staged;
    else
      return RowReductions<E>::fit(S::extent(S::rank - 1)) ? Form::rows : Form::staged;
  }
}

}}}} // namespace twill::v0::expr::TWILL_ISA
