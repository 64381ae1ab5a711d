#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Programs that replace the epilogues of a matrix product where no library has them: bias and activation over the
// product in place, the gradient of the activation with the sums of its columns, and sums over a factor. Not in the
// umbrella. Read next: ops/biased_product.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/elementwise/activations.hpp>
#include <twill/expr/program.hpp>
#include <twill/expr/row_symbols.hpp>
#include <twill/expr/symbol.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/run.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The activations that can follow a product with a bias in one kernel.
enum class Activation : std::uint8_t { none, relu, gelu_tanh };

/// The derivative of gelu_tanh, for symbols and for traced values.
template <class X> [[nodiscard]] constexpr X gelu_tanh_slope(X x) {
  // t = tanh(c (x + 0.044715 x^3)); (1 + t) / 2 + x / 2 (1 - t^2) c (1 + 3 * 0.044715 x^2)
  const X square = x * x;
  const X t = tanh((x + square * x * 0.044715) * 0.79788456080286535588);
  return (t + 1.0) * 0.5 + x * 0.5 * ((t * t) * -1.0 + 1.0) * (square * 0.134145 + 1.0) * 0.79788456080286535588;
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

[[nodiscard]] TWILL_CONSTEXPR expr::Symbol leaf_of(expr::Code& code, DType dtype, kernel::Access access) {
  return {code, code.tensor(dtype, access, false, false, 0, dyn)};
}

/// activation(product + bias), and with `Keeps` the sum. Operands: the product, the bias, the sum, the result.
template <class T, graph::Activation A, bool Keeps> struct FinishProduct {
  static constexpr expr::Code code = [] {
    expr::Code lines{};
    const expr::Symbol product = leaf_of(lines, dtype_of<T>, kernel::Access::contiguous);
    const expr::Symbol bias = leaf_of(lines, dtype_of<T>, kernel::Access::contiguous);
    const expr::Symbol sum = expr::widened(product) + expr::widened(bias);
    const expr::Symbol result = A == graph::Activation::none   ? sum
                                : A == graph::Activation::relu ? relu(sum)
                                                               : gelu_tanh(sum);
    const int kept = sum.to(dtype_of<T>).line();
    const int given = result.to(dtype_of<T>).line();
    if (Keeps) lines.output(dtype_of<T>, kept);
    lines.output(dtype_of<T>, given);
    return lines;
  }();
};

/// product * gelu'(argument), and with `Sums` those of its columns. Operands: product, argument, result, sums.
template <class T, bool Sums> struct GeluGradient {
  static constexpr expr::Code code = [] {
    expr::Code lines{};
    const expr::Symbol product = leaf_of(lines, dtype_of<T>, kernel::Access::contiguous);
    const expr::Symbol argument = leaf_of(lines, dtype_of<T>, kernel::Access::contiguous);
    const expr::Symbol result =
        (expr::widened(product) * graph::gelu_tanh_slope(expr::widened(argument))).to(dtype_of<T>);
    const int sums = Sums ? lines.reduce(kernel::LineKind::reduce_columns, kernel::Reduction::sum, result.line()) : 0;
    lines.output(dtype_of<T>, result.line());
    if (Sums) lines.output(dtype_of<T>, sums);
    return lines;
  }();
};

/// Sums down the columns. Operands: the matrix, the sums.
template <class T, kernel::Access A> struct ColumnSums {
  static constexpr expr::Code code = [] {
    expr::Code lines{};
    const expr::Symbol matrix = leaf_of(lines, dtype_of<T>, A);
    const int sums = lines.reduce(kernel::LineKind::reduce_columns, kernel::Reduction::sum, matrix.line());
    lines.output(dtype_of<T>, sums);
    return lines;
  }();
};

/// Runs a program over a grid: leaves and destinations in the order in which its code names them.
template <class Source, class TeamType, std::size_t N>
void run_code(const TeamType& team, const kernel::Grid& grid, const std::array<kernel::Operand, N>& given) {
  using All = expr::Operands<Source>;
  std::array<kernel::Operand, All::count> operands{};
  std::size_t next = 0;
  for (std::size_t i = 0; i < All::count; ++i) {
    if (All::entries[i].origin == expr::Origin::number)
      operands[i].bits = All::entries[i].bits;
    else
      operands[i] = given[next++];
  }
  run(typename expr::ProgramOf<Source>::type{}, team, grid, operands.data());
}

/// A matrix as an operand over (rows, columns).
[[nodiscard]] kernel::Operand over_grid(const void* data, std::int64_t row_stride, std::int64_t column_stride);

}}}} // namespace twill::v0::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/ops/detail/epilogue_programs.ipp>
#endif
