#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Working memory of decompositions and solvers on GPUs, as the plan of a training step counts it: the buffers of
// linalg/gpu/ are known to the byte, and so is when each is released. cuSOLVER's own are known to cuSOLVER alone, which
// tells them when it is called and documents no bound, so the plan takes an estimate that is meant to be ample. Read
// next: linalg/gpu/matrices.hpp, compile/plan/working_bytes.hpp.

#include <twill/compile/plan/working_bytes.hpp>
#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/graph/node.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

/// A stack of matrices in memory: dense, row-major.
struct Stack {
  std::int64_t count = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

[[nodiscard]] constexpr Stack matrices_of(const Dims& shape) {
  Stack stack{1, shape[shape.rank - 2], shape[shape.rank - 1]};
  for (int axis = 0; axis < shape.rank - 2; ++axis) stack.count *= shape[axis];
  return stack;
}

/// The most rows for which the factorisation of a stack is one batched call: few large matrices fill a GPU one after
/// another, and batched routines are made for small ones. Not measured on a GPU yet.
[[nodiscard]] constexpr std::int64_t most_batched_rows(std::int64_t count) {
  return count < 8 ? 64 * count : std::int64_t{512};
}
/// The most rows and columns of Jacobi's batched methods: cuSOLVER refuses larger ones.
inline constexpr std::int64_t most_jacobi_rows = 32;

/// Whether matrices of at most so many rows are one batched call.
[[nodiscard]] constexpr bool is_batched(const Stack& stack, std::int64_t most_rows) {
  return stack.count > 1 && stack.rows <= most_rows;
}
[[nodiscard]] constexpr bool is_batched_svd(const Stack& stack) {
  return is_batched(stack, most_jacobi_rows) && stack.columns <= most_jacobi_rows;
}

/// The elements of working memory that plans count for one call of cuSOLVER: four times its matrices, as if they had 32
/// rows and columns at least, and 2^18. Of LAPACK's routines of these names syevd takes most, twice the matrix.
[[nodiscard]] constexpr std::int64_t planned_elements(std::int64_t m, std::int64_t n, std::int64_t count = 1) {
  constexpr std::int64_t least = 32;
  return 4 * count * (m < least ? least : m) * (n < least ? least : n) + (std::int64_t{1} << 18);
}

/// Sums of a GPU's pool for the allocations of a call.
class CallBytes {
public:
  constexpr explicit CallBytes(const graph::SizedCall& call)
      : element_bytes_{static_cast<std::int64_t>(size_of(call.dtype))} {}

  [[nodiscard]] constexpr std::int64_t elements(std::int64_t count) const {
    return compile::pool_bytes(count * element_bytes_);
  }
  [[nodiscard]] static constexpr std::int64_t ints(std::int64_t count) { return compile::pool_bytes(4 * count); }
  [[nodiscard]] static constexpr std::int64_t longs(std::int64_t count) { return compile::pool_bytes(8 * count); }

