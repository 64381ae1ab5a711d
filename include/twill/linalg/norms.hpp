#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Norms of matrices and condition numbers, by the orders of NumPy and PyTorch.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/lu.hpp>
#include <twill/linalg/matrix_values.hpp>
#include <twill/linalg/svd.hpp>

#include <cstdint>
#include <limits>

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// The norms of a matrix.
enum class MatrixNorm : std::uint8_t {
  frobenius,       ///< the root of the sum of squares
  nuclear,         ///< the sum of singular values
  spectral,        ///< the largest singular value, NumPy's 2
  smallest,        ///< the smallest singular value, NumPy's -2
  largest_column,  ///< the largest sum of absolute values of a column, NumPy's 1
  smallest_column, ///< NumPy's -1
  largest_row,     ///< the largest sum of absolute values of a row, NumPy's inf
  smallest_row,    ///< NumPy's -inf
};

}}}} // namespace twill::v0::linalg::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

[[nodiscard]] constexpr Value size_squared(Value a) { return a * a; }
[[nodiscard]] constexpr Value size_squared(const ComplexValue& a) { return a.re * a.re + a.im * a.im; }

template <MatrixNorm Which, Proportion P, MatrixValue V> [[nodiscard]] constexpr Value norm_of(V a, CallSite site) {
  a = checked_matrix(a, site);
  if (a.graph().fault.any()) return real_part(a);
  using enum MatrixNorm;
  if constexpr (Which == frobenius)
    return sqrt(sum(size_squared(a), {-2, -1}));
  else if constexpr (Which == nuclear)
    return sum(svd_of<FullMatrices::no, P>(a, site).S, {-1});
  else if constexpr (Which == spectral)
    return max(svd_of<FullMatrices::no, P>(a, site).S, {-1});
  else if constexpr (Which == smallest)
    return min(svd_of<FullMatrices::no, P>(a, site).S, {-1});
  else if constexpr (Which == largest_column)
    return max(sum(abs(a), {-2}), {-1});
  else if constexpr (Which == smallest_column)
    return min(sum(abs(a), {-2}), {-1});
  else if constexpr (Which == largest_row)
    return max(sum(abs(a), {-1}), {-1});
  else
    return min(sum(abs(a), {-1}), {-1});
}

template <MatrixNorm Which, Proportion P, MatrixValue V>
[[nodiscard]] constexpr Value condition_of(const V& a, CallSite site) {
  using enum MatrixNorm;
  if constexpr (Which == spectral || Which == smallest) {
    const Value s = svd_of<FullMatrices::no, P>(a, site).S;
    const Value largest = max(s, {-1});
    const Value least = min(s, {-1});
    return Which == spectral ? largest / least : least / largest;
  } else {
    const auto inverse = inverted(a, OnFailure::reports, site);
    if (a.graph().fault.any()) return real_part(a);
    const Value number = norm_of<Which, P>(a, site) * norm_of<Which, P>(inverse.result, site);
    return where(inverse.info == 0, number, std::numeric_limits<double>::infinity());
  }
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// Norms of (..., m, n): NumPy's and PyTorch's `matrix_norm`, by name. In models whose extents are not known, norms by
/// singular values want to know which is the smaller.
template <MatrixNorm Which = MatrixNorm::frobenius, Proportion P = Proportion::known>
[[nodiscard]] constexpr Value matrix_norm(Value a, CallSite site = CallSite::here()) {
  return detail::norm_of<Which, P>(a, site);
}

/// How much a solution may amplify an error: the largest singular value over the smallest, or another norm of square
/// matrices times that of their inverses. Infinite for singular matrices.
template <MatrixNorm Which = MatrixNorm::spectral, Proportion P = Proportion::known>
[[nodiscard]] constexpr Value cond(Value a, CallSite site = CallSite::here()) {
  return detail::condition_of<Which, P>(a, site);
}

}}}} // namespace twill::v0::linalg::TWILL_ISA
