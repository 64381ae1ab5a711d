#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The base of functions on stacks of matrices on a GPU: working memory of the pool, copies between row-major and
// column-major order, LU factors and systems by a library of LAPACK's routines, which is a template argument, and its
// info, for which the host waits. Stacks of small matrices are one batched call, others a call for each matrix.
// Read next: linalg/gpu/decompose.hpp, linalg/gpu/exponential.hpp, linalg/gpu/eigenpairs.hpp.

#include <twill/core/dtype.hpp>
#include <twill/core/text.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/library_choices.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/runtime.hpp>
#include <twill/device/gpu/scope.hpp>
#include <twill/kernel/gpu/tile.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/gpu/move_matrices.hpp>
#include <twill/linalg/working_bytes.hpp>
#include <twill/memory/buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

/// Uninitialised elements of a device's pool, free for later work of the stream once this is gone.
template <class T, class D> struct WorkingElements {
  WorkingElements(const D& device, std::int64_t count)
      : buffer{device, static_cast<std::size_t>(count) * sizeof(T)}, data{static_cast<T*>(buffer.data())} {}

  memory::Buffer<D> buffer;
  T* data;
};

/// The base of a function on matrices of T. `Library<T>` is constructed with queue, function and stack, and holds the
/// stream for its calls.
template <template <class> class Library, twill::gpu::GpuDevice D, class T> class GpuMatrices {
  using R = typename D::Runtime;

protected:
  using Queue = twill::gpu::Queue<R>;
  template <class U> using Working = WorkingElements<U, D>;

  /// throws: CaptureError while this thread records a graph
  GpuMatrices(const Queue& queue, std::string_view function)
      : queue_{queue}, function_{function}, device_{queue.device()} {
    twill::gpu::require_no_recording<R>(function, queue.device());
  }

  [[nodiscard]] Library<T> library_for(const Stack& stack) const {
    return Library<T>(queue_, function_, stack.count, stack.rows, stack.columns);
  }
  /// Working memory of a call on `count` matrices, of as many elements as the library asks for. Beyond what the plan of
  /// a step counts it is a warning.
  [[nodiscard]] Working<T> working(std::int64_t asked, std::int64_t rows, std::int64_t columns,
                                   std::int64_t count = 1) const {
    const auto bytes_of = [](std::int64_t elements) { return static_cast<std::size_t>(elements) * sizeof(T); };
    twill::gpu::choice_log<R>(queue_.device())
        .warn_beyond_plan(R::name, queue_.device(), Library<T>::library_name, bytes_of(asked),
                          bytes_of(planned_elements(rows, columns, count)), [&] {
                            return join_text({function_, " of ", count, count == 1 ? " matrix of " : " matrices of ",
                                              rows, " x ", columns, " ", name(dtype_of<T>)});
                          });
    return Working<T>{device_, asked};
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
            T* to, const MatrixSteps& to_steps, KeptPart part = KeptPart::all,
            Conjugated conjugated = Conjugated::no) const {
    const std::int64_t elements = count * rows * columns;
    enqueue(queue_, MoveMatrices<T>{}, kernel::gpu::one_thread_each(elements),
            MatrixMove<T>{from, from_steps, to, to_steps, part, conjugated, elements,
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

  /// LU factors in place of column-major matrices, and the rows that were exchanged, from 1. Zero pivots are no errors.
  void factorise(const Stack& stack, T* columns, int* exchanged) const {
    const std::int64_t n = stack.rows;
    const Working<int> infos{device_, stack.count};
    const Library<T> library = library_for(stack);
    if (is_batched(stack, most_batched_rows(stack.count))) {
      const Working<T*> matrices = addresses(columns, n * n, stack.count);
      library.getrf_batched(n, matrices.data, exchanged, infos.data);
    } else {
      const Working<T> work = working(library.getrf_size(n, columns), n, n);
      for (std::int64_t i = 0; i < stack.count; ++i)
        library.getrf(n, columns + i * n * n, work.data, exchanged + i * n, infos.data + i);
    }
  }

  /// Pivots from 0 and the parity of exchanges, of the rows that the library exchanged; either may be null.
  void read_pivots(const Stack& stack, const int* exchanged, std::int64_t* pivots, T* parity) const {
    enqueue(queue_, ReadPivots<T>{}, kernel::gpu::one_thread_each(stack.count),
            PivotLists<T>{exchanged, pivots, parity, stack.rows, stack.count});
  }

  /// X op(A) = B in place of B, as the library sees them: B is k x n for a stack of n x k.
  template <class Triangle = typename Library<T>::Triangle>
  void solve_right(const Triangle& triangle, const Stack& stack, T* a, T* b) const {
    const std::int64_t n = stack.rows;
    const std::int64_t k = stack.columns;
    const Library<T> library = library_for(stack);
    if (stack.count == 1) return library.trsm_right(triangle, k, n, a, b);
    const Working<T*> matrices = addresses(a, n * n, stack.count);
    const Working<T*> sides = addresses(b, n * k, stack.count);
    library.trsm_right_batched(triangle, k, n, matrices.data, sides.data);
  }

  void exchange_rows(const Stack& stack, const std::int64_t* pivots, T* x, bool is_reversed) const {
    const std::int64_t count = stack.count * stack.columns;
    enqueue(queue_, ExchangeRows<T>{}, kernel::gpu::one_thread_each(count),
            RowExchanges<T>{x, pivots, stack.rows, stack.columns, count, is_reversed,
                            kernel::gpu::IndexDivisor(stack.columns, count)});
  }

  /// Waits for numbers of the device.
  [[nodiscard]] std::vector<int> read(const int* numbers, std::int64_t count) const {
    std::vector<int> found(static_cast<std::size_t>(count));
    twill::gpu::check<R>(R::copy(found.data(), numbers, found.size() * sizeof(int), queue_.stream()), "copy",
                         queue_.device());
    twill::gpu::check<R>(R::synchronize_stream(queue_.stream()), "synchronize_stream", queue_.device());
    return found;
  }
  /// Waits for the results of a call for each matrix.
  void read(const int* infos, std::int64_t count, FirstFailure& failure) const {
    const std::vector<int> found = read(infos, count);
    for (std::size_t i = 0; i < found.size(); ++i) failure.note(static_cast<std::int64_t>(i), found[i]);
  }

  const Queue& queue_;
  std::string_view function_;
  D device_;
};

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA
