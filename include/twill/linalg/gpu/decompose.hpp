#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Decompositions and solvers of a stack of matrices on a GPU by a library of LAPACK's routines, which is a template
// argument. As on hosts, a row-major matrix is the transposed one to the library, and only where no routine takes it so
// is a copy transposed. Stacks of small matrices are one batched call, others a call for each matrix. The host waits
// for the library's `info`, so that errors are thrown by the call that made them, and no graph can be recorded.
// Read next: linalg/gpu/move_matrices.hpp, linalg/cuda/matrices.cuh.

#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/runtime.hpp>
#include <twill/device/gpu/scope.hpp>
#include <twill/kernel/gpu/tile.hpp>
#include <twill/kernel/program.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/cholesky.hpp>
#include <twill/linalg/eigh.hpp>
#include <twill/linalg/gpu/move_matrices.hpp>
#include <twill/linalg/lu.hpp>
#include <twill/linalg/qr.hpp>
#include <twill/linalg/svd.hpp>
#include <twill/memory/buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

/// The most rows for which the factorisation of a stack is one batched call: few large matrices fill a GPU one after
/// another, and batched routines are made for small ones. Not measured on a GPU yet.
[[nodiscard]] constexpr std::int64_t most_batched_rows(std::int64_t count) {
  return std::min<std::int64_t>(512, 64 * count);
}
/// The most rows and columns of Jacobi's batched methods: cuSOLVER refuses larger ones.
inline constexpr std::int64_t most_jacobi_rows = 32;

/// Uninitialised elements of a device's pool, free for later work of the stream once this is gone.
template <class T, class D> struct WorkingElements {
  WorkingElements(const D& device, std::int64_t count)
      : buffer{device, static_cast<std::size_t>(count) * sizeof(T)}, data{static_cast<T*>(buffer.data())} {}

  memory::Buffer<D> buffer;
  T* data;
};

/// A launch of an operation on matrices of T. `Library<T>` is constructed with queue, function and stack, and holds the
/// stream for its calls.
template <template <class> class Library, twill::gpu::GpuDevice D, class T> class GpuDecomposition {
  using R = typename D::Runtime;
  using Queue = twill::gpu::Queue<R>;
  using Triangle = typename Library<T>::Triangle;
  using LibraryVectors = typename Library<T>::Vectors;
  template <class U> using Working = WorkingElements<U, D>;

public:
  /// throws: CaptureError while this thread records a graph
  GpuDecomposition(const Queue& queue, const kernel::Launch& launch, std::string_view function)
      : queue_{queue}, launch_{launch}, function_{function}, device_{queue.device()} {
    twill::gpu::require_no_recording<R>(function, queue.device());
  }

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
      const Working<T> work{device_, size};
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
      const Working<int> infos{device_, stack.count}; // a zero pivot is no error yet
      if (const Library<T> library = library_for(stack); is_batched(stack, most_batched_rows(stack.count))) {
        const Working<T*> matrices = addresses(columns.data, n * n, stack.count);
        library.getrf_batched(n, matrices.data, exchanged.data, infos.data);
      } else {
        const Working<T> work{device_, library.getrf_size(n, columns.data)};
        for (std::int64_t i = 0; i < stack.count; ++i)
          library.getrf(n, columns.data + i * n * n, work.data, exchanged.data + i * n, infos.data + i);
      }
      move(stack.count, n, n, columns.data, column_major(n, n), operand<T>(1), row_major(n, n));
    }
    enqueue(queue_, ReadPivots<T>{}, kernel::gpu::one_thread_each(stack.count),
            PivotLists<T>{exchanged.data, operand<std::int64_t>(2), operand<T>(3), n, stack.count});
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
      exchange_rows(stack, x, true);
    } else {
      exchange_rows(stack, x, false);
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
    const Working<T> work{device_, size};
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
    T* const values = operand<T>(1);
    T* const vectors = operand<T>(2);
    const auto wanted = vectors != nullptr ? LibraryVectors::yes : LibraryVectors::no;
    const Working<T> columns{device_, stack.count * n * n};
    copy(operand<T>(0), columns.data, stack.count * n * n); // the lower triangle is the upper one to the library
    const Working<int> infos{device_, stack.count};
    if (const Library<T> library = library_for(stack); is_batched(stack, most_jacobi_rows)) {
      const std::int64_t size = library.syevj_batched_size(wanted, n, columns.data, values);
      const Working<T> work{device_, size};
      library.syevj_batched(wanted, n, columns.data, values, work.data, size, infos.data);
    } else {
      const std::int64_t size = library.syevd_size(wanted, n, columns.data, values);
      const Working<T> work{device_, size};
      for (std::int64_t i = 0; i < stack.count; ++i)
        library.syevd(wanted, n, columns.data + i * n * n, values + i * n, work.data, size, infos.data + i);
    }
    if (vectors != nullptr) move(stack.count, n, n, columns.data, column_major(n, n), vectors, row_major(n, n));
    FirstFailure failure{};
    read(infos.data, stack.count, failure);
    if (failure.any()) throw_without_eigenvalues(failure, stack.count);
  }

  void svd() const {
    const Stack stack = matrices_of(launch_.shapes[0]);
    const std::int64_t m = stack.rows;
    const std::int64_t n = stack.columns;
    const std::int64_t k = checked_smaller(function_, stack, launch_.shapes[1][launch_.shapes[1].rank - 1]);
    if (stack.count * k == 0) return;
    T* const s = operand<T>(1);
    T* const u = operand<T>(2);
    T* const vh = operand<T>(3);
    const auto wanted = u != nullptr || vh != nullptr ? LibraryVectors::yes : LibraryVectors::no;
    const Working<T> a{device_, stack.count * m * n};
    copy(operand<T>(0), a.data, stack.count * m * n);
    const Working<int> infos{device_, stack.count};
    // To the library the matrix is A^T = V S U^T: its left factor is V, in memory Vh, and its right one U by columns.
    const bool in_one_call = is_batched(stack, most_jacobi_rows) && n <= most_jacobi_rows;
    const std::int64_t left_columns = in_one_call ? n : k;
    const std::int64_t right_columns = in_one_call ? m : k;
    const Working<T> left{device_, stack.count * n * left_columns};
    const Working<T> right{device_, stack.count * m * right_columns};
    const Library<T> library = library_for(stack);
    if (in_one_call) {
      const std::int64_t size = library.gesvdj_batched_size(wanted, n, m, a.data, s, left.data, right.data);
      const Working<T> work{device_, size};
      library.gesvdj_batched(wanted, n, m, a.data, s, left.data, right.data, work.data, size, infos.data);
    } else {
      const std::int64_t size = library.gesvdj_size(wanted, n, m, a.data, s, left.data, right.data);
      const Working<T> work{device_, size};
      for (std::int64_t i = 0; i < stack.count; ++i)
        library.gesvdj(wanted, n, m, a.data + i * m * n, s + i * k, left.data + i * n * k, right.data + i * m * k,
                       work.data, size, infos.data + i);
    }
    if (vh != nullptr) move(stack.count, k, n, left.data, {n * left_columns, n, 1}, vh, row_major(k, n));
    if (u != nullptr) move(stack.count, m, k, right.data, {m * right_columns, 1, m}, u, row_major(m, k));
    FirstFailure failure{};
    read(infos.data, stack.count, failure);
    if (failure.any()) throw_without_singular_values(failure, stack.count);
  }

