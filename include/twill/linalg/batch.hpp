#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stacks of matrices: the last two axes are a matrix, those before them count the stack. Shape rules that all functions
// of linalg/ share, the loop over a stack on a host's threads, and errors that name the matrix. Read next:
// linalg/lu.hpp.

#include <twill/compile/program_type.hpp>
#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/operation.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/graph/shape_functions.hpp>
#include <twill/kernel/blocks.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/scratch.hpp>
#include <twill/linalg/lapack.hpp>
#include <twill/linalg/working_bytes.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 {

/// A matrix that a decomposition or a solver cannot take: singular, not positive definite, without convergence. The
/// name is NumPy's and PyTorch's.
class TWILL_EXPORT LinAlgError : public NumericError {
  using NumericError::NumericError;
};

}} // namespace twill::v0

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

using graph::Extent;
using graph::Extents;
using graph::Graph;
using graph::Problem;
using graph::Value;

/// The last two extents of a shape.
[[nodiscard]] constexpr Extent rows_of(const Extents& shape) { return shape[shape.rank - 2]; }
[[nodiscard]] constexpr Extent columns_of(const Extents& shape) { return shape[shape.rank - 1]; }

/// The shape with other last two extents.
[[nodiscard]] TWILL_CONSTEXPR Extents with_matrix(Extents shape, Extent rows, Extent columns) {
  shape[shape.rank - 2] = rows;
  shape[shape.rank - 1] = columns;
  return shape;
}

/// The shape with one extent in place of the last two: a vector for each matrix.
[[nodiscard]] TWILL_CONSTEXPR Extents with_vector(Extents shape, Extent length) {
  shape.rank -= 1;
  shape[shape.rank - 1] = length;
  return shape;
}

/// The shape of the stack, without the matrix.
[[nodiscard]] TWILL_CONSTEXPR Extents stack_of(Extents shape) {
  shape.rank -= 2;
  return shape;
}

/// An operand in float32 or float64: integers become float32. errors: fewer than two axes, 16 bits
[[nodiscard]] TWILL_CONSTEXPR Value checked_matrix(Value a, CallSite site) {
  if (a.rank() < 2) a.graph().refuse(Problem::matrix_needs_two_axes, a.rank(), 2, site);
  a = cast(a, floating_type(a.dtype()));
  if (a.dtype() != DType::float32 && a.dtype() != DType::float64)
    a.graph().refuse(Problem::matrix_is_neither_float32_nor_float64, static_cast<int>(a.dtype()), 0, site);
  return a;
}

/// An operand whose matrices are square.
[[nodiscard]] TWILL_CONSTEXPR Value checked_square(Value a, CallSite site) {
  a = checked_matrix(a, site);
  if (a.graph().fault.any()) return a;
  const Extent rows = rows_of(a.shape());
  const Extent columns = columns_of(a.shape());
  if (!unify(a.graph(), rows, columns))
    a.graph().refuse(Problem::matrix_is_not_square, rows.factor, columns.factor, site);
  return a;
}

/// Which extent of a matrix is the smaller one, where the compiler does not know both.
enum class Proportion : std::uint8_t {
  known, ///< by the extents
  tall,  ///< at least as many rows as columns
  wide,  ///< at least as many columns as rows
};

/// The smaller extent of matrices. errors: it is not known
template <Proportion P> [[nodiscard]] constexpr Extent smaller_extent(Value a, CallSite site) {
  const Extent m = rows_of(a.shape());
  const Extent n = columns_of(a.shape());
  if (P != Proportion::known) return P == Proportion::tall ? n : m;
  if (!(m == n) && !(m.is_static() && n.is_static()))
    a.graph().refuse(Problem::matrix_needs_a_proportion_tall_or_wide, 0, 0, site);
  return m == n || m.factor < n.factor ? m : n;
}

/// What a function does with a matrix that it cannot take.
enum class OnFailure : bool {
  throws,  ///< LinAlgError
  reports, ///< writes LAPACK's info for each matrix, int32
};

/// Whether element (row, column) is on the diagonal.
[[nodiscard]] TWILL_CONSTEXPR Value on_diagonal(Graph& graph, Extent rows, Extent columns) {
  Extents down{};
  down.append(rows);
  Extents across{};
  across.append(columns);
  return iota(graph, across) == unsqueeze(iota(graph, down), -1);
}
[[nodiscard]] TWILL_CONSTEXPR Value on_diagonal(Value a) {
  return on_diagonal(a.graph(), rows_of(a.shape()), columns_of(a.shape()));
}

/// Stacks of vectors as columns of matrices of one, and as rows.
[[nodiscard]] TWILL_CONSTEXPR Value as_column(Value v) { return unsqueeze(v, -1); }
[[nodiscard]] TWILL_CONSTEXPR Value as_row(Value v) { return unsqueeze(v, -2); }

/// The diagonals of square matrices.
[[nodiscard]] TWILL_CONSTEXPR Value diagonal_of(Value a) { return sum(where(on_diagonal(a), a, 0), {-1}); }

/// Square matrices with these diagonals.
[[nodiscard]] TWILL_CONSTEXPR Value diagonal_matrix(Value d) {
  const Extent n = d.shape()[d.rank() - 1];
  return where(on_diagonal(d.graph(), n, n), as_row(d), 0);
}

/// Identity matrices of the shape and type of a stack of square matrices.
[[nodiscard]] TWILL_CONSTEXPR Value identity_like(Value a) {
  return broadcast_to(cast(on_diagonal(a), a.dtype()), a.shape());
}

}}}} // namespace twill::v0::linalg::TWILL_ISA

namespace twill { inline namespace v0 { namespace linalg { namespace detail { inline namespace TWILL_ISA {

/// The first matrix of a stack for which LAPACK reported something, in the stack's order whatever the threads do.
class FirstFailure {
public:
  void note(std::int64_t matrix, int info) {
    if (info == 0) return;
    const std::lock_guard lock{mutex_};
    if (matrix_ >= 0 && matrix_ <= matrix) return;
    matrix_ = matrix;
    info_ = info;
  }
  [[nodiscard]] bool any() const { return matrix_ >= 0; }
  /// "solve: matrix 3 of 8 ": what follows says what is wrong with it.
  [[nodiscard]] std::string text(std::string_view function, std::int64_t count) const {
    return std::string{function} + (count == 1
                                        ? ": the matrix "
                                        : ": matrix " + std::to_string(matrix_) + " of " + std::to_string(count) + ' ');
  }
  [[nodiscard]] int info() const { return info_; }

private:
  std::mutex mutex_{};
  std::int64_t matrix_ = -1;
  int info_ = 0;
};

/// Operations and functions on a kind of GPU's queue, which its header specialises.
template <class Queue> struct MatricesOn {
  template <const graph::Operation* O, class T> static void run(const Queue&, const kernel::Launch&) {
    static_assert(sizeof(T) == 0,
                  "twill: linalg: on CUDA devices decompositions are cuSOLVER's; include "
                  "<twill/linalg/cuda/matrices.cuh> in a program for which CMake found cuSOLVER (TWILL_WITH_CUSOLVER)");
  }
  /// Eigenvalues of general matrices and, unless they are null, eigenvectors, both complex.
  template <class T, class Z> static void eigenpairs(const Queue&, std::string_view, const Stack&, const T*, Z*, Z*) {
    static_assert(sizeof(T) == 0,
                  "twill: eig: on CUDA devices eigenvalues are cuSOLVER's; include <twill/linalg/cuda/matrices.cuh> in "
                  "a program for which CMake found cuSOLVER (TWILL_WITH_CUSOLVER)");
  }
};

/// The kernel of an operation for queues: the base of that for hosts, which adds it by `using ForQueues::run`.
template <const graph::Operation* O> struct QueueKernel {
  using ForQueues = QueueKernel;

  template <class T, class Queue>
  requires(!std::same_as<Queue, Team>) static void run(const Queue& queue, const kernel::Launch& launch) {
    MatricesOn<Queue>::template run<O, T>(queue, launch);
  }
};

/// Calls `f(i)` for the matrices of a stack, shared among the threads where their work is worth it.
template <class F> void for_each_matrix(const Team& team, const Stack& stack, const F& f) {
  const std::int64_t work = stack.count * stack.rows * stack.columns * (stack.rows + stack.columns);
  kernel::share_out(team, stack.count, work, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) f(i);
  });
}

/// The calling thread's working memory for LAPACK.
template <class T> struct Workspace {
  Workspace(std::int64_t count, std::int64_t integer_count)
      : elements{kernel::Scratch::of_thread<T>(count)},
        integers{kernel::Scratch::of_thread<int, kernel::ScratchSlot::parts>(integer_count)} {}

  /// Takes as much in every thread of a team.
  static void reserve(const Team& team, std::int64_t count, std::int64_t integer_count) {
    team.parallel([&](int, int) {
      kernel::Scratch::reserve<T>(count);
      kernel::Scratch::reserve<int, kernel::ScratchSlot::parts>(integer_count);
    });
  }

  T* elements = nullptr;
  int* integers = nullptr;
};

/// The smaller extent, as a result has it. throws: ShapeError when it is not, by the proportion that the caller named
[[nodiscard]] inline std::int64_t checked_smaller(std::string_view function, const Stack& stack, std::int64_t k) {
  if (k != std::min(stack.rows, stack.columns))
    throw ShapeError(std::string(function) + ": a matrix of " + std::to_string(stack.rows) + " x " +
                     std::to_string(stack.columns) + " is not " + (k == stack.columns ? "tall" : "wide"));
  return k;
}

/// Transposes a square matrix in place.
template <class T> void transpose_in_place(T* a, std::int64_t n) {
  constexpr std::int64_t block = 16; // two of them fit the first-level cache
  for (std::int64_t top = 0; top < n; top += block)
    for (std::int64_t left = 0; left <= top; left += block)
      for (std::int64_t i = top; i < std::min(n, top + block); ++i)
        for (std::int64_t j = left; j < std::min(i, left + block); ++j) std::swap(a[i * n + j], a[j * n + i]);
}

}}}}} // namespace twill::v0::linalg::detail::TWILL_ISA