  /// LU factors in place.
  [[nodiscard]] constexpr std::int64_t factorise(const Stack& stack) const {
    return ints(stack.count) + (is_batched(stack, most_batched_rows(stack.count))
                                    ? longs(stack.count) // addresses
                                    : elements(planned_elements(stack.rows, stack.rows)));
  }
  /// Triangular systems of a stack: the addresses of both sides.
  [[nodiscard]] static constexpr std::int64_t solve(const Stack& stack) {
    return stack.count == 1 ? 0 : 2 * longs(stack.count);
  }

private:
  std::int64_t element_bytes_;
};

// The rules of operations, in the order of the allocations in linalg/gpu/decompose.hpp.

TWILL_CONSTEXPR std::int64_t cholesky_bytes(const graph::SizedCall& call) {
  const CallBytes bytes{call};
  const Stack stack = matrices_of(call.shapes[0]);
  const std::int64_t infos = call.has(2) ? 0 : CallBytes::ints(stack.count);
  if (stack.count * stack.rows == 0) return infos;
  return infos + (is_batched(stack, most_batched_rows(stack.count))
                      ? CallBytes::longs(stack.count)
                      : bytes.elements(planned_elements(stack.rows, stack.rows)));
}

TWILL_CONSTEXPR std::int64_t lu_bytes(const graph::SizedCall& call) {
  const CallBytes bytes{call};
  const Stack stack = matrices_of(call.shapes[0]);
  if (stack.count * stack.rows == 0) return 0;
  return CallBytes::ints(stack.count * stack.rows) + bytes.elements(stack.count * stack.rows * stack.rows) +
         bytes.factorise(stack);
}

TWILL_CONSTEXPR std::int64_t lu_solve_bytes(const graph::SizedCall& call) {
  const Stack stack = matrices_of(call.shapes[2]);
  const std::int64_t infos = call.has(4) ? 0 : CallBytes::ints(stack.count);
  return infos + (stack.count * stack.rows * stack.columns == 0 ? 0 : CallBytes::solve(stack));
}

TWILL_CONSTEXPR std::int64_t triangular_bytes(const graph::SizedCall& call) {
  const Stack stack = matrices_of(call.shapes[1]);
  return stack.count * stack.rows * stack.columns == 0 ? 0 : CallBytes::solve(stack);
}

TWILL_CONSTEXPR std::int64_t qr_bytes(const graph::SizedCall& call) {
  const CallBytes bytes{call};
  const Stack stack = matrices_of(call.shapes[0]);
  const std::int64_t k = call.shapes[1][call.shapes[1].rank - 1];
  if (stack.count * k == 0) return 0;
  return bytes.elements(stack.count * stack.rows * stack.columns) + bytes.elements(stack.count * k) +
         CallBytes::ints(1) + bytes.elements(planned_elements(stack.rows, stack.columns));
}

TWILL_CONSTEXPR std::int64_t eigh_bytes(const graph::SizedCall& call) {
  const CallBytes bytes{call};
  const Stack stack = matrices_of(call.shapes[0]);
  if (stack.count * stack.rows == 0) return 0;
  const std::int64_t at_once = is_batched(stack, most_jacobi_rows) ? stack.count : 1;
  return bytes.elements(stack.count * stack.rows * stack.rows) + CallBytes::ints(stack.count) +
         bytes.elements(planned_elements(stack.rows, stack.rows, at_once));
}

TWILL_CONSTEXPR std::int64_t svd_bytes(const graph::SizedCall& call) {
  const CallBytes bytes{call};
  const Stack stack = matrices_of(call.shapes[0]);
  const std::int64_t k = call.shapes[1][call.shapes[1].rank - 1];
  if (stack.count * k == 0) return 0;
  const bool in_one_call = is_batched_svd(stack);
  const std::int64_t left_columns = in_one_call ? stack.columns : k;
  const std::int64_t right_columns = in_one_call ? stack.rows : k;
  return bytes.elements(stack.count * stack.rows * stack.columns) + CallBytes::ints(stack.count) +
         bytes.elements(stack.count * stack.columns * left_columns) +
         bytes.elements(stack.count * stack.rows * right_columns) +
         bytes.elements(planned_elements(stack.rows, stack.columns, in_one_call ? stack.count : 1));
}

/// Six matrices and the number of halvings stay; column sums and factors come before the quotient's.
TWILL_CONSTEXPR std::int64_t matrix_exp_bytes(const graph::SizedCall& call) {
  const CallBytes bytes{call};
  const Stack stack = matrices_of(call.shapes[0]);
  const std::int64_t rows = stack.count * stack.rows;
  if (rows == 0) return 0;
  const std::int64_t scale = CallBytes::longs(rows) + bytes.elements(stack.count);
  const std::int64_t factorise = bytes.factorise(stack);
  const std::int64_t solve = CallBytes::solve(stack);
  const std::int64_t divide = CallBytes::ints(rows) + CallBytes::longs(rows) + (factorise > solve ? factorise : solve);
  return bytes.elements(6 * rows * stack.rows) + CallBytes::ints(stack.count) + (scale > divide ? scale : divide);
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA
