#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Decompositions and solvers of a stack of matrices on a GPU by a library of LAPACK's routines, which is a template
// argument. As on hosts, a row-major matrix is the transposed one to the library, of Hermitian ones the conjugate, and
// only where no routine takes it so is a copy transposed. The host waits for the library's `info`, so that errors are
// thrown by the call that made them, and no graph can be recorded. Read next: linalg/gpu/matrices.hpp,
// linalg/cuda/matrices.cuh.

#include <twill/core/promotion.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/program.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/cholesky.hpp>
#include <twill/linalg/eigh.hpp>
#include <twill/linalg/gpu/exponential.hpp>
#include <twill/linalg/gpu/matrices.hpp>
#include <twill/linalg/gpu/move_matrices.hpp>
#include <twill/linalg/lu.hpp>
#include <twill/linalg/matrix_functions.hpp>
#include <twill/linalg/qr.hpp>
#include <twill/linalg/svd.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

/// A launch of an operation on matrices of T, real or complex.
template <template <class> class Library, twill::gpu::GpuDevice D, class T>
class GpuDecomposition : GpuMatrices<Library, D, T> {
  using Base = GpuMatrices<Library, D, T>;
  using R = real_t<T>;
  using Triangle = typename Library<T>::Triangle;
  using LibraryVectors = typename Library<T>::Vectors;
  template <class U> using Working = WorkingElements<U, D>;
  using Base::addresses;
  using Base::column_major;
  using Base::copy;
  using Base::device_;
  using Base::exchange_rows;
  using Base::find_zero_pivots;
  using Base::function_;
  using Base::library_for;
  using Base::move;
  using Base::read;
  using Base::row_major;
  using Base::solve_right;
  using Base::working;

public:
  /// throws: CaptureError while this thread records a graph
  GpuDecomposition(const typename Base::Queue& queue, const kernel::Launch& launch, std::string_view function)
      : Base{queue, function}, launch_{launch} {}

  void cholesky() const {
    const Stack stack = matrices_of(launch_.shapes[0]);
    const std::int64_t n = stack.rows;
    if (stack.count == 0) return;
    const Infos infos = infos_at(2, stack.count);
    if (n == 0) return find_zero_pivots(operand<T>(0), n, stack.count, infos.data);
    T* const to = operand<T>(1);
    copy(operand<T>(0), to, stack.count * n * n);
    if (const Library<T> library = library_for(stack); is_batched(stack, most_batched_rows(stack.count))) {
      const Working<T*> matrices = addresses(to, n * n, stack.count);
      library.potrf_batched(n, matrices.data, infos.data);
    } else {
      const std::int64_t size = library.potrf_size(n, to);
      const Working<T> work = working(size, n, n);
      for (std::int64_t i = 0; i < stack.count; ++i) library.potrf(n, to + i * n * n, work.data, size, infos.data + i);
    }
    move(stack.count, n, n, to, row_major(n, n), to, row_major(n, n), KeptPart::lower);
    if (launch_.attributes[0] != 0) return;
    FirstFailure failure{};
    read(infos.data, stack.count, failure);
    if (failure.any()) throw_not_positive_definite(failure, stack.count);
  }

  void lu() const {
    const Stack stack = matrices_of(launch_.shapes[0]);
    const std::int64_t n = stack.rows;
    if (stack.count == 0) return;
    const Working<int> exchanged{device_, stack.count * n};
    if (n > 0) {
      const Working<T> columns{device_, stack.count * n * n};
      move(stack.count, n, n, operand<T>(0), row_major(n, n), columns.data, column_major(n, n));
      this->factorise(stack, columns.data, exchanged.data);
      move(stack.count, n, n, columns.data, column_major(n, n), operand<T>(1), row_major(n, n));
    }
    this->read_pivots(stack, exchanged.data, operand<std::int64_t>(2), operand<T>(3));
  }

