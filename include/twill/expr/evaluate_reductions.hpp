#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Evaluation of expressions with reductions: the programs of each form, their conditions on the extents, and the domain
// over which they are launched. Read next: expr/reductions.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/cut.hpp>
#include <twill/expr/domain.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/node.hpp>
#include <twill/expr/program.hpp>
#include <twill/expr/reduced.hpp>
#include <twill/expr/row_form.hpp>
#include <twill/kernel/launch.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/tensor/copy.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// One result of a program: the expression, the type it is stored in, and whether leaves beside its reductions have one
/// value for each row, with the reduced axes or without.
template <class E, DType To, bool Outside = false, bool Drops = false> struct Stored {
  static constexpr DType type = To;
  static constexpr bool has_reductions = E::has_reductions;
  static constexpr int lower(Code& code, Frame frame) {
    frame.outside = Outside;
    frame.drops = Drops;
    code.ordinal = 0;
    return code.cast(To, E::lower(code, frame));
  }
};

/// The program of `rows`, `totals` and `permuted`.
template <std::int64_t RowExtent, bool OtherAxis, Merging M, class... Results> struct RowProgram {
  static constexpr Code code = [] {
    Code result{};
    result.merging = M;
    const Frame frame{.other_axis = OtherAxis, .row_extent = RowExtent};
    const int lines[] = {Results::lower(result, frame)...};
    int next = 0;
    (result.output(Results::type, lines[next++]), ...);
    return result;
  }();
};

/// Whether a program gains by taking leaves for one: a value is computed once instead of twice, or in several results,
/// or, where rows are kept between reductions, a tensor is read before one and after it. Hosts read a row again in any
/// case, from the cache: for them a second program would only take time to compile.
[[nodiscard]] constexpr bool gains(const Code& merged, const Code& apart, bool keeps_rows) {
  const int fewer = apart.operands - merged.operands;
  if (fewer == 0) return false;
  if (merged.outputs > 1 || merged.count < apart.count - fewer) return true;
  if (!keeps_rows) return false;
  std::array<int, Code::capacity> level{}, first{}, last{};
  for (int i = 0; i < merged.count; ++i) {
    const kernel::Line& line = merged[i];
    const auto own = static_cast<std::size_t>(i);
    for (int a = 0; a < line.arity; ++a) {
      const auto from = static_cast<std::size_t>(line.arguments[static_cast<std::size_t>(a)]);
      if (level[from] > level[own]) level[own] = level[from];
    }
    for (int a = 0; a < line.arity; ++a) {
      const auto from = static_cast<std::size_t>(line.arguments[static_cast<std::size_t>(a)]);
      first[from] = first[from] == 0 || level[own] + 1 < first[from] ? level[own] + 1 : first[from];
      last[from] = level[own] + 1 > last[from] ? level[own] + 1 : last[from];
    }
    if (line.kind == kernel::LineKind::reduce) ++level[own];
  }
  for (int k = 0; k < merged.leaves; ++k) {
    const auto line = static_cast<std::size_t>(merged.line_of_leaf[static_cast<std::size_t>(k)]);
    if (merged.source_of(static_cast<int>(line)).origin != static_cast<Origin>(k) && first[line] != last[line])
      return true;
  }
  return false;
}

/// The programs on D of a statement over rows of a known or unknown length, made of the last axis or of several.
template <class D, std::int64_t RowExtent, bool OtherAxis, class... Results> constexpr auto row_programs() {
  using Apart = RowProgram<RowExtent, OtherAxis, Merging::none, Results...>;
  using Alike = RowProgram<RowExtent, OtherAxis, Merging::alike, Results...>;
  using ByOrdinal = RowProgram<RowExtent, OtherAxis, Merging::by_ordinal, Results...>;
  if constexpr (!gains(Alike::code, Apart::code, kernel::has_queue<D>))
    return Programs<Apart>{};
  else if constexpr (sizeof...(Results) == 1 || ByOrdinal::code.operands == Alike::code.operands)
    return Programs<Apart, Alike>{};
  else
    return Programs<Apart, Alike, ByOrdinal>{};
}

/// One line of a column program: the combined values.
template <class Op, unsigned Mask, Rest Remains, class A>
[[nodiscard]] constexpr int lower_column(const Reduced<Op, Mask, Remains, A>*, Code& code) {
  using S = typename A::shape_type;
  code.ordinal = 0;
  const Frame frame{.row_extent = dims_of<S>[S::rank - 1]};
  const Symbol value = Op::prepare(Symbol{code, A::lower(code, frame)});
  return code.reduce(kernel::LineKind::reduce_columns, Op::reduction_of(A::dtype), value.line());
}
/// The program of `columns`: combines, and leaves the rest to the caller.
template <Merging M, class... Results> struct ColumnProgram;
template <Merging M, class... E, DType... To> struct ColumnProgram<M, Stored<E, To>...> {
  static constexpr Code code = [] {
    Code result{};
    result.merging = M;
    const int lines[] = {lower_column(static_cast<const E*>(nullptr), result)...};
    int next = 0;
    (result.output(To, lines[next++]), ...);
    return result;
  }();
};

[[noreturn]] void rows_differ(std::string_view operation, const Dims& own, const Dims& domain);
[[noreturn]] void no_elements(std::string_view operation, const Dims& own);

/// Visits every reduction along the rows and checks that it reduces these rows. throws: ShapeError
template <class E> void require_rows(const E&, const Dims&, int) {}
template <class Op, class... A> void require_rows(const Node<Op, A...>& node, const Dims& domain, int trailing);
template <class Op, unsigned Mask, Rest Remains, class... A>
void require_rows(const Reduced<Op, Mask, Remains, A...>& reduced, const Dims& domain, int trailing) {
  const Dims own = reduced.domain();
  for (int distance = 0; distance < trailing; ++distance)
    if (detail::from_right(own, distance) != detail::from_right(domain, distance)) rows_differ(Op::name(), own, domain);
  if constexpr (requires { requires Op::needs_elements; })
    if (domain.elements() == 0) no_elements(Op::name(), own);
  reduced.operands.apply([&](const auto&... operand) { (require_rows(operand, domain, 1), ...); });
}
template <class Op, class... A> void require_rows(const Node<Op, A...>& node, const Dims& domain, int trailing) {
  node.operands.apply([&](const auto&... operand) { (require_rows(operand, domain, trailing), ...); });
}

/// Checks, where nothing is computed, that no reduction of a statement has results of no elements. throws: ValueError
template <class E> void require_elements(const E&) {}
template <class Op, class... A> void require_elements(const Node<Op, A...>& node) {
  node.operands.apply([](const auto&... operand) { (require_elements(operand), ...); });
}
template <class Op, unsigned Mask, Rest Remains, class... A>
void require_elements(const Reduced<Op, Mask, Remains, A...>& reduced) {
  if constexpr (requires { requires Op::needs_elements; })
    if (const Dims own = reduced.domain(); own.elements() == 0 && reduced.shape().elements() > 0)
      no_elements(Op::name(), own);
  reduced.operands.apply([](const auto&... operand) { (require_elements(operand), ...); });
}

/// The broadcast extents of the operands of the outermost reductions.
template <class E> void join_domain(const E&, Dims&) {}
template <class Op, class... A> void join_domain(const Node<Op, A...>& node, Dims& domain) {
  node.operands.apply([&](const auto&... operand) { (join_domain(operand, domain), ...); });
}
template <class Op, unsigned Mask, Rest Remains, class... A>
void join_domain(const Reduced<Op, Mask, Remains, A...>& reduced, Dims& domain) {
  const Dims own = reduced.domain();
  domain = domain.rank == 0 ? own : detail::broadcast_dims(domain, own);
}

