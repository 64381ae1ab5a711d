#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A reduction of an expression over axes that the type names. What is reduced is a function of symbols like everything
// else, so variance and argmax are written once and run as one kernel with two reductions in a row. How a reduction is
// run is decided in expr/row_form.hpp.

#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/code.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/node.hpp>
#include <twill/expr/symbol.hpp>
#include <twill/kernel/program.hpp>
#include <twill/tensor/shapes.hpp>

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

namespace twill::inline v0::expr {

[[nodiscard]] constexpr Symbol reduce_row(kernel::Reduction reduction, Symbol x) {
  return {x.code(), x.code().reduce(kernel::LineKind::reduce, reduction, x.line())};
}
/// How many elements a row has, in the type of x.
[[nodiscard]] constexpr Symbol row_length(Symbol x) { return {x.code(), x.code().row_length(x.type())}; }

/// A reduction that is one associative combination.
template <kernel::Reduction R> struct Combine {
  static constexpr std::string_view name() { return R == kernel::Reduction::product ? "prod" : kernel::name(R); }
  static constexpr bool needs_elements = R == kernel::Reduction::max || R == kernel::Reduction::min;
  static constexpr bool is_mean = false;

  static constexpr DType result(DType type) {
    if (R == kernel::Reduction::any || R == kernel::Reduction::all) return DType::boolean;
    return needs_elements ? type : sum_type(type);
  }
  /// The greatest of truth values is whether any holds.
  static constexpr kernel::Reduction reduction_of(DType type) {
    if (type != DType::boolean || !needs_elements) return R;
    return R == kernel::Reduction::max ? kernel::Reduction::any : kernel::Reduction::all;
  }
  static constexpr Symbol prepare(Symbol x) { return x.to(result(x.type())); }
  static constexpr Symbol emit(Symbol x) { return reduce_row(reduction_of(x.type()), prepare(x)); }
};

struct Mean {
  static constexpr std::string_view name() { return "mean"; }
  static constexpr bool needs_elements = false;
  static constexpr bool is_mean = true;
  static constexpr DType result(DType type) { return floating_type(type); }
  static constexpr kernel::Reduction reduction_of(DType) { return kernel::Reduction::sum; }
  /// Down columns the sum is stored before it is divided, so the 16-bit types need room.
  static constexpr Symbol prepare(Symbol x) { return x.to(compute_type(result(x.type()))); }
  static constexpr Symbol emit(Symbol x) {
    const Symbol sum = reduce_row(kernel::Reduction::sum, prepare(x));
    return (sum / row_length(sum)).to(result(x.type()));
  }
};

/// sum((x - mean)^2) / (n - Correction)
template <int Correction> struct Variance {
  static constexpr std::string_view name() { return "var"; }
  static constexpr bool needs_elements = false;
  static constexpr DType result(DType type) { return floating_type(type); }
  static constexpr Symbol emit(Symbol x) {
    const Symbol value = Mean::prepare(x);
    const Symbol difference = value - Mean::emit(value);
    const Symbol sum = reduce_row(kernel::Reduction::sum, square(difference));
    const Symbol freedom = maximum(row_length(sum) - static_cast<double>(Correction), 0.0);
    return (sum / freedom).to(result(x.type()));
  }
};

/// The index of the first greatest or least element; of the first NaN if there is one.
template <kernel::Reduction R> struct ArgumentOf {
  static constexpr std::string_view name() { return R == kernel::Reduction::max ? "argmax" : "argmin"; }
  static constexpr bool needs_elements = true;
  static constexpr DType result(DType) { return DType::int64; }
  static constexpr Symbol emit(Symbol x) {
    if (x.type() == DType::boolean) x = x.to(DType::uint8);
    Symbol found = apply(Primitive::equal, x, reduce_row(R, x));
    if (is_floating(x.type())) found = apply(Primitive::logical_or, found, apply(Primitive::isnan, x));
    const Symbol index{x.code(), x.code().row_index()};
    const Symbol beyond{x.code(), x.code().number(DType::int64, 9.0e18)};
    return reduce_row(kernel::Reduction::min, where(found, index, beyond));
  }
};

/// Axes of a tensor as bits, counted from the front.
template <int Rank, int... Axes> consteval unsigned axes_mask() {
  if constexpr (sizeof...(Axes) == 0) return (1U << Rank) - 1U;
  unsigned mask = 0;
  unsigned count = 0;
  ((mask |= 1U << static_cast<unsigned>(axis_of<Axes, Rank>), ++count), ...);
  unsigned bits = 0;
  for (int axis = 0; axis < Rank; ++axis) bits += mask >> axis & 1U;
  if (bits != count) return ~0U;
  return mask;
}

[[nodiscard]] constexpr Dims reduced_dims(const Dims& dims, unsigned mask, bool keep) {
  Dims result{};
  for (int axis = 0; axis < dims.rank; ++axis) {
    const bool is_reduced = (mask >> axis & 1U) != 0;
    if (!is_reduced || keep) result[result.rank++] = is_reduced ? 1 : dims[axis];
  }
  return result;
}

template <class Op, unsigned Mask, bool Keep, class A> struct Reduced : Evaluates<Reduced<Op, Mask, Keep, A>> {
  static constexpr bool owns = A::owns;
  static constexpr bool has_reductions = true;
  static constexpr bool shape_is_proven = A::shape_is_proven;
  static constexpr DType dtype = Op::result(A::dtype);
  using operand_type = A;
  using value_type = scalar_t<dtype>;
  using device_type = typename A::device_type;
  using shape_type = shape_t<reduced_dims(dims_of<typename A::shape_type>, Mask, Keep)>;

  A operand;

  constexpr explicit Reduced(A a) : operand{std::move(a)} {}

  /// Inside a row program: the row of the frame is what is reduced.
  static constexpr int lower(Code& code, Frame frame) {
    frame.outside = false;
    return Op::emit(Symbol{code, A::lower(code, frame)}).line();
  }
  template <class F> void each_leaf(F& f) const { operand.each_leaf(f); }
  [[nodiscard]] Dims shape() const { return reduced_dims(operand.shape(), Mask, Keep); }
  [[nodiscard]] device_type device() const { return operand.device(); }
};

template <class Op, unsigned Mask, bool Keep, class A, class B>
[[nodiscard]] auto with_operand(const Reduced<Op, Mask, Keep, A>&, B operand) {
  return Reduced<Op, Mask, Keep, B>(std::move(operand));
}
template <class Op, unsigned Mask, bool Keep, class A>
[[nodiscard]] auto owned(const Reduced<Op, Mask, Keep, A>& reduced) {
  return with_operand(reduced, owned(reduced.operand));
}

} // namespace twill::inline v0::expr
