#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Products of NumPy besides matmul and einsum: `dot`, `vdot`, `inner`, `outer`, `vecdot`, `tensordot`, `kron`, and
// PyTorch's `bmm` and `linear`. Each names the axes that are multiplied and summed; all are one product inside, lazy
// like every expression. Read next: expr/einsum.hpp.

#include <twill/core/axes.hpp>
#include <twill/core/config.hpp>
#include <twill/core/refused.hpp>
#include <twill/expr/complex_functions.hpp>
#include <twill/expr/evaluate_products.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/matmul.hpp>
#include <twill/expr/operators.hpp>
#include <twill/expr/pattern.hpp>
#include <twill/expr/product.hpp>

#include <cstddef>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

template <int Left, int Right, class LeftAxes, class RightAxes> struct TensordotRule;
template <int Left, int Right, int... A, int... B> struct TensordotRule<Left, Right, Axes<A...>, Axes<B...>> {
  static constexpr std::string_view name() { return "tensordot"; }
  static constexpr Problem problem = Problem::product_contracts_axes_of_different_extents;
  static constexpr Pattern pattern = [] {
    const int left_axes[] = {axis_of<A, Left>..., -1};
    const int right_axes[] = {axis_of<B, Right>..., -1};
    return tensordot_pattern(Left, Right, static_cast<int>(sizeof...(A)), left_axes, right_axes);
  }();
};

enum class Pairing : std::uint8_t { dot, inner, outer, vdot };

/// The axes that NumPy contracts by default.
template <Pairing P, int Left, int Right> struct PairingRule {
  static constexpr std::string_view name() {
    constexpr std::string_view names[] = {"dot", "inner", "outer", "vdot"};
    return names[static_cast<int>(P)];
  }
  static constexpr Problem problem = Problem::product_contracts_axes_of_different_extents;
  static constexpr Pattern pattern = [] {
    int left_axes[max_rank + 1] = {Left - 1};
    int right_axes[max_rank + 1] = {P == Pairing::dot && Right > 1 ? Right - 2 : Right - 1};
    int pairs = Left == 0 || Right == 0 || P == Pairing::outer ? 0 : 1;
    if (P == Pairing::vdot) {
      pairs = Left;
      for (int axis = 0; axis < Left; ++axis) left_axes[axis] = right_axes[axis] = axis;
    }
    return tensordot_pattern(Left, Right, pairs, left_axes, right_axes);
  }();
};

/// Leading axes broadcast, the last ones are contracted.
template <int Left, int Right> struct VecdotRule {
  static constexpr std::string_view name() { return "vecdot"; }
  static constexpr Problem problem = Problem::product_contracts_axes_of_different_extents;
  static constexpr Pattern pattern = [] {
    Pattern result{};
    result.count = 2;
    const int batch = (Left > Right ? Left : Right) - 1;
    result.labels = batch + 1;
    result.stretched = (1U << batch) - 1U;
    for (int axis = batch - (Left - 1); axis <= batch; ++axis) result[0].append(axis);
    for (int axis = batch - (Right - 1); axis <= batch; ++axis) result[1].append(axis);
    for (int axis = 0; axis < batch; ++axis) result.result.append(axis);
    return result;
  }();
};

template <int Rank> consteval bool require_result_rank() {
  if constexpr (Rank > max_rank)
    static_cast<void>(sizeof(Mistake<refused<Problem::product_has_more_than_eight_axes, with::rank<Rank>>>));
  return true;
}

/// Any tensor or expression as a vector.
template <class X> [[nodiscard]] decltype(auto) flattened(X&& x) {
  if constexpr (operand_rank<X> == 1)
    return std::forward<X>(x);
  else if constexpr (AnyTensor<X>)
    return x.flatten();
  else
    return eval(std::forward<X>(x)).flatten();
}

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Contracts the last axis of a with the second to last of b (the only one of a vector): NumPy's `dot`.
/// throws: ShapeError, DeviceError
template <TensorOperand A, TensorOperand B> [[nodiscard]] auto dot(A&& a, B&& b) {
  constexpr int left = expr::operand_rank<A>;
  constexpr int right = expr::operand_rank<B>;
  static_assert(expr::require_result_rank<left + right - 2>());
  return expr::product_node<expr::PairingRule<expr::Pairing::dot, left, right>>(std::forward<A>(a), std::forward<B>(b));
}

/// Contracts the last axes: `inner(a, b)` of matrices is a times b transposed.
/// throws: ShapeError, DeviceError
template <TensorOperand A, TensorOperand B> [[nodiscard]] auto inner(A&& a, B&& b) {
  constexpr int left = expr::operand_rank<A>;
  constexpr int right = expr::operand_rank<B>;
  static_assert(expr::require_result_rank<left + right - 2>());
  return expr::product_node<expr::PairingRule<expr::Pairing::inner, left, right>>(std::forward<A>(a),
                                                                                  std::forward<B>(b));
}

/// Every element of a times every element of b, as a matrix; operands of other ranks are flattened.
template <TensorOperand A, TensorOperand B> [[nodiscard]] auto outer(A&& a, B&& b) {
  return expr::product_node<expr::PairingRule<expr::Pairing::outer, 1, 1>>(expr::flattened(std::forward<A>(a)),
                                                                           expr::flattened(std::forward<B>(b)));
}

/// The sum of all products of two equally shaped operands. throws: ShapeError, DeviceError
template <TensorOperand A, TensorOperand B> [[nodiscard]] auto vdot(A&& a, B&& b) {
  constexpr int left = expr::operand_rank<A>;
  constexpr int right = expr::operand_rank<B>;
  if constexpr (left != right)
    static_cast<void>(sizeof(Mistake<refused<Problem::ranks_differ, with::left_rank<left>, with::right_rank<right>>>));
  if constexpr (expr::is_complex_operand<A>)
    return expr::product_node<expr::PairingRule<expr::Pairing::vdot, left, right>>(conj(std::forward<A>(a)),
                                                                                   std::forward<B>(b));
  else
    return expr::product_node<expr::PairingRule<expr::Pairing::vdot, left, right>>(std::forward<A>(a),
                                                                                   std::forward<B>(b));
}

/// The dot products of the last axes; axes before them broadcast. throws: ShapeError, DeviceError
template <TensorOperand A, TensorOperand B> [[nodiscard]] auto vecdot(A&& a, B&& b) {
  constexpr int left = expr::operand_rank<A>;
  constexpr int right = expr::operand_rank<B>;
  if constexpr (left == 0 || right == 0)
    static_cast<void>(sizeof(Mistake<refused<Problem::product_needs_operands_of_this_rank, with::rank<1>,
                                             with::left_rank<left>, with::right_rank<right>>>));
  if constexpr (expr::is_complex_operand<A>)
    return expr::product_node<expr::VecdotRule<left, right>>(conj(std::forward<A>(a)), std::forward<B>(b));
  else
    return expr::product_node<expr::VecdotRule<left, right>>(std::forward<A>(a), std::forward<B>(b));
}

/// The products of two equally long stacks of matrices. throws: ShapeError, DeviceError
template <TensorOperand A, TensorOperand B> [[nodiscard]] auto bmm(A&& a, B&& b) {
  constexpr int left = expr::operand_rank<A>;
  constexpr int right = expr::operand_rank<B>;
  if constexpr (left != 3 || right != 3)
    static_cast<void>(sizeof(Mistake<refused<Problem::product_needs_operands_of_this_rank, with::rank<3>,
                                             with::left_rank<left>, with::right_rank<right>>>));
  return matmul(std::forward<A>(a), std::forward<B>(b));
}

/// Contracts the named axes, pair by pair; the others stay, those of a first.
/// throws: ShapeError, DeviceError
template <class LeftAxes, class RightAxes, TensorOperand A, TensorOperand B>
[[nodiscard]] auto tensordot(A&& a, B&& b) {
  constexpr int left = expr::operand_rank<A>;
  constexpr int right = expr::operand_rank<B>;
  if constexpr (LeftAxes::count != RightAxes::count)
    static_cast<void>(sizeof(Mistake<refused<Problem::product_contracts_different_numbers_of_axes,
                                             with::left<LeftAxes::count>, with::right<RightAxes::count>>>));
  static_assert(expr::require_result_rank<left + right - 2 * LeftAxes::count>());
  return expr::product_node<expr::TensordotRule<left, right, LeftAxes, RightAxes>>(std::forward<A>(a),
                                                                                   std::forward<B>(b));
}

/// Contracts the last Count axes of a with the first of b. throws: ShapeError, DeviceError
template <int Count = 2, TensorOperand A, TensorOperand B> [[nodiscard]] auto tensordot(A&& a, B&& b) {
  constexpr int left = expr::operand_rank<A>;
  constexpr int right = expr::operand_rank<B>;
  if constexpr (Count < 0 || Count > left || Count > right) {
    static_cast<void>(sizeof(Mistake<refused<Problem::product_contracts_more_axes_than_an_operand_has,
                                             with::count<Count>, with::left<left>, with::right<right>>>));
    return expr::first_of(std::forward<A>(a));
  } else {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return tensordot<Axes<left - Count + I...>, Axes<I...>>(std::forward<A>(a), std::forward<B>(b));
    }
    (std::make_integer_sequence<int, Count>{});
  }
}

/// The Kronecker product of two matrices: a tensor of blocks a(i, j) * b, computed at once.
template <TensorOperand A, TensorOperand B> [[nodiscard]] auto kron(A&& a, B&& b) {
  constexpr int left = expr::operand_rank<A>;
  constexpr int right = expr::operand_rank<B>;
  if constexpr (left != 2 || right != 2)
    static_cast<void>(sizeof(Mistake<refused<Problem::product_needs_operands_of_this_rank, with::rank<2>,
                                             with::left_rank<left>, with::right_rank<right>>>));
  const auto blocks = eval(tensordot<0>(std::forward<A>(a), std::forward<B>(b))); // (i, j, k, l)
  const auto ordered = blocks.template permute<0, 2, 1, 3>();
  const auto merged = ordered.template flatten<0, 1>();
  return merged.template flatten<1, 2>();
}

/// A dense layer: x times the transposed weight, of shape (outputs, inputs) as in PyTorch, plus the bias.
/// throws: ShapeError, DeviceError
template <TensorOperand X, TensorOperand W> [[nodiscard]] auto linear(X&& x, W&& weight) {
  if constexpr (expr::operand_rank<W> != 2)
    static_cast<void>(sizeof(Mistake<refused<Problem::product_needs_operands_of_this_rank, with::rank<2>,
                                             with::right_rank<expr::operand_rank<W>>>>));
  return inner(std::forward<X>(x), std::forward<W>(weight));
}
template <TensorOperand X, TensorOperand W, TensorOperand B> [[nodiscard]] auto linear(X&& x, W&& weight, B&& bias) {
  return linear(std::forward<X>(x), std::forward<W>(weight)) + std::forward<B>(bias);
}

}}} // namespace twill::v0::TWILL_ISA