/// The expression with every outermost reduction evaluated.
template <class E> [[nodiscard]] auto staged(const E& part) {
  if constexpr (is_reduced<E>) {
    using S = typename E::shape_type;
    return Held<typename E::value_type, typename E::device_type, S>{evaluate_as<S>(part)};
  } else if constexpr (!E::has_reductions) {
    return part;
  } else {
    return staged_operands(part);
  }
}
template <class E> [[nodiscard]] auto staged_operands(const E& part) {
  return part.operands.apply(
      []<class... A>(const A&... operand) { return rebuilt(static_cast<const E*>(nullptr), staged(operand)...); });
}

/// The type of the sums down columns before the rest of the expression follows.
template <class E> inline constexpr DType partial_type = E::dtype;
template <unsigned Mask, Rest Remains, class A>
inline constexpr DType partial_type<Reduced<Mean, Mask, Remains, A>> = compute_type(Mean::result(A::dtype));

/// Makes the result from sums down columns.
template <DType To, class Op, unsigned Mask, Rest Remains, class A, class Sums>
void finish_columns(const Reduced<Op, Mask, Remains, A>&, const Sums& sums, const Dims& domain, void* to,
                    const Dims& to_strides) {
  if constexpr (Op::is_mean) {
    std::int64_t length = 1;
    for (int axis = 0; axis < domain.rank; ++axis)
      if ((Mask >> axis & 1U) != 0) length *= domain[axis];
    const auto count = static_cast<typename Sums::value_type>(length);
    run<To>(apply_node<Primitive::divide>(sums, count), sums.device(), to, to_strides, sums.shape());
  } else {
    run<To>(make_node<Convert<To>>(sums), sums.device(), to, to_strides, sums.shape());
  }
}

template <DType To, class Op, unsigned Mask, Rest Remains, class A, class D>
void run_columns(const Reduced<Op, Mask, Remains, A>& reduced, const D& device, void* to, const Dims& to_strides,
                 const Dims& extents) {
  using E = Reduced<Op, Mask, Remains, A>;
  const Domain domain{reduced.domain(), Mask, false};
  constexpr DType partial = partial_type<E>;
  const auto combine = [&](void* sums, const Dims& strides) {
    const OutputView target{sums, extents, strides, Remains == Rest::dropped};
    run_domain(Programs<ColumnProgram<Merging::none, Stored<E, partial>>>{}, reduced, device, &target, domain, true);
  };
  if constexpr (partial == To && !Op::is_mean) {
    combine(to, to_strides);
  } else {
    Tensor<scalar_t<partial>, D, typename E::shape_type> sums(device, extents);
    combine(sums.data(), sums.strides());
    finish_columns<To>(reduced, sums, domain.extents, to, to_strides);
  }
}

/// Whether axes of a view can be one, as the axes of a row are.
[[nodiscard]] bool is_one_axis(const Dims& extents, const Dims& strides, unsigned mask);

template <DType To, class Op, unsigned Mask, Rest Remains, class... A, class D>
void run_permuted(const Reduced<Op, Mask, Remains, A...>& reduced, const D& device, void* to, const Dims& to_strides,
                  const Dims& extents) {
  using E = Reduced<Op, Mask, Remains, A...>;
  constexpr bool is_whole = Remains == Rest::whole;
  const Domain domain{reduced.domain(), Mask, true};
  if constexpr (is_whole && (Mask & (Mask - 1)) != 0) {
    // several axes of the result are one row: in memory they have to be one too
    if (!is_one_axis(extents, to_strides, Mask)) {
      const Dims gathered = detail::reordered(domain.extents, domain.order);
      const Dims inner = contiguous_strides(gathered);
      Dims strides = inner;
      for (int dimension = 0; dimension < inner.rank; ++dimension)
        strides[static_cast<int>(domain.order[dimension])] = inner[dimension];
      memory::Buffer<D> copy(device, static_cast<std::size_t>(extents.elements()) * size_of(To));
      run_permuted<To>(reduced, device, copy.data(), strides, extents);
      using T = scalar_t<To>;
      return detail::copy_elements(device, static_cast<T*>(to), to_strides, static_cast<const T*>(copy.data()), strides,
                                   extents);
    }
  }
  using Program = RowProgram<dyn, true, Merging::none, Stored<E, To>>;
  const OutputView target{to, extents, to_strides, Remains == Rest::dropped};
  run_domain(Programs<Program>{}, reduced, device, &target, domain);
}

