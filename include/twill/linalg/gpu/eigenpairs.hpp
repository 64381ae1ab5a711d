#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Eigenvalues and eigenvectors of general matrices on a GPU by a library's geev, which takes one column-major matrix
// after another and gives the vectors of a real one as LAPACK does: real and imaginary parts of a conjugate pair in two
// columns. The host waits, first to refuse elements that are not finite. Read next: linalg/gpu/matrices.hpp,
// device/cuda/cusolver_geev.cuh.

#include <twill/core/complex.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/kernel/gpu/divisor.hpp>
#include <twill/kernel/gpu/tile.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/eigh.hpp>
#include <twill/linalg/gpu/matrices.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace linalg { namespace detail {

template <class R> struct FiniteCheck {
  const R* from = nullptr;
  int* broken = nullptr;
  std::int64_t length = 0; ///< numbers of a row
  std::int64_t count = 0;  ///< rows
};

/// Whether a row has a number that is not finite.
template <class R> struct FindBroken {
  static constexpr int most_threads = kernel::gpu::tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const FiniteCheck<R>& p) const {
    kernel::gpu::each_below(block, p.count, [&](std::int64_t i) {
      bool is_broken = false;
      for (std::int64_t k = 0; k < p.length; ++k) {
        const R value = p.from[i * p.length + k];
        is_broken = is_broken || !(value - value == 0);
      }
      p.broken[i] = is_broken ? 1 : 0;
    });
  }
};

template <class R> struct EigenvectorColumns {
  const R* columns = nullptr;
  const Complex<R>* values = nullptr;
  Complex<R>* to = nullptr; ///< row-major
  std::int64_t n = 0;
  std::int64_t count = 0; ///< elements
  kernel::gpu::IndexDivisor by_matrix{};
  kernel::gpu::IndexDivisor by_row{};
};

/// Complex vectors of real matrices: two columns are the parts of the vector of the eigenvalue that has a positive
/// imaginary part, and its conjugate follows.
template <class R> struct WriteEigenvectors {
  static constexpr int most_threads = kernel::gpu::tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const EigenvectorColumns<R>& p) const {
    kernel::gpu::each_below(block, p.count, [&](std::int64_t i) {
      const auto matrix = p.by_matrix.parts(i);
      const auto place = p.by_row.parts(matrix.rest);
      const std::int64_t j = place.rest;
      const R* const row = p.columns + matrix.quotient * p.n * p.n + place.quotient;
      const R sign = p.values[matrix.quotient * p.n + j].im;
      if (sign > 0 && j + 1 < p.n)
        p.to[i] = Complex<R>{row[j * p.n], row[(j + 1) * p.n]};
      else if (sign < 0 && j > 0)
        p.to[i] = Complex<R>{row[(j - 1) * p.n], -row[j * p.n]};
      else
        p.to[i] = Complex<R>{row[j * p.n]};
    });
  }
};

inline namespace TWILL_ISA {

/// Eigenvalues of a stack of matrices of T, and eigenvectors unless there is no place for them. The library has `geev`.
template <template <class> class Library, twill::gpu::GpuDevice D, class T>
class GpuEigenpairs : GpuMatrices<Library, D, T> {
  using Base = GpuMatrices<Library, D, T>;
  using R = real_t<T>;
  using LibraryVectors = typename Library<T>::Vectors;
  template <class U> using Working = WorkingElements<U, D>;
  using Base::column_major;
  using Base::device_;
  using Base::queue_;
  using Base::row_major;

public:
  /// throws: CaptureError while this thread records a graph
  GpuEigenpairs(const typename Base::Queue& queue, std::string_view function) : Base{queue, function} {}

  /// requires: matrices with elements    throws: LinAlgError (elements that are not finite, no convergence)
  void operator()(const Stack& stack, const T* from, Complex<R>* values, Complex<R>* vectors) const {
    refuse_broken(stack, from);
    const std::int64_t n = stack.rows;
    const std::int64_t elements = stack.count * n * n;
    const Working<T> columns{device_, elements};
    const Working<T> found{device_, vectors != nullptr ? elements : 0};
    this->move(stack.count, n, n, from, row_major(n, n), columns.data, column_major(n, n));
    FirstFailure failure{};
    call(stack, columns.data, values, vectors != nullptr ? found.data : nullptr, failure);
    if (failure.any()) throw_without_eigenvalues(this->function_, failure, stack.count);
    if (vectors == nullptr) return;
    if constexpr (ComplexScalar<T>)
      this->move(stack.count, n, n, found.data, column_major(n, n), vectors, row_major(n, n));
    else
      enqueue(queue_, WriteEigenvectors<R>{}, kernel::gpu::one_thread_each(elements),
              EigenvectorColumns<R>{found.data, values, vectors, n, elements,
                                    kernel::gpu::IndexDivisor(n * n, elements),
                                    kernel::gpu::IndexDivisor(n, elements)});
  }

private:
  void refuse_broken(const Stack& stack, const T* from) const {
    const std::int64_t rows = stack.count * stack.rows;
    const Working<int> broken{device_, rows};
    const std::int64_t parts = ComplexScalar<T> ? 2 : 1;
    enqueue(queue_, FindBroken<R>{}, kernel::gpu::one_thread_each(rows),
            FiniteCheck<R>{reinterpret_cast<const R*>(from), broken.data, stack.rows * parts, rows});
    const std::vector<int> of_rows = this->read(broken.data, rows);
    FirstFailure failure{};
    for (std::int64_t row = 0; row < rows; ++row)
      failure.note(row / stack.rows, of_rows[static_cast<std::size_t>(row)]);
    if (failure.any()) throw_not_finite(this->function_, failure, stack.count);
  }

  /// Calls the library for each matrix, and waits.
  void call(const Stack& stack, T* columns, Complex<R>* values, T* found, FirstFailure& failure) const {
    const std::int64_t n = stack.rows;
    const auto wanted = found != nullptr ? LibraryVectors::yes : LibraryVectors::no;
    const Working<int> infos{device_, stack.count};
    const Library<T> library = this->library_for(stack);
    const auto sizes = library.geev_sizes(wanted, n, columns, values, found);
    const Working<std::byte> work{device_, static_cast<std::int64_t>(sizes.device_bytes)};
    std::vector<std::byte> host_work(sizes.host_bytes);
    for (std::int64_t i = 0; i < stack.count; ++i)
      library.geev(wanted, n, columns + i * n * n, values + i * n, found != nullptr ? found + i * n * n : nullptr,
                   work.data, host_work.data(), sizes, infos.data + i);
    this->read(infos.data, stack.count, failure);
  }
};

} // namespace TWILL_ISA
}}}} // namespace twill::v0::linalg::detail
