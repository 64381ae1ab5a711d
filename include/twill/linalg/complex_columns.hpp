#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Columns of complex tensors: those that complete an orthonormal basis, powers as Vandermonde's, and cross products of
// vectors. Read next: linalg/complex_tensors.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/join.hpp>
#include <twill/linalg/complex_matrices.hpp>
#include <twill/linalg/matrix_functions.hpp>
#include <twill/linalg/qr.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/tensor.hpp>
#include <twill/tensor/views.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

/// Some columns of matrices, of which the type may know how many.
template <std::int64_t Length, class X>
[[nodiscard]] auto columns_from(const X& x, std::int64_t first, std::int64_t length) {
  if constexpr (Length == dyn)
    return narrow<-1>(x, first, length);
  else
    return narrow<-1, Length>(x, first);
}

/// The difference of two extents of a type.
[[nodiscard]] constexpr std::int64_t added_extent(std::int64_t whole, std::int64_t part) {
  return whole == dyn || part == dyn ? dyn : whole - part;
}

/// Orthonormal columns (..., m, k), and m - k more behind them: the reflections that make [Q 0] triangular.
template <class T, class D, class S> [[nodiscard]] auto completed(const Tensor<T, D, S>& q) {
  constexpr Dims type = dims_of<S>;
  constexpr std::int64_t added = added_extent(row_count(type), column_count(type));
  const Dims shape = q.shape();
  const std::int64_t m = row_count(shape), k = column_count(shape);
  const auto padded = concatenate<-1>(
      q, zeros<T, shape_t<matrix_extents(type, row_count(type), added)>>(matrix_extents(shape, m, m - k), q.device()));
  const std::remove_cvref_t<decltype(padded)> whole(q.device(), padded.shape());
  run_matrices<&qr_operation, T>(q.device(), {padded, whole, MatrixPart{}});
  return concatenate<-1>(q, columns_from<added>(whole, k, m - k));
}

/// R (..., k, n) of a complete decomposition (..., m, n): with rows of zeros.
template <std::int64_t M, class T, class D, class S>
[[nodiscard]] auto with_zero_rows(const Tensor<T, D, S>& r, std::int64_t m) {
  constexpr Dims type = dims_of<S>;
  using Rest = shape_t<matrix_extents(type, added_extent(M, row_count(type)), column_count(type))>;
  const Dims shape = r.shape();
  return concatenate<-2>(r,
                         zeros<T, Rest>(matrix_extents(shape, m - row_count(shape), column_count(shape)), r.device()));
}

/// Vectors of three of element type T. throws: ShapeError
template <class T, class A> [[nodiscard]] auto vectors_of_three(const A& a) {
  auto source = as_tensor(a);
  constexpr int rank = std::remove_cvref_t<decltype(source)>::rank;
  static_assert(rank >= 1, "twill: cross: vectors have three elements along the last axis");
  if (source.shape()[rank - 1] != 3)
    throw ShapeError("cross: vectors have three elements along the last axis; got " +
                     std::to_string(source.shape()[rank - 1]));
  return source.template to<T>();
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// Powers of complex elements as rows: (..., n) gives (..., n, N).
template <int N, VanderOrder Order = VanderOrder::decreasing, ComplexOperand X> [[nodiscard]] auto vander(const X& x) {
  static_assert(N >= 1, "twill: vander: at least one power");
  using T = detail::element_of<X>;
  const auto numbers = detail::as_tensor(x).contiguous();
  using Numbers = std::remove_cvref_t<decltype(numbers)>;
  constexpr int rank = Numbers::rank;
  constexpr auto extents = [](Dims shape) {
    shape[shape.rank++] = N;
    return shape;
  };
  const Tensor<T, typename Numbers::device_type, shape_t<extents(dims_of<typename Numbers::shape_type>)>> result(
      numbers.device(), extents(numbers.shape()));
  auto power = ones_like(numbers);
  for (int k = 0; k < N; ++k) {
    if (k > 0) power = power * numbers;
    narrow<-1, 1>(result, Order == VanderOrder::increasing ? k : N - 1 - k) = power.template unsqueeze<rank>();
  }
  return result;
}

/// Cross products of vectors of three, of which one or both are complex, without conjugation; the other axes broadcast.
/// throws: ShapeError
template <class A, class B>
requires ComplexOperands<A, B>
[[nodiscard]] auto cross(const A& a, const B& b) {
  using T = detail::common_element<A, B>;
  const auto x = detail::vectors_of_three<T>(a);
  const auto y = detail::vectors_of_three<T>(b);
  const auto part = [](const auto& vectors, int i) { return narrow<-1, 1>(vectors, i % 3); };
  const auto element = [&](int i) { return eval(part(x, i + 1) * part(y, i + 2) - part(x, i + 2) * part(y, i + 1)); };
  return concatenate<-1>(element(0), element(1), element(2));
}

}}}} // namespace twill::v0::linalg::TWILL_ISA