  void lu_solve() const {
    const Stack stack = matrices_of(launch_.shapes[2]);
    const std::int64_t n = stack.rows;
    const std::int64_t k = stack.columns;
    if (stack.count == 0) return;
    T* const factors = operand<T>(0);
    T* const x = operand<T>(3);
    const Infos infos = infos_at(4, stack.count);
    find_zero_pivots(factors, n, stack.count, infos.data);
    if (launch_.attributes[2] == 0) {
      FirstFailure singular{};
      read(infos.data, stack.count, singular);
      if (singular.any()) throw_singular(singular, static_cast<Solver>(launch_.attributes[1]), stack.count);
    }
    if (n * k == 0) return;
    copy(operand<T>(2), x, stack.count * n * k);
    // To the library x is X^T, and the factors hold U^T below L^T.
    if (launch_.attributes[0] != 0) {
      solve_right({.is_upper = false, .is_transposed = true}, stack, factors, x);
      solve_right({.is_upper = true, .is_transposed = true, .has_unit_diagonal = true}, stack, factors, x);
      exchange_rows(stack, operand<std::int64_t>(1), x, true);
    } else {
      exchange_rows(stack, operand<std::int64_t>(1), x, false);
      solve_right({.is_upper = true, .is_transposed = false, .has_unit_diagonal = true}, stack, factors, x);
      solve_right({.is_upper = false, .is_transposed = false}, stack, factors, x);
    }
  }

  void triangular() const {
    const Stack stack = matrices_of(launch_.shapes[1]);
    if (stack.count * stack.rows * stack.columns == 0) return;
    T* const x = operand<T>(2);
    copy(operand<T>(1), x, stack.count * stack.rows * stack.columns);
    // To the library matrices are transposed: X^T op(A)^T = B^T.
    Triangle triangle{};
    triangle.is_upper = launch_.attributes[0] == 0;
    triangle.has_unit_diagonal = launch_.attributes[1] != 0;
    triangle.is_transposed = launch_.attributes[2] != 0;
    solve_right(triangle, stack, operand<T>(0), x);
  }

  void qr() const {
    const Stack stack = matrices_of(launch_.shapes[0]);
    const std::int64_t m = stack.rows;
    const std::int64_t n = stack.columns;
    const std::int64_t k = checked_smaller(function_, stack, launch_.shapes[1][launch_.shapes[1].rank - 1]);
    if (stack.count * k == 0) return;
    const Working<T> columns{device_, stack.count * m * n};
    const Working<T> tau{device_, stack.count * k};
    const Working<int> info{device_, 1}; // of faulty arguments, which there are not
    move(stack.count, m, n, operand<T>(0), row_major(m, n), columns.data, column_major(m, n));
    const Library<T> library = library_for(stack);
    const std::int64_t size = library.qr_size(m, n, k, columns.data, tau.data);
    const Working<T> work = working(size, m, n);
    for (std::int64_t i = 0; i < stack.count; ++i)
      library.geqrf(m, n, columns.data + i * m * n, tau.data + i * k, work.data, size, info.data);
    if (T* const r = operand<T>(2); r != nullptr)
      move(stack.count, k, n, columns.data, column_major(m, n), r, row_major(k, n), KeptPart::upper);
    for (std::int64_t i = 0; i < stack.count; ++i)
      library.orgqr(m, k, columns.data + i * m * n, tau.data + i * k, work.data, size, info.data);
    move(stack.count, m, k, columns.data, column_major(m, n), operand<T>(1), row_major(m, k));
  }

  void eigh() const {
    const Stack stack = matrices_of(launch_.shapes[0]);
    const std::int64_t n = stack.rows;
    if (stack.count * n == 0) return;
    R* const values = operand<R>(1);
    T* const vectors = operand<T>(2);
    const auto wanted = vectors != nullptr ? LibraryVectors::yes : LibraryVectors::no;
    const Working<T> columns{device_, stack.count * n * n};
    copy(operand<T>(0), columns.data, stack.count * n * n); // the lower triangle is the upper one to the library
    const Working<int> infos{device_, stack.count};
    if (const Library<T> library = library_for(stack); is_batched(stack, most_jacobi_rows)) {
      const std::int64_t size = library.syevj_batched_size(wanted, n, columns.data, values);
      const Working<T> work = working(size, n, n, stack.count);
      library.syevj_batched(wanted, n, columns.data, values, work.data, size, infos.data);
    } else {
      const std::int64_t size = library.syevd_size(wanted, n, columns.data, values);
      const Working<T> work = working(size, n, n);
      for (std::int64_t i = 0; i < stack.count; ++i)
        library.syevd(wanted, n, columns.data + i * n * n, values + i * n, work.data, size, infos.data + i);
    }
    if (vectors != nullptr) // of the conjugate matrix, which the transposed one is
      move(stack.count, n, n, columns.data, column_major(n, n), vectors, row_major(n, n), KeptPart::all,
           Conjugated::yes);
    FirstFailure failure{};
    read(infos.data, stack.count, failure);
    if (failure.any()) throw_without_eigenvalues(function_, failure, stack.count);
  }

  void svd() const {
    const Stack stack = matrices_of(launch_.shapes[0]);
    const std::int64_t m = stack.rows;
    const std::int64_t n = stack.columns;
    const std::int64_t k = checked_smaller(function_, stack, launch_.shapes[1][launch_.shapes[1].rank - 1]);
    if (stack.count * k == 0) return;
    R* const s = operand<R>(1);
    T* const u = operand<T>(2);
    T* const vh = operand<T>(3);
    const auto wanted = u != nullptr || vh != nullptr ? LibraryVectors::yes : LibraryVectors::no;
    const Working<T> a{device_, stack.count * m * n};
    copy(operand<T>(0), a.data, stack.count * m * n);
    const Working<int> infos{device_, stack.count};
    // To the library the matrix is A^T = V* S U^T: its left factor is V*, in memory Vh, its right one U* by columns.
    const bool in_one_call = is_batched_svd(stack);
    const std::int64_t left_columns = in_one_call ? n : k;
    const std::int64_t right_columns = in_one_call ? m : k;
    const Working<T> left{device_, stack.count * n * left_columns};
    const Working<T> right{device_, stack.count * m * right_columns};
    const Library<T> library = library_for(stack);
    if (in_one_call) {
      const std::int64_t size = library.gesvdj_batched_size(wanted, n, m, a.data, s, left.data, right.data);
      const Working<T> work = working(size, m, n, stack.count);
      library.gesvdj_batched(wanted, n, m, a.data, s, left.data, right.data, work.data, size, infos.data);
    } else {
      const std::int64_t size = library.gesvdj_size(wanted, n, m, a.data, s, left.data, right.data);
      const Working<T> work = working(size, m, n);
      for (std::int64_t i = 0; i < stack.count; ++i)
        library.gesvdj(wanted, n, m, a.data + i * m * n, s + i * k, left.data + i * n * k, right.data + i * m * k,
                       work.data, size, infos.data + i);
    }
    if (vh != nullptr) move(stack.count, k, n, left.data, {n * left_columns, n, 1}, vh, row_major(k, n));
    if (u != nullptr)
      move(stack.count, m, k, right.data, {m * right_columns, 1, m}, u, row_major(m, k), KeptPart::all,
           Conjugated::yes);
    FirstFailure failure{};
    read(infos.data, stack.count, failure);
    if (failure.any()) throw_without_singular_values(failure, stack.count);
  }

private:
  /// A number for each matrix: the operation's result where it reports, else working memory.
  struct Infos {
    Working<int> own;
    int* data;
  };
  [[nodiscard]] Infos infos_at(int result, std::int64_t count) const {
    int* const wanted = operand<std::int32_t>(result);
    Working<int> own{device_, wanted != nullptr ? 0 : count};
    int* const data = wanted != nullptr ? wanted : own.data;
    return {std::move(own), data};
  }

  template <class U> [[nodiscard]] U* operand(int number) const {
    return static_cast<U*>(launch_.operands[number].data);
  }

  const kernel::Launch& launch_;
};

/// Runs the launch of an operation that the library computes.
template <template <class> class Library, class D, const graph::Operation* O, class T>
void decompose_on(const twill::gpu::Queue<typename D::Runtime>& queue, const kernel::Launch& launch) {
  if constexpr (graph::is_same(*O, matrix_exp_operation)) {
    return exponentiate_on<Library, D, T>(queue, O->name, launch);
  } else {
    const GpuDecomposition<Library, D, T> work{queue, launch, O->name};
    if constexpr (graph::is_same(*O, cholesky_operation))
      work.cholesky();
    else if constexpr (graph::is_same(*O, lu_operation))
      work.lu();
    else if constexpr (graph::is_same(*O, lu_solve_operation))
      work.lu_solve();
    else if constexpr (graph::is_same(*O, triangular_operation))
      work.triangular();
    else if constexpr (graph::is_same(*O, qr_operation))
      work.qr();
    else if constexpr (graph::is_same(*O, eigh_operation))
      work.eigh();
    else
      work.svd();
  }
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA
