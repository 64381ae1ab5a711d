#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stacks of matrix products over strided memory, each with a program that follows it (bias, activation). The program
// runs in place on the rows just computed, in the same thread and while its cache holds them. The team shares out whole
// products when there are enough of them, otherwise the rows of each. Read next: kernel/product.hpp.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/device/cpu/gemm.hpp>
#include <twill/kernel/any_team.hpp>
#include <twill/kernel/product.hpp>
#include <twill/kernel/program.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace twill { inline namespace v0 { namespace kernel {

using BatchStrides = std::array<std::int64_t, max_rank>;

/// Matrices of equal size; element (i, j) of the first is `data[i * row_stride + j * column_stride]`.
template <class T> struct MatrixStack {
  const T* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
  BatchStrides batch{};
};

/// C = A B for every index of the batch; A is m x k, B is k x n, rows of C are contiguous and `c_row_stride` apart.
template <class T> struct ProductStack {
  Dims batch{};
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  MatrixStack<T> a{};
  MatrixStack<T> b{};
  T* c = nullptr;
  std::int64_t c_row_stride = 0;
  BatchStrides c_batch{};
};

/// An operand of the program that follows a product.
struct FollowingOperand {
  Operand panel{};             ///< along the grid of one panel: rows and columns, or both as one dimension
  std::int64_t row_stride = 0; ///< from one row of the product to the next
  BatchStrides batch{};
  std::int64_t element_bytes = 0; ///< 0 for numbers
  DType dtype = DType::boolean;
  bool is_output = false;
};

/// The program that follows; none when `run` is null.
struct Following {
  void (*run)(const AnyTeam& team, const Grid& grid, const Operand* operands) = nullptr;
  const FollowingOperand* operands = nullptr;
  int count = 0;
  bool is_one_dimension = false; ///< a panel is rows * columns elements, one after the other
};

inline constexpr int max_following_operands = 24;

inline namespace TWILL_ISA {

/// Memory order of a matrix: row-major or, transposed, column-major, with the distance between rows or columns.
struct MatrixLayout {
  bool is_dense = false;
  bool is_transposed = false;
  std::int64_t leading = 0;
};

template <class T>
[[nodiscard]] MatrixLayout layout_of(const MatrixStack<T>& matrix, std::int64_t rows, std::int64_t columns) {
  const auto leading = [](std::int64_t major, std::int64_t extent, std::int64_t minor_extent) {
    return std::max<std::int64_t>(extent == 1 ? 0 : major, std::max<std::int64_t>(minor_extent, 1));
  };
  const bool is_column = columns == 1 && rows > 1; // a row of its own rather than many rows of one element
  if (!(is_column && matrix.row_stride == 1) && (matrix.column_stride == 1 || columns == 1) &&
      (matrix.row_stride >= columns || rows == 1))
    return {true, false, leading(matrix.row_stride, rows, columns)};
  if ((matrix.row_stride == 1 || rows == 1) && (matrix.column_stride >= rows || columns == 1))
    return {true, true, leading(matrix.column_stride, columns, rows)};
  return {};
}

/// A row-major copy of a matrix of another order.
template <class T>
[[nodiscard]] std::vector<T> packed(const MatrixStack<T>& matrix, std::int64_t rows, std::int64_t columns) {
  std::vector<T> copy(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      copy[static_cast<std::size_t>(i * columns + j)] = matrix.data[i * matrix.row_stride + j * matrix.column_stride];
  return copy;
}

/// One product of a stack: rows [first, first + rows) of C.
template <class T>
void product_of_stack(const AnyTeam& team, const ProductStack<T>& stack, const T* a, const T* b, T* c,
                      std::int64_t first, std::int64_t rows) {
  MatrixStack<T> left{a + first * stack.a.row_stride, stack.a.row_stride, stack.a.column_stride, {}};
  MatrixStack<T> right{b, stack.b.row_stride, stack.b.column_stride, {}};
  MatrixLayout left_layout = layout_of(left, rows, stack.k);
  MatrixLayout right_layout = layout_of(right, stack.k, stack.n);
  std::vector<T> left_copy;
  std::vector<T> right_copy;
  if (!left_layout.is_dense) {
    left_copy = packed(left, rows, stack.k);
    left.data = left_copy.data();
    left_layout = {true, false, std::max<std::int64_t>(stack.k, 1)};
  }
  if (!right_layout.is_dense) {
    right_copy = packed(right, stack.k, stack.n);
    right.data = right_copy.data();
    right_layout = {true, false, std::max<std::int64_t>(stack.n, 1)};
  }
  T* const to = c + first * stack.c_row_stride;
  using C = compute_t<T>;
  kernel::product<T>(team, left_layout.is_transposed, right_layout.is_transposed, rows, stack.n, stack.k, C{1},
                     left.data, left_layout.leading, right.data, right_layout.leading, C{0}, to,
                     std::max(stack.c_row_stride, std::max<std::int64_t>(stack.n, 1)));
}

/// Runs the following program on rows [first, first + rows) of one product.
void follow(const AnyTeam& team, const Following& following, std::int64_t columns, std::int64_t first,
            std::int64_t rows, const BatchStrides& index, int batch_rank);

/// How many rows are computed before the program that follows runs on them: as many as half of the second-level cache
/// holds (4096 x 128 by 128 x 512 with bias and relu then takes 0.84 of three statements' time, 0.86 with all rows at
/// once), and all of them when the product is so deep that the time of the program does not count.
[[nodiscard]] constexpr std::int64_t panel_rows(std::int64_t rows, std::int64_t columns, std::int64_t depth,
                                                std::int64_t element_bytes) {
  constexpr std::int64_t cache_bytes = 512 * 1024;
  constexpr std::int64_t deep = 192;
  if (depth > deep || rows * columns * element_bytes <= cache_bytes) return rows;
  return std::max<std::int64_t>(64, cache_bytes / (columns * element_bytes) / 16 * 16);
}

/// Computes all products, and runs the program that follows each.
template <class T> void run_products(const AnyTeam& team, const ProductStack<T>& stack, const Following& following) {
  const std::int64_t count = stack.batch.elements();
  if (count == 0 || stack.m == 0 || stack.n == 0) return;
  const std::int64_t multiply_adds = count * stack.m * stack.n * std::max<std::int64_t>(stack.k, 1);
  const int threads = multiply_adds < cpu::multiply_adds_worth_sharing ? 1 : team.size();

  const auto one = [&](const AnyTeam& inner, std::int64_t number) {
    BatchStrides index{};
    std::int64_t offsets[3] = {0, 0, 0};
    for (int axis = stack.batch.rank - 1; axis >= 0; --axis) {
      const auto at = static_cast<std::size_t>(axis);
      index[at] = number % stack.batch[axis];
      number /= stack.batch[axis];
      offsets[0] += index[at] * stack.a.batch[at];
      offsets[1] += index[at] * stack.b.batch[at];
      offsets[2] += index[at] * stack.c_batch[at];
    }
    const T* const a = stack.a.data + offsets[0];
    const T* const b = stack.b.data + offsets[1];
    T* const c = stack.c + offsets[2];
    if (following.run == nullptr) {
      product_of_stack(inner, stack, a, b, c, 0, stack.m);
      return;
    }
    const auto by_panels = [&](std::int64_t first, std::int64_t last) {
      const std::int64_t rows = panel_rows(last - first, stack.n, stack.k, static_cast<std::int64_t>(sizeof(T)));
      for (; first < last; first += rows) {
        const std::int64_t some = std::min(rows, last - first);
        product_of_stack(AnyTeam{}, stack, a, b, c, first, some);
        follow(AnyTeam{}, following, stack.n, first, some, index, stack.batch.rank);
      }
    };
    constexpr std::int64_t granule = 16;
    if (inner.size() == 1) {
      by_panels(0, stack.m);
    } else if (stack.m >= 2 * granule * inner.size()) {
      inner.parallel([&](int rank, int size) {
        const std::int64_t granules = (stack.m + granule - 1) / granule;
        by_panels(granules * rank / size * granule, std::min(stack.m, granules * (rank + 1) / size * granule));
      });
    } else {
      product_of_stack(inner, stack, a, b, c, 0, stack.m);
      follow(inner, following, stack.n, 0, stack.m, index, stack.batch.rank);
    }
  };

  if (threads > 1 && count >= 2 * threads) {
    team.parallel([&](int rank, int size) {
      for (std::int64_t i = count * rank / size; i < count * (rank + 1) / size; ++i) one(AnyTeam{}, i);
    });
  } else {
    for (std::int64_t i = 0; i < count; ++i) one(threads > 1 ? team : AnyTeam{}, i);
  }
}

} // namespace TWILL_ISA
}}} // namespace twill::v0::kernel

#if TWILL_HEADER_ONLY
#include <twill/kernel/product_stack.ipp>
#endif
