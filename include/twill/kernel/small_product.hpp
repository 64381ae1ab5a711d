#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Small matrix products, where a BLAS library's checks and packing cost more than the computation: up to four rows by a
// pack of columns stay in registers while the inner dimension runs. Where B is transposed the inner dimension itself is
// the pack, or B is first transposed in a small buffer. Read next: kernel/product.hpp, which chooses.

#include <twill/core/config.hpp>
#include <twill/kernel/apply_pack.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>
#include <twill/kernel/small_launch.hpp>

#include <algorithm>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

namespace vector_detail {

/// The left factor: element (i, p) is `data[i * row + p * column]`.
template <class T> struct Left {
  const T* data;
  std::int64_t row;
  std::int64_t column;
};

template <class T, int W> TWILL_INLINE void blend_into(T* c, const Pack<T, W>& sum, T alpha, T beta) {
  Pack<T, W> value = Pack<T, W>{alpha} * sum;
  if (beta != T{0}) value = kernel::fma(Pack<T, W>{beta}, load<T, W>(c), value);
  store(c, value);
}

/// Loads W elements at a fixed distance from each other.
template <class T, int W> TWILL_INLINE Pack<T, W> load_apart(const T* from, std::int64_t stride) {
  Pack<T, W> result;
  for (int i = 0; i < W; ++i) result.v[i] = from[i * stride];
  return result;
}

/// The right factor: element (p, j) is `data[p * row + j]`, or `data[p + j * row]` where it is transposed.
template <class T, bool IsTurned> struct Right {
  const T* data;
  std::int64_t row;

  [[nodiscard]] TWILL_INLINE Right column(std::int64_t j) const { return {data + (IsTurned ? j * row : j), row}; }
  TWILL_INLINE void next() { data += IsTurned ? 1 : row; }
  template <int W> [[nodiscard]] TWILL_INLINE Pack<T, W> pack(int q) const {
    if constexpr (IsTurned)
      return load_apart<T, W>(data + q * W * row, row);
    else
      return load<T, W>(data + q * W);
  }
};

/// R rows and C packs of W columns of C = alpha * A * B + beta * C.
template <int R, int W, int C, class T, bool IsTurned>
TWILL_INLINE void tile(std::int64_t k, T alpha, const Left<T>& a, Right<T, IsTurned> b, T beta, T* c,
                       std::int64_t ldc) {
  Pack<T, W> sum[R][C];
  for (int r = 0; r < R; ++r)
    for (int q = 0; q < C; ++q) sum[r][q] = Pack<T, W>{T{0}};
  const T* left = a.data;
  for (std::int64_t p = 0; p < k; ++p, left += a.column, b.next()) {
    Pack<T, W> right[C];
    for (int q = 0; q < C; ++q) right[q] = b.template pack<W>(q);
    for (int r = 0; r < R; ++r)
      for (int q = 0; q < C; ++q) sum[r][q] = kernel::fma(Pack<T, W>{left[r * a.row]}, right[q], sum[r][q]);
  }
  for (int r = 0; r < R; ++r)
    for (int q = 0; q < C; ++q) blend_into(c + r * ldc + q * W, sum[r][q], alpha, beta);
}

/// R rows of a single column, in scalars.
template <int R, class T, bool IsTurned>
TWILL_INLINE void column_tile(std::int64_t k, T alpha, const Left<T>& a, Right<T, IsTurned> b, T beta, T* c,
                              std::int64_t ldc) {
  T sum[R]{};
  const T* left = a.data;
  for (std::int64_t p = 0; p < k; ++p, left += a.column, b.next())
    for (int r = 0; r < R; ++r) sum[r] = kernel::apply<Primitive::fma>(left[r * a.row], *b.data, sum[r]);
  for (int r = 0; r < R; ++r) {
    const T value = alpha * sum[r];
    c[r * ldc] = beta == T{0} ? value : kernel::apply<Primitive::fma>(beta, c[r * ldc], value);
  }
}

/// R rows of all columns: several packs at once, pairs, whole packs, then narrower and narrower ones.
template <int R, int W, class T, bool IsTurned>
TWILL_INLINE void row_panel(std::int64_t j, std::int64_t n, std::int64_t k, T alpha, const Left<T>& a,
                            const Right<T, IsTurned>& b, T beta, T* c, std::int64_t ldc) {
  if constexpr (W == 1) {
    for (; j < n; ++j) column_tile<R>(k, alpha, a, b.column(j), beta, c + j, ldc);
  } else {
    if constexpr (W * static_cast<int>(sizeof(T)) == vector_bytes && !IsTurned) {
      constexpr int many = R == 1 ? 8 : 4; // enough sums to hide how long an addition takes
      for (; j + many * W <= n; j += many * W) tile<R, W, many>(k, alpha, a, b.column(j), beta, c + j, ldc);
      for (; j + 2 * W <= n; j += 2 * W) tile<R, W, 2>(k, alpha, a, b.column(j), beta, c + j, ldc);
    }
    for (; j + W <= n; j += W) tile<R, W, 1>(k, alpha, a, b.column(j), beta, c + j, ldc);
    if (j < n) row_panel<R, W / 2>(j, n, k, alpha, a, b, beta, c, ldc);
  }
}

template <class T, bool IsTurned>
[[gnu::noinline]] void product_of_rows(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const Left<T>& left,
                                       const Right<T, IsTurned>& right, T beta, T* c, std::int64_t ldc) {
  Left<T> a = left; // copies stay in registers
  const Right<T, IsTurned> b = right;
  constexpr int width = vector_bytes / static_cast<int>(sizeof(T)) / (IsTurned ? 2 : 1);
  std::int64_t i = 0;
  for (; i + 4 <= m; i += 4, a.data += 4 * a.row) row_panel<4, width>(0, n, k, alpha, a, b, beta, c + i * ldc, ldc);
  for (; i < m; ++i, a.data += a.row) row_panel<1, width>(0, n, k, alpha, a, b, beta, c + i * ldc, ldc);
}

/// C = alpha * A * B^T + beta * C with rows of A and B along the inner dimension: four columns of C at once.
template <int Columns, class T>
TWILL_INLINE void dots(std::int64_t k, T alpha, const T* a, const T* b, std::int64_t ldb, T beta, T* c) {
  constexpr int width = vector_bytes / static_cast<int>(sizeof(T));
  Pack<T, width> sum[Columns];
  for (int q = 0; q < Columns; ++q) sum[q] = Pack<T, width>{T{0}};
  std::int64_t p = 0;
  for (; p + width <= k; p += width) {
    const auto left = load<T, width>(a + p);
    for (int q = 0; q < Columns; ++q) sum[q] = kernel::fma(left, load<T, width>(b + q * ldb + p), sum[q]);
  }
  for (int q = 0; q < Columns; ++q) {
    T total = combine_lanes<Reduction::sum>(sum[q]);
    for (std::int64_t rest = p; rest < k; ++rest) total += a[rest] * b[q * ldb + rest];
    c[q] = beta == T{0} ? alpha * total : alpha * total + beta * c[q];
  }
}

template <class T>
void product_of_dots(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* b,
                     std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  for (std::int64_t i = 0; i < m; ++i) {
    std::int64_t j = 0;
    for (; j + 4 <= n; j += 4) dots<4>(k, alpha, a + i * lda, b + j * ldb, ldb, beta, c + i * ldc + j);
    for (; j < n; ++j) dots<1>(k, alpha, a + i * lda, b + j * ldb, ldb, beta, c + i * ldc + j);
  }
}

inline constexpr std::int64_t turned_elements = 2048; ///< of B, in a buffer on the stack

/// C = alpha * A * B^T + beta * C through a buffer in which B is transposed, some columns at a time.
template <class T>
[[gnu::noinline]] void turned_product(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const Left<T>& left,
                                      const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  T turned[turned_elements];
  const std::int64_t columns = std::max<std::int64_t>(1, turned_elements / std::max<std::int64_t>(k, 1));
  if (k > turned_elements) { // one column at a time would not fit either: plain sums
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        T sum{0};
        for (std::int64_t p = 0; p < k; ++p) sum += left.data[i * left.row + p * left.column] * b[j * ldb + p];
        c[i * ldc + j] = beta == T{0} ? alpha * sum : alpha * sum + beta * c[i * ldc + j];
      }
    return;
  }
  for (std::int64_t start = 0; start < n; start += columns) {
    const std::int64_t count = std::min(columns, n - start);
    for (std::int64_t j = 0; j < count; ++j)
      for (std::int64_t p = 0; p < k; ++p) turned[p * count + j] = b[(start + j) * ldb + p];
    product_of_rows(m, count, k, alpha, left, Right<T, false>{turned, count}, beta, c + start, ldc);
  }
}

/// C = beta * C: the product where the factors have no elements.
template <class T>
[[gnu::noinline]] void empty_product(std::int64_t m, std::int64_t n, T beta, T* c, std::int64_t ldc) {
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) c[i * ldc + j] = beta == T{0} ? T{0} : beta * c[i * ldc + j];
}

} // namespace vector_detail

/// C = alpha * op(A) * op(B) + beta * C in the calling thread, where op transposes or not; op(A) is m x k, op(B) is k x
/// n, `ld` is the distance between stored rows. C is not read when beta is 0.
template <class T>
void small_product(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
                   const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  if (m == 0 || n == 0 || k == 0) [[unlikely]]
    return vector_detail::empty_product(m, n, beta, c, ldc);
  const vector_detail::Left<T> left{a, transpose_a ? 1 : lda, transpose_a ? lda : 1};
  if (!transpose_b) {
    vector_detail::product_of_rows(m, n, k, alpha, left, vector_detail::Right<T, false>{b, ldb}, beta, c, ldc);
  } else if (!transpose_a && k >= vector_bytes / static_cast<int>(sizeof(T))) {
    vector_detail::product_of_dots(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  } else if (m <= 4) { // each element of B is used by these rows alone
    vector_detail::product_of_rows(m, n, k, alpha, left, vector_detail::Right<T, true>{b, ldb}, beta, c, ldc);
  } else {
    vector_detail::turned_product(m, n, k, alpha, left, b, ldb, beta, c, ldc);
  }
}

namespace vector_detail {

/// A factor of a resolved product.
template <class T> [[nodiscard]] TWILL_INLINE const T* factor(const SmallLaunch& own, const Operand* operands, int n) {
  return static_cast<const T*>(operands[own.source[static_cast<std::size_t>(n)]].data);
}
template <class T> [[nodiscard]] TWILL_INLINE Left<T> left_factor(const SmallLaunch& own, const Operand* operands) {
  return {factor<T>(own, operands, 0), own.stride[0], own.stride[1]};
}

/// A resolved product of W columns: nothing but its tiles.
template <class T, bool IsTurned, int W> void run_columns_of(const SmallLaunch& own, const Operand* operands) {
  Left<T> a = left_factor<T>(own, operands);
  const Right<T, IsTurned> b{factor<T>(own, operands, 1), own.stride[2]};
  T* c = static_cast<T*>(operands[2].data);
  std::int64_t rows = own.rows;
  for (; rows >= 4; rows -= 4, a.data += 4 * a.row, c += 4 * W) tile<4, W, 1>(own.inner, T{1}, a, b, T{0}, c, W);
  for (; rows > 0; --rows, a.data += a.row, c += W) tile<1, W, 1>(own.inner, T{1}, a, b, T{0}, c, W);
}

/// A resolved product of any number of columns.
template <class T, bool IsTurned> void run_any_columns(const SmallLaunch& own, const Operand* operands) {
  product_of_rows<T, IsTurned>(own.rows, own.columns, own.inner, T{1}, left_factor<T>(own, operands),
                               {factor<T>(own, operands, 1), own.stride[2]}, T{0}, static_cast<T*>(operands[2].data),
                               own.columns);
}
template <class T, bool IsTurned, int W> [[nodiscard]] constexpr SmallLaunch::Run columns_of(std::int64_t n) {
  if (n == W) return &run_columns_of<T, IsTurned, W>;
  if constexpr (W > 2) return columns_of<T, IsTurned, W / 2>(n);
  return &run_any_columns<T, IsTurned>;
}

/// A resolved product of rows by rows.
template <class T> void run_dots(const SmallLaunch& own, const Operand* operands) {
  product_of_dots<T>(own.rows, own.columns, own.inner, T{1}, factor<T>(own, operands, 0), own.stride[0],
                     factor<T>(own, operands, 1), own.stride[2], T{0}, static_cast<T*>(operands[2].data), own.columns);
}

} // namespace vector_detail

/// `small_product` with these layouts, alpha 1, beta 0 and a dense result, resolved for factors at any addresses: the
/// left one is operand `left`, the right one the other of 0 and 1, the result 2.
template <class T>
[[nodiscard]] SmallLaunch resolved_product(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n,
                                           std::int64_t k, std::int64_t lda, std::int64_t ldb, int left) {
  using namespace vector_detail;
  SmallLaunch own{};
  own.rows = m;
  own.columns = n;
  own.inner = k;
  own.stride[0] = transpose_a ? 1 : lda;
  own.stride[1] = transpose_a ? lda : 1;
  own.stride[2] = ldb;
  own.source[0] = left;
  own.source[1] = 1 - left;
  constexpr int width = vector_bytes / static_cast<int>(sizeof(T));
  if (!transpose_b)
    own.run = columns_of<T, false, width>(n);
  else if (!transpose_a && k >= width)
    own.run = &run_dots<T>;
  else if (m <= 4)
    own.run = columns_of<T, true, width / 2>(n);
  return own;
}

}}}} // namespace twill::v0::kernel::TWILL_ISA

#if !TWILL_HEADER_ONLY
namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {
TWILL_INSTANCE template void small_product(bool, bool, std::int64_t, std::int64_t, std::int64_t, float, const float*,
                                           std::int64_t, const float*, std::int64_t, float, float*, std::int64_t);
TWILL_INSTANCE template void small_product(bool, bool, std::int64_t, std::int64_t, std::int64_t, double, const double*,
                                           std::int64_t, const double*, std::int64_t, double, double*, std::int64_t);
}}}} // namespace twill::v0::kernel::TWILL_ISA
#endif
