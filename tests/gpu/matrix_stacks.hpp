#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stacks of matrices on the host in float64, real or complex, and plain loops over them: what the suites of linear
// algebra compare the device's numbers with.

#include <tests/support/suite.hpp>

#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/linalg.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>
#include <twill/tensor/tensor.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <vector>

namespace twill::test { namespace matrix_stacks {

using D = TestedDevice;
using Cube = Shape<dyn, dyn, dyn>;
using Number = std::complex<double>;

/// An element in float64, of complex ones both parts.
template <class T> [[nodiscard]] auto number_of(const T& element) {
  if constexpr (ComplexScalar<T>)
    return Number(double{element.re}, double{element.im});
  else
    return static_cast<double>(element);
}
template <class T> using NumberOf = decltype(number_of(T{}));

[[nodiscard]] inline double conjugate(double x) { return x; }
[[nodiscard]] inline Number conjugate(const Number& z) { return std::conj(z); }

/// A stack of matrices of N.
template <class N> struct StackOf {
  std::int64_t count = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<N> numbers{};

  StackOf(std::int64_t count_, std::int64_t rows_, std::int64_t columns_)
      : count{count_}, rows{rows_}, columns{columns_}, numbers(static_cast<std::size_t>(count_ * rows_ * columns_)) {}

  N& at(std::int64_t matrix, std::int64_t i, std::int64_t j) { return numbers[place(matrix, i, j)]; }
  const N& at(std::int64_t matrix, std::int64_t i, std::int64_t j) const { return numbers[place(matrix, i, j)]; }

private:
  [[nodiscard]] std::size_t place(std::int64_t matrix, std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>((matrix * rows + i) * columns + j);
  }
};

/// The stack whose element (i, j) of a matrix is f(matrix, i, j).
template <class F> auto stack_of(std::int64_t count, std::int64_t rows, std::int64_t columns, const F& f) {
  StackOf<decltype(f(count, rows, columns))> result(count, rows, columns);
  for (std::int64_t matrix = 0; matrix < count; ++matrix)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) result.at(matrix, i, j) = f(matrix, i, j);
  return result;
}

/// The values of a tensor of three axes, or of two, whose last one are columns then.
template <class X> auto read(const X& x) {
  const Dims shape = x.shape();
  StackOf<NumberOf<typename X::value_type>> result(shape[0], shape[1], shape.rank > 2 ? shape[2] : 1);
  std::size_t next = 0;
  for (const auto& value : to_vector(x)) result.numbers[next++] = number_of(value);
  return result;
}

template <class T, class N> Tensor<T, D, Cube> on_device(const StackOf<N>& x) {
  return from_values<Cube>(std::vector<T>(x.numbers.begin(), x.numbers.end()), Dims(x.count, x.rows, x.columns), D{0});
}

/// Transposed, and conjugate.
template <class N> StackOf<N> turned(const StackOf<N>& x) {
  return stack_of(x.count, x.columns, x.rows,
                  [&](auto matrix, auto i, auto j) { return conjugate(x.at(matrix, j, i)); });
}
template <class A, class B> auto product(const StackOf<A>& a, const StackOf<B>& b) {
  return stack_of(a.count, a.rows, b.columns, [&](auto matrix, auto i, auto j) {
    decltype(A{} * B{}) sum = 0;
    for (std::int64_t k = 0; k < a.columns; ++k) sum += a.at(matrix, i, k) * b.at(matrix, k, j);
    return sum;
  });
}
template <class N> StackOf<N> scaled_identity(std::int64_t count, std::int64_t n, N by) {
  return stack_of(count, n, n, [&](auto, auto i, auto j) { return i == j ? by : N{0}; });
}
inline StackOf<double> identity(std::int64_t count, std::int64_t n) { return scaled_identity(count, n, 1.0); }
/// Matrices with these diagonals.
inline StackOf<double> diagonal(const StackOf<double>& values) {
  return stack_of(values.count, values.rows, values.rows,
                  [&](auto matrix, auto i, auto j) { return i == j ? values.at(matrix, i, 0) : 0.0; });
}

/// Normal numbers, rounded as T has them.
template <class T> auto some(std::int64_t count, std::int64_t rows, std::int64_t columns) {
  using R = real_t<T>;
  constexpr std::int64_t parts = ComplexScalar<T> ? 2 : 1;
  manual_seed(Cpu{0}, 7);
  const StackOf<double> drawn = read(randn<R, Cube>(Dims(count, rows, parts * columns), Cpu{0}));
  return stack_of(count, rows, columns, [&](auto matrix, auto i, auto j) {
    if constexpr (ComplexScalar<T>)
      return Number(drawn.at(matrix, i, j), drawn.at(matrix, i, columns + j));
    else
      return drawn.at(matrix, i, j);
  });
}
/// Symmetric or Hermitian, and positive definite.
template <class T> auto some_definite(std::int64_t count, std::int64_t n) {
  const auto g = some<T>(count, n, n);
  auto squares = product(g, turned(g));
  for (std::int64_t matrix = 0; matrix < count; ++matrix)
    for (std::int64_t i = 0; i < n; ++i) squares.at(matrix, i, i) += 1;
  for (auto& number : squares.numbers) number = number_of(static_cast<T>(number));
  return squares;
}
/// 2 on the diagonal and -1 beside it: of n rows the determinant is n + 1.
inline StackOf<double> second_differences(std::int64_t count, std::int64_t n) {
  return stack_of(count, n, n, [](auto, auto i, auto j) {
    return i == j ? 2.0 : i == j + 1 || j == i + 1 ? -1.0 : 0.0;
  });
}

/// Fails unless the numbers differ by no more than `error` times the largest one.
template <class A, class B>
void require_near(const StackOf<A>& x, const StackOf<B>& wanted, double error,
                  const std::source_location& where = std::source_location::current()) {
  require(x.count == wanted.count && x.rows == wanted.rows && x.columns == wanted.columns, where);
  double largest = 0;
  for (const B& number : wanted.numbers) largest = std::fmax(largest, std::abs(number));
  for (std::size_t i = 0; i < x.numbers.size(); ++i)
    require_close(std::abs(x.numbers[i] - wanted.numbers[i]), 0, 0, error * largest, where);
}
/// Functions of stacks of no matrices, and of matrices of no rows, have results of their shape.
template <class T> void require_empty_results() {
  for (const Dims shape : {Dims(0, 3, 3), Dims(2, 0, 0)}) {
    const Tensor<T, D, Cube> a(D{0}, shape);
    require(linalg::cholesky(a).shape() == shape);
    require(linalg::solve(a, a).shape() == shape);
    require(linalg::eigh(a).vectors.shape() == shape);
    require(linalg::qr(a).Q.shape() == shape);
    require(linalg::svd(a).U.shape() == shape);
    require(linalg::matrix_exp(a).shape() == shape);
  }
}
/// Norms and condition numbers of n x n matrices whose singular values are 2, by `both(numbers, wanted)`.
template <class Both, class A> void require_norms_of_twos(const Both& both, const A& a, std::int64_t n) {
  const auto count = static_cast<double>(n);
  both(linalg::matrix_norm(a), 2 * std::sqrt(count));
  both(linalg::matrix_norm<linalg::MatrixNorm::nuclear>(a), 2 * count);
  both(linalg::matrix_norm<linalg::MatrixNorm::spectral>(a), 2);
  both(linalg::matrix_norm<linalg::MatrixNorm::smallest>(a), 2);
  both(linalg::matrix_norm<linalg::MatrixNorm::largest_column>(a), 2);
  both(linalg::matrix_norm<linalg::MatrixNorm::largest_row>(a), 2);
  both(linalg::cond(a), 1);
  both(linalg::cond<linalg::MatrixNorm::smallest>(a), 1);
}
template <class T> inline constexpr double error_of = std::is_same_v<real_t<T>, double> ? 1e-12 : 3e-5;

}} // namespace twill::test::matrix_stacks