/// Whether the program of a statement's form is too long, so that parts of the expression are computed first.
template <Form F, DType To, class E> [[nodiscard]] constexpr bool is_cut_with_reductions() {
  if constexpr (F == Form::rows) {
    constexpr int rank = E::shape_type::rank;
    return is_cut(RowProgram<dims_of<typename E::shape_type>[rank - 1], false, Merging::none, Stored<E, To>>::code);
  } else if constexpr (F == Form::totals) {
    constexpr Outermost found = outermost_of<E>;
    constexpr std::int64_t length = found.rank == 0 ? 1 : found.domain[found.rank - 1];
    return is_cut(RowProgram<length, (found.trailing > 1), Merging::none, Stored<E, To, true, !found.keep>>::code);
  } else if constexpr (F == Form::columns) {
    return is_cut(ColumnProgram<Merging::none, Stored<E, partial_type<E>>>::code);
  } else if constexpr (F == Form::permuted) {
    return is_cut(RowProgram<dyn, true, Merging::none, Stored<E, To>>::code);
  } else {
    return false;
  }
}

template <DType To, class E, class D>
void run_with_reductions(const E& expression, const D& device, void* to, const Dims& to_strides, const Dims& extents) {
  constexpr Form form = form_of<E>();
  constexpr bool gathers_along_rows = form == Form::rows || (form == Form::totals && outermost_of<E>.trailing == 1);
  if (extents.elements() == 0) return require_elements(expression);
  if constexpr (is_complex(E::dtype) || is_complex(To)) { // rows have one output
    run<To>(staged(expression), device, to, to_strides, extents);
  } else if constexpr (gathers<E> && !gathers_along_rows) {
    run<To>(settled(expression), device, to, to_strides, extents);
  } else if constexpr (is_cut_with_reductions<form, To, E>()) {
    run<To>(shortened(expression), device, to, to_strides, extents);
  } else if constexpr (form == Form::rows) {
    constexpr int rank = E::shape_type::rank;
    constexpr std::int64_t length = dims_of<typename E::shape_type>[rank - 1];
    require_rows(expression, extents, 1);
    const OutputView target{to, extents, to_strides, false};
    run_domain(row_programs<D, length, false, Stored<E, To>>(), expression, device, &target,
               Domain{extents, 1U << (rank - 1), true});
  } else if constexpr (form == Form::totals) {
    constexpr Outermost found = outermost_of<E>;
    constexpr std::int64_t length = found.rank == 0 ? 1 : found.domain[found.rank - 1];
    constexpr unsigned mask = (1U << found.rank) - (1U << (found.rank - found.trailing));
    Dims domain{};
    join_domain(expression, domain);
    require_rows(expression, domain, found.trailing);
    for (int axis = 0; axis < found.rank - found.trailing; ++axis) domain[axis] = extents[axis];
    const OutputView target{to, extents, to_strides, !found.keep};
    run_domain(row_programs<D, length, (found.trailing > 1), Stored<E, To, true, !found.keep>>(), expression, device,
               &target, Domain{domain, mask, true});
  } else if constexpr (form == Form::columns || form == Form::permuted) {
    require_rows(expression, expression.domain(), 0);
    if constexpr (form == Form::columns)
      run_columns<To>(expression, device, to, to_strides, extents);
    else
      run_permuted<To>(expression, device, to, to_strides, extents);
  } else if constexpr (is_reduced<E>) {
    run<To>(staged_operands(expression), device, to, to_strides, extents);
  } else {
    run<To>(staged(expression), device, to, to_strides, extents);
  }
}

}}}} // namespace twill::v0::expr::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/expr/evaluate_reductions.ipp>
#endif
