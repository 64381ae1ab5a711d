#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions of whole matrices: powers and exponentials; cross products and Vandermonde matrices. The exponential is
// Padé's approximation of order 13 with scaling and squaring (Higham, 2005); its gradient is that of a block matrix
// (Najfeld and Havel, 1995), which is exact.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/device/cpu/gemm.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/lu.hpp>
#include <twill/linalg/matrix_values.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/ops/slice.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// Whether powers begin with the highest, as in NumPy, or with the lowest.
enum class VanderOrder : bool { decreasing, increasing };

}}}} // namespace twill::v0::linalg::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

template <MatrixValue V>
constexpr void matrix_exp_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                              graph::InputGradients& gradients);
inline constexpr graph::Operation matrix_exp_operation{.name = "matrix_exp",
                                                       .vjp = &matrix_exp_vjp<Value>,
                                                       .wants_dense = true,
                                                       .batching = graph::Batching::stack,
                                                       .working_bytes = &matrix_exp_bytes};
inline constexpr graph::Operation complex_matrix_exp_operation{.name = "complex_matrix_exp",
                                                               .vjp = &matrix_exp_vjp<ComplexValue>,
                                                               .wants_dense = true,
                                                               .batching = graph::Batching::stack};

template <MatrixValue V> [[nodiscard]] constexpr V exponential_of(const V& a) {
  const Value x = stored(a);
  return value_of<V>(
      add_operation(operation_of<V, matrix_exp_operation, complex_matrix_exp_operation>(), {x}, x.dtype(), x.shape()));
}

/// The upper right block of exp([A^H G; 0 A^H]).
template <MatrixValue V>
constexpr void matrix_exp_vjp(Graph& graph, int node, const graph::Cotangents& cotangents,
                              graph::InputGradients& gradients) {
  const V ah = adjoint(value_of<V>({graph, graph.node(node).input(0)}));
  const V g = cotangent_of<V>(graph, cotangents, 0);
  const int rows = ah.rank() - 2;
  const int columns = ah.rank() - 1;
  const V top = graph::concatenate({ah, g}, columns);
  const V bottom = graph::concatenate({ah * 0, ah}, columns);
  const V whole = exponential_of(V{graph::concatenate({top, bottom}, rows)});
  const std::int64_t n = ah.shape()[rows].factor;
  const V block = each_part(whole, [&](Value part) {
    const Value upper = slice_axis(part, rows, {.begin = 0, .end = n});
    return slice_axis(upper, columns, {.begin = n, .end = 2 * n});
  });
  gradients.set(0, stored(block));
}

/// The absolute value of an element.
template <class T> [[nodiscard]] constexpr double size_of_element(const T& x) {
  if constexpr (ComplexScalar<T>)
    return std::hypot(double{x.re}, double{x.im});
  else
    return std::abs(double{x});
}

/// Padé's approximation of order 13 of exponentials: the numerator, whose odd powers the denominator subtracts.
struct PadeOfExponential {
  /// The norm up to which it is exact to double: theta 13 of Higham.
  static constexpr double largest_norm = 5.371920351148152;

  /// Of the numerator, by powers, over the first.
  static constexpr std::array<double, 14> coefficients = [] {
    std::array<double, 14> c{1};
    for (int k = 1; k < 14; ++k)
      c[static_cast<std::size_t>(k)] = c[static_cast<std::size_t>(k - 1)] * (14 - k) / (k * (27 - k));
    return c;
  }();

  /// How often a matrix of a norm is halved before, and its exponential squared after; 0 for infinities and NaN.
  [[nodiscard]] static constexpr int halvings(double norm) {
    int count = 0;
    if (norm > std::numeric_limits<double>::max()) return count;
    while (norm > largest_norm) {
      norm /= 2;
      ++count;
    }
    return count;
  }
};

/// exp(A) of n x n matrices in one thread, in column-major or row-major order alike: exp(A^T) = exp(A)^T.
template <class T> class MatrixExponential {
public:
  static constexpr std::int64_t matrices = 6; ///< of working memory

  MatrixExponential(std::int64_t n, T* memory, int* pivots) : n_{n}, size_{n * n}, memory_{memory}, pivots_{pivots} {}

  void operator()(const T* from, T* to) const {
    const int halvings = PadeOfExponential::halvings(largest_column(from));
    T* const a = at(0);
    for (std::int64_t i = 0; i < size_; ++i) a[i] = from[i] * static_cast<real_t<T>>(std::ldexp(1.0, -halvings));
    T* const a2 = at(1);
    T* const a4 = at(2);
    T* const a6 = at(3);
    multiply(a, a, a2);
    multiply(a2, a2, a4);
    multiply(a2, a4, a6);
    T* const odd = at(4);
    T* const even = at(5);
    polynomial(1, odd, to);
    multiply(a, to, odd);
    polynomial(0, even, to);
    std::copy(to, to + size_, even);
    for (std::int64_t i = 0; i < size_; ++i) {
      to[i] = even[i] + odd[i];
      even[i] -= odd[i];
    }
    divide(to, even);
    for (int i = 0; i < halvings; ++i) {
      multiply(to, to, odd);
      std::copy(odd, odd + size_, to);
    }
  }

private:
  [[nodiscard]] T* at(std::int64_t matrix) const { return memory_ + matrix * size_; }

  void multiply(const T* a, const T* b, T* to) const {
    cpu::gemm_by_cblas<T>(false, false, n_, n_, n_, T{1}, a, n_, b, n_, T{0}, to, n_);
  }

  /// The even powers of the numerator times A^-parity, of `parity` 1 the odd ones; `work` is overwritten.
  void polynomial(std::size_t parity, T* work, T* to) const {
    const auto c = [parity](std::size_t power) {
      return static_cast<real_t<T>>(PadeOfExponential::coefficients[power + parity]);
    };
    const T* const a2 = at(1);
    const T* const a4 = at(2);
    const T* const a6 = at(3);
    for (std::int64_t i = 0; i < size_; ++i) work[i] = c(12) * a6[i] + c(10) * a4[i] + c(8) * a2[i];
    multiply(a6, work, to);
    for (std::int64_t i = 0; i < size_; ++i) to[i] += c(6) * a6[i] + c(4) * a4[i] + c(2) * a2[i];
    for (std::int64_t i = 0; i < n_; ++i) to[i * (n_ + 1)] += c(0);
  }

  /// x = x d^-1, where both commute.
  void divide(T* x, T* d) const {
    static_cast<void>(Lapack<T>::getrf(n_, d, pivots_)); // far from singular for such norms
    Lapack<T>::trsm_right(Triangle::upper, Transposed::no, UnitDiagonal::no, n_, n_, d, x);
    Lapack<T>::trsm_right(Triangle::lower, Transposed::no, UnitDiagonal::yes, n_, n_, d, x);
    for (std::int64_t i = n_ - 1; i >= 0; --i)
      if (pivots_[i] != i + 1) std::swap_ranges(x + i * n_, x + (i + 1) * n_, x + (pivots_[i] - 1) * n_);
  }

  [[nodiscard]] double largest_column(const T* a) const {
    double largest = 0;
    for (std::int64_t j = 0; j < n_; ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < n_; ++i) sum += size_of_element(a[i * n_ + j]);
      if (!(sum <= largest)) largest = sum; // NaN too
    }
    return largest;
  }

  std::int64_t n_;
  std::int64_t size_;
  T* memory_;
  int* pivots_;
};

template <int N, MatrixValue V> [[nodiscard]] constexpr V power_of(V a, CallSite site) {
  a = checked_square(a, site);
  if (a.graph().fault.any()) return a;
  if constexpr (N == 0) {
    return identities_of(a);
  } else {
    V square = N < 0 ? inverted(a, OnFailure::throws, site).result : a;
    V result = square;
    bool is_begun = false;
    for (unsigned rest = N < 0 ? 0U - static_cast<unsigned>(N) : static_cast<unsigned>(N); rest != 0; rest >>= 1U) {
      if ((rest & 1U) != 0) {
        result = is_begun ? matmul(result, square) : square;
        is_begun = true;
      }
      if (rest > 1) square = matmul(square, square);
    }
    return result;
  }
}

/// The powers N - 1, …, 0 of elements, or 0, …, N - 1.
template <int N, VanderOrder Order, MatrixValue V> [[nodiscard]] constexpr V powers_of(const V& x, CallSite site) {
  static_assert(N >= 1, "twill: vander: at least one power");
  V power = x * 0 + 1;
  V result = unsqueeze(power, -1, site);
  for (int k = 1; k < N; ++k) {
    power = power * x;
    const V column = unsqueeze(power, -1, site);
    result = Order == VanderOrder::increasing ? graph::concatenate({result, column}, x.rank())
                                              : graph::concatenate({column, result}, x.rank());
  }
  return result;
}

template <MatrixValue V> [[nodiscard]] constexpr V cross_of(const V& a, const V& b, CallSite site) {
  const Extents shape = broadcast_shape(a.graph(), a.shape(), b.shape(), site);
  if (shape.rank == 0 || !(shape[shape.rank - 1] == Extent{3, 0}))
    a.graph().refuse(Problem::cross_needs_three_elements, shape.rank == 0 ? 0 : shape[shape.rank - 1].factor, 3, site);
  if (a.graph().fault.any()) return a;
  const int last = shape.rank - 1;
  const auto turned = [&](const V& x, std::int64_t by) { // element i is element i + by of x
    return each_part(x, [&](Value part) {
      part = broadcast_to(part, shape);
      return graph::concatenate(
          {slice_axis(part, last, {.begin = by, .end = 3}), slice_axis(part, last, {.begin = 0, .end = by})}, last);
    });
  };
  return turned(a, 1) * turned(b, 2) - turned(a, 2) * turned(b, 1);
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// Exponentials of (..., n, n): the sum of A^k / k!.
[[nodiscard]] TWILL_CONSTEXPR Value matrix_exp(Value a, CallSite site = CallSite::here()) {
  a = checked_square(a, site);
  if (a.graph().fault.any()) return a;
  return detail::exponential_of(a);
}

/// A^N by repeated squaring; negative powers are those of the inverse.
template <int N> [[nodiscard]] constexpr Value matrix_power(Value a, CallSite site = CallSite::here()) {
  return detail::power_of<N>(a, site);
}

/// The powers N - 1, …, 0 of elements: (..., n) gives (..., n, N).
template <int N, VanderOrder Order = VanderOrder::decreasing>
[[nodiscard]] constexpr Value vander(Value x, CallSite site = CallSite::here()) {
  return detail::powers_of<N, Order>(x, site);
}

/// Cross products of vectors of three along the last axis; the other axes broadcast.
[[nodiscard]] TWILL_CONSTEXPR Value cross(Value a, Value b, CallSite site = CallSite::here()) {
  return detail::cross_of(a, b, site);
}

}}}} // namespace twill::v0::linalg::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <>
struct KernelOf<&linalg::detail::matrix_exp_operation>
    : linalg::detail::QueueKernel<&linalg::detail::matrix_exp_operation> {
  using ForQueues::run;

  template <class T> static void run(const Team& team, const kernel::Launch& launch) {
    const linalg::detail::Stack stack = linalg::detail::matrices_of(launch.shapes[0]);
    const std::int64_t size = stack.rows * stack.rows;
    const auto* from = static_cast<const T*>(launch.operands[0].data);
    auto* to = static_cast<T*>(launch.operands[1].data);
    linalg::detail::for_each_matrix(team, stack, [&](std::int64_t i) {
      using Exponential = linalg::detail::MatrixExponential<T>;
      const linalg::detail::Workspace<T> memory{Exponential::matrices * size, stack.rows};
      const Exponential exponential{stack.rows, memory.elements, memory.integers};
      exponential(from + i * size, to + i * size);
    });
  }
  template <class T> static void reserve(const Team& team, const kernel::Launch& launch) {
    const std::int64_t n = linalg::detail::matrices_of(launch.shapes[0]).rows;
    linalg::detail::Workspace<T>::reserve(team, linalg::detail::MatrixExponential<T>::matrices * n * n, n);
  }
};

template <>
struct KernelOf<&linalg::detail::complex_matrix_exp_operation>
    : linalg::detail::ComplexKernel<&linalg::detail::matrix_exp_operation, true, true> {};

}}} // namespace twill::v0::TWILL_ISA
