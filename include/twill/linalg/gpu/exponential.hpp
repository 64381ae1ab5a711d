#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Exponentials of matrices on a GPU: the steps of the host's `MatrixExponential`, each for all matrices of a stack. The
// products are those of `run_products`, the quotient is a library's LU factors and triangular systems, and all else
// passes with a thread for each element. A matrix is halved as often as its own norm asks for; the host waits to learn
// how often the stack is squared, so no graph can be recorded. Read next: linalg/matrix_functions.hpp.

#include <twill/core/promotion.hpp>
#include <twill/kernel/gpu/divisor.hpp>
#include <twill/kernel/gpu/product.hpp>
#include <twill/kernel/gpu/tile.hpp>
#include <twill/kernel/product_stack.hpp>
#include <twill/kernel/program.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/gpu/matrices.hpp>
#include <twill/linalg/matrix_functions.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace linalg { namespace detail {

template <class T> struct ColumnSums {
  const T* from = nullptr;
  double* to = nullptr;
  std::int64_t n = 0;
  std::int64_t count = 0; ///< columns of all matrices
  kernel::gpu::IndexDivisor by_matrix{};
};

/// The sum of absolute values of each column.
template <class T> struct SumColumns {
  static constexpr int most_threads = kernel::gpu::tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const ColumnSums<T>& p) const {
    kernel::gpu::each_below(block, p.count, [&](std::int64_t i) {
      const auto place = p.by_matrix.parts(i);
      const T* const column = p.from + place.quotient * p.n * p.n + place.rest;
      double sum = 0;
      for (std::int64_t row = 0; row < p.n; ++row) {
        sum += size_of_element(column[row * p.n]);
      }
      p.to[i] = sum;
    });
  }
};

template <class R> struct HalvingCounts {
  const double* sums = nullptr; ///< of columns
  int* halvings = nullptr;
  R* factors = nullptr; ///< 2^-halvings
  std::int64_t n = 0;
  std::int64_t count = 0; ///< matrices
};

/// How often each matrix is halved.
template <class R> struct CountHalvings {
  static constexpr int most_threads = kernel::gpu::tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const HalvingCounts<R>& p) const {
    kernel::gpu::each_below(block, p.count, [&](std::int64_t i) {
      double norm = 0;
      for (std::int64_t column = 0; column < p.n; ++column) {
        const double sum = p.sums[i * p.n + column];
        if (!(sum <= norm)) norm = sum; // NaN too
      }
      const int halvings = PadeOfExponential::halvings(norm);
      R factor{1};
      for (int step = 0; step < halvings; ++step) factor *= R{0.5};
      p.halvings[i] = halvings;
      p.factors[i] = factor;
    });
  }
};

/// A pass over the elements of a stack.
template <class T> struct ExponentialPass {
  T* to = nullptr;
  const T* from = nullptr;
  T* other = nullptr;
  const real_t<T>* factors = nullptr;
  const int* halvings = nullptr;
  int step = 0;
  std::int64_t count = 0; ///< elements
  kernel::gpu::IndexDivisor by_matrix{};
};

/// to = from times the factor of the matrix.
template <class T> struct ScaleMatrices {
  static constexpr int most_threads = kernel::gpu::tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const ExponentialPass<T>& p) const {
    kernel::gpu::each_below(block, p.count,
                            [&](std::int64_t i) { p.to[i] = p.from[i] * p.factors[p.by_matrix.parts(i).quotient]; });
  }
};

/// to = to + from and other = to - from.
template <class T> struct AddAndSubtract {
  static constexpr int most_threads = kernel::gpu::tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const ExponentialPass<T>& p) const {
    kernel::gpu::each_below(block, p.count, [&](std::int64_t i) {
      const T even = p.to[i];
      p.to[i] = even + p.from[i];
      p.other[i] = even - p.from[i];
    });
  }
};

/// to = from for the matrices that were halved more often than `step`.
template <class T> struct TakeSquares {
  static constexpr int most_threads = kernel::gpu::tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const ExponentialPass<T>& p) const {
    kernel::gpu::each_below(block, p.count, [&](std::int64_t i) {
      if (p.halvings[p.by_matrix.parts(i).quotient] > p.step) p.to[i] = p.from[i];
    });
  }
};

template <class T> struct PowerSum {
  const T* powers[3]{}; ///< A^2, A^4, A^6
  real_t<T> coefficients[3]{};
  real_t<T> identity = 0; ///< what is added to the diagonal
  bool adds = false;
  T* to = nullptr;
  std::int64_t count = 0; ///< elements
  kernel::gpu::IndexDivisor by_matrix{};
  kernel::gpu::IndexDivisor by_diagonal{}; ///< n + 1
};

/// to = a sum of even powers, after what is there where it adds.
template <class T> struct AddPowers {
  static constexpr int most_threads = kernel::gpu::tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const PowerSum<T>& p) const {
    kernel::gpu::each_below(block, p.count, [&](std::int64_t i) {
      T sum =
          p.coefficients[2] * p.powers[2][i] + p.coefficients[1] * p.powers[1][i] + p.coefficients[0] * p.powers[0][i];
      if (p.adds) sum += p.to[i];
      if (p.by_diagonal.parts(p.by_matrix.parts(i).rest).rest == 0) sum += p.identity;
      p.to[i] = sum;
    });
  }
};

inline namespace TWILL_ISA {

/// Exponentials of a stack. The library is that of decompositions.
template <template <class> class Library, twill::gpu::GpuDevice D, class T>
class GpuExponential : GpuMatrices<Library, D, T> {
  using Base = GpuMatrices<Library, D, T>;
  using R = real_t<T>;
  template <class U> using Working = WorkingElements<U, D>;
  using Base::device_;
  using Base::queue_;

public:
  /// requires: matrices with elements    throws: CaptureError while this thread records a graph
  GpuExponential(const typename Base::Queue& queue, std::string_view function, const Stack& stack)
      : Base{queue, function},
        stack_{stack},
        elements_{stack.count * stack.rows * stack.rows},
        memory_{device_, 6 * elements_},
        halvings_{device_, stack.count} {}

  void operator()(const T* from, T* to) const {
    const int squarings = scale(from);
    T* const a = power(0);
    multiply(a, a, power(1));
    multiply(power(1), power(1), power(2));
    multiply(power(1), power(2), power(3));
    T* const odd = power(4);
    T* const even = power(5);
    polynomial(1, odd, to);
    multiply(a, to, odd);
    polynomial(0, even, to);
    ExponentialPass<T> parts = pass(odd, to);
    parts.other = even;
    enqueue(queue_, AddAndSubtract<T>{}, kernel::gpu::one_thread_each(elements_), parts);
    divide(to, even);
    for (int step = 0; step < squarings; ++step) {
      multiply(to, to, odd);
      ExponentialPass<T> squares = pass(odd, to);
      squares.halvings = halvings_.data;
      squares.step = step;
      enqueue(queue_, TakeSquares<T>{}, kernel::gpu::one_thread_each(elements_), squares);
    }
  }

private:
  /// A, A^2, A^4, A^6 and two more matrices.
  [[nodiscard]] T* power(std::int64_t number) const { return memory_.data + number * elements_; }

  [[nodiscard]] ExponentialPass<T> pass(const T* from, T* to) const {
    ExponentialPass<T> p{};
    p.to = to;
    p.from = from;
    p.count = elements_;
    p.by_matrix = kernel::gpu::IndexDivisor(stack_.rows * stack_.rows, elements_);
    return p;
  }

  /// Halves each matrix as often as its norm asks for; the result is the largest of these numbers.
  [[nodiscard]] int scale(const T* from) const {
    const std::int64_t columns = stack_.count * stack_.rows;
    const Working<double> sums{device_, columns};
    const Working<R> factors{device_, stack_.count};
    ColumnSums<T> of_columns{};
    of_columns.from = from;
    of_columns.to = sums.data;
    of_columns.n = stack_.rows;
    of_columns.count = columns;
    of_columns.by_matrix = kernel::gpu::IndexDivisor(stack_.rows, columns);
    enqueue(queue_, SumColumns<T>{}, kernel::gpu::one_thread_each(columns), of_columns);
    enqueue(queue_, CountHalvings<R>{}, kernel::gpu::one_thread_each(stack_.count),
            HalvingCounts<R>{sums.data, halvings_.data, factors.data, stack_.rows, stack_.count});
    ExponentialPass<T> scaled = pass(from, power(0));
    scaled.factors = factors.data;
    enqueue(queue_, ScaleMatrices<T>{}, kernel::gpu::one_thread_each(elements_), scaled);
    const std::vector<int> halvings = this->read(halvings_.data, stack_.count);
    return *std::max_element(halvings.begin(), halvings.end());
  }

  void multiply(const T* a, const T* b, T* to) const {
    const std::int64_t n = stack_.rows;
    kernel::ProductStack<T> products{};
    products.batch = Dims(stack_.count);
    products.m = products.n = products.k = n;
    products.a = {a, n, 1, {n * n}};
    products.b = {b, n, 1, {n * n}};
    products.c = to;
    products.c_row_stride = n;
    products.c_batch[0] = n * n;
    run_products(queue_, products);
  }

  /// The even powers of the numerator times A^-parity, of `parity` 1 the odd ones; `work` is overwritten.
  void polynomial(std::size_t parity, T* work, T* to) const {
    const auto add = [&](std::size_t first, bool adds, T* sum) {
      PowerSum<T> p{};
      for (std::size_t k = 0; k < 3; ++k) {
        p.powers[k] = power(static_cast<std::int64_t>(k) + 1);
        p.coefficients[k] = static_cast<R>(PadeOfExponential::coefficients[first + 2 * k + parity]);
      }
      if (adds) p.identity = static_cast<R>(PadeOfExponential::coefficients[parity]);
      p.adds = adds;
      p.to = sum;
      p.count = elements_;
      p.by_matrix = kernel::gpu::IndexDivisor(stack_.rows * stack_.rows, elements_);
      p.by_diagonal = kernel::gpu::IndexDivisor(stack_.rows + 1, elements_);
      enqueue(queue_, AddPowers<T>{}, kernel::gpu::one_thread_each(elements_), p);
    };
    add(8, false, work);
    multiply(power(3), work, to);
    add(2, true, to);
  }

  /// x = x d^-1, where both commute, of matrices that are transposed ones to the library alike.
  void divide(T* x, T* d) const {
    const std::int64_t rows = stack_.count * stack_.rows;
    const Working<int> exchanged{device_, rows};
    const Working<std::int64_t> pivots{device_, rows};
    this->factorise(stack_, d, exchanged.data); // far from singular for such norms
    this->read_pivots(stack_, exchanged.data, pivots.data, nullptr);
    this->solve_right({.is_upper = true}, stack_, d, x);
    this->solve_right({.is_upper = false, .is_transposed = false, .has_unit_diagonal = true}, stack_, d, x);
    this->exchange_rows(stack_, pivots.data, x, true);
  }

  Stack stack_;
  std::int64_t elements_;
  Working<T> memory_;
  Working<int> halvings_; ///< of each matrix
};

/// Runs a launch of `matrix_exp`.
template <template <class> class Library, class D, class T>
void exponentiate_on(const twill::gpu::Queue<typename D::Runtime>& queue, std::string_view function,
                     const kernel::Launch& launch) {
  const Stack stack = matrices_of(launch.shapes[0]);
  if (stack.count * stack.rows == 0) return;
  const GpuExponential<Library, D, T> exponential(queue, function, stack);
  exponential(static_cast<const T*>(launch.operands[0].data), static_cast<T*>(launch.operands[1].data));
}

} // namespace TWILL_ISA
}}}} // namespace twill::v0::linalg::detail