private:
  /// A number for each matrix: the operation's result where it reports, else working memory.
  struct Infos {
    Working<int> working;
    int* data;
  };
  [[nodiscard]] Infos infos_at(int result, std::int64_t count) const {
    int* const wanted = operand<std::int32_t>(result);
    Working<int> working{device_, wanted != nullptr ? 0 : count};
    int* const data = wanted != nullptr ? wanted : working.data;
    return {std::move(working), data};
  }

  template <class U> [[nodiscard]] U* operand(int number) const {
    return static_cast<U*>(launch_.operands[number].data);
  }
  [[nodiscard]] Library<T> library_for(const Stack& stack) const {
    return Library<T>(queue_, function_, stack.count, stack.rows, stack.columns);
  }
  [[nodiscard]] static bool is_batched(const Stack& stack, std::int64_t most_rows) {
    return stack.count > 1 && stack.rows <= most_rows;
  }
  [[nodiscard]] static MatrixSteps row_major(std::int64_t rows, std::int64_t columns) {
    return {rows * columns, columns, 1};
  }
  [[nodiscard]] static MatrixSteps column_major(std::int64_t rows, std::int64_t columns) {
    return {rows * columns, 1, rows};
  }

  void copy(const T* from, T* to, std::int64_t count) const {
    twill::gpu::check<R>(R::copy(to, from, static_cast<std::size_t>(count) * sizeof(T), queue_.stream()), "copy",
                         queue_.device());
  }

  /// Copies matrices of rows x columns.
  void move(std::int64_t count, std::int64_t rows, std::int64_t columns, const T* from, const MatrixSteps& from_steps,
            T* to, const MatrixSteps& to_steps, KeptPart part = KeptPart::all) const {
    const std::int64_t elements = count * rows * columns;
    enqueue(queue_, MoveMatrices<T>{}, kernel::gpu::one_thread_each(elements),
            MatrixMove<T>{from, from_steps, to, to_steps, part, elements,
                          kernel::gpu::IndexDivisor(rows * columns, elements),
                          kernel::gpu::IndexDivisor(columns, elements)});
  }

  void find_zero_pivots(const T* factors, std::int64_t n, std::int64_t count, int* infos) const {
    enqueue(queue_, FindZeroPivots<T>{}, kernel::gpu::one_thread_each(count),
            DiagonalCheck<T>{factors, infos, n, count});
  }

  [[nodiscard]] Working<T*> addresses(T* first, std::int64_t step, std::int64_t count) const {
    Working<T*> list{device_, count};
    enqueue(queue_, WriteAddresses<T>{}, kernel::gpu::one_thread_each(count),
            AddressList<T>{first, step, list.data, count});
    return list;
  }

  /// X op(A) = B in place of B, as the library sees them: B is k x n for a stack of n x k.
  void solve_right(const Triangle& triangle, const Stack& stack, T* a, T* b) const {
    const std::int64_t n = stack.rows;
    const std::int64_t k = stack.columns;
    const Library<T> library = library_for(stack);
    if (stack.count == 1) return library.trsm_right(triangle, k, n, a, b);
    const Working<T*> matrices = addresses(a, n * n, stack.count);
    const Working<T*> sides = addresses(b, n * k, stack.count);
    library.trsm_right_batched(triangle, k, n, matrices.data, sides.data);
  }

  void exchange_rows(const Stack& stack, T* x, bool is_reversed) const {
    const std::int64_t count = stack.count * stack.columns;
    enqueue(queue_, ExchangeRows<T>{}, kernel::gpu::one_thread_each(count),
            RowExchanges<T>{x, operand<std::int64_t>(1), stack.rows, stack.columns, count, is_reversed,
                            kernel::gpu::IndexDivisor(stack.columns, count)});
  }

  /// Waits for the results of a call for each matrix.
  void read(const int* infos, std::int64_t count, FirstFailure& failure) const {
    std::vector<int> found(static_cast<std::size_t>(count));
    twill::gpu::check<R>(R::copy(found.data(), infos, found.size() * sizeof(int), queue_.stream()), "copy",
                         queue_.device());
    twill::gpu::check<R>(R::synchronize_stream(queue_.stream()), "synchronize_stream", queue_.device());
    for (std::size_t i = 0; i < found.size(); ++i) failure.note(static_cast<std::int64_t>(i), found[i]);
  }

  const Queue& queue_;
  const kernel::Launch& launch_;
  std::string_view function_;
  D device_;
};

/// Runs the launch of an operation that the library computes.
template <template <class> class Library, class D, const graph::Operation* O, class T>
void decompose_on(const twill::gpu::Queue<typename D::Runtime>& queue, const kernel::Launch& launch) {
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
  else if constexpr (graph::is_same(*O, svd_operation))
    work.svd();
  else
    static_assert(sizeof(T) == 0, "twill: linalg: matrix_exp has no kernel for GPUs yet; compute on a host device, "
                                  "a.cpu(), and copy the result back");
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA
