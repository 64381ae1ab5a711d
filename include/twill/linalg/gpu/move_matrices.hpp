#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Small passes around a library's decompositions on a GPU: matrices copied between row-major and column-major order,
// with zeros off a triangle, or conjugated; addresses for batched calls; exchanges of rows; pivots as twill counts
// them. A thread for each element, or for each matrix where a pass is a loop over n. Read next:
// linalg/gpu/decompose.hpp.

#include <twill/core/complex.hpp>
#include <twill/core/dtype.hpp>
#include <twill/kernel/gpu/divisor.hpp>
#include <twill/kernel/gpu/tile.hpp>
#include <twill/linalg/lu.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace linalg { namespace detail {

/// The elements that are copied; zeros are written for the others.
enum class KeptPart : std::uint8_t { all, lower, upper };

/// Whether complex elements are copied with the other sign of their imaginary part.
enum class Conjugated : bool { no, yes };

/// Distances between the elements of matrices in memory.
struct MatrixSteps {
  std::int64_t matrix = 0;
  std::int64_t row = 0;
  std::int64_t column = 1;
};

template <class T> struct MatrixMove {
  const T* from = nullptr;
  MatrixSteps from_steps{};
  T* to = nullptr;
  MatrixSteps to_steps{};
  KeptPart part = KeptPart::all;
  Conjugated conjugated = Conjugated::no;
  std::int64_t count = 0; ///< elements of all matrices
  kernel::gpu::IndexDivisor by_matrix{};
  kernel::gpu::IndexDivisor by_row{};
};

/// Element (i, j) of the result is element (i, j) of the source, its conjugate, or zero.
template <class T> struct MoveMatrices {
  static constexpr int most_threads = kernel::gpu::tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const MatrixMove<T>& p) const {
    kernel::gpu::each_below(block, p.count, [&](std::int64_t i) {
      const auto matrix = p.by_matrix.parts(i);
      const auto place = p.by_row.parts(matrix.rest);
      const auto at = [&](const MatrixSteps& steps) {
        return matrix.quotient * steps.matrix + place.quotient * steps.row + place.rest * steps.column;
      };
      const bool is_kept = p.part == KeptPart::all ||
                           (p.part == KeptPart::lower ? place.rest <= place.quotient : place.rest >= place.quotient);
      T element{0};
      if (is_kept) element = p.from[at(p.from_steps)];
      if constexpr (ComplexScalar<T>) {
        if (p.conjugated == Conjugated::yes) element = conj(element);
      }
      p.to[at(p.to_steps)] = element;
    });
  }
};

template <class T> struct AddressList {
  T* first = nullptr;
  std::int64_t step = 0;
  T** to = nullptr;
  std::int64_t count = 0;
};

/// The addresses of matrices at equal distances.
template <class T> struct WriteAddresses {
  static constexpr int most_threads = kernel::gpu::tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const AddressList<T>& p) const {
    kernel::gpu::each_below(block, p.count, [&](std::int64_t i) { p.to[i] = p.first + i * p.step; });
  }
};

template <class T> struct PivotLists {
  const int* exchanged = nullptr; ///< rows, from 1
  std::int64_t* pivots = nullptr; ///< rows, from 0; may be null
  T* parity = nullptr;            ///< 1, or -1 for an odd number of exchanges; may be null
  std::int64_t n = 0;
  std::int64_t count = 0; ///< matrices
};

/// Pivots of LU factors from the library's.
template <class T> struct ReadPivots {
  static constexpr int most_threads = kernel::gpu::tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const PivotLists<T>& p) const {
    kernel::gpu::each_below(block, p.count, [&](std::int64_t i) {
      bool is_odd = false;
      for (std::int64_t row = 0; row < p.n; ++row) {
        const int other = p.exchanged[i * p.n + row];
        is_odd = is_odd != (other != row + 1);
        if (p.pivots != nullptr) p.pivots[i * p.n + row] = other - 1;
      }
      if (p.parity != nullptr) p.parity[i] = is_odd ? T{-1} : T{1};
    });
  }
};

template <class T> struct DiagonalCheck {
  const T* factors = nullptr;
  int* infos = nullptr;
  std::int64_t n = 0;
  std::int64_t count = 0; ///< matrices
};

/// The first zero pivot of each matrix, counted from 1; 0 where there is none, and of matrices of no rows.
template <class T> struct FindZeroPivots {
  static constexpr int most_threads = kernel::gpu::tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const DiagonalCheck<T>& p) const {
    kernel::gpu::each_below(block, p.count,
                            [&](std::int64_t i) { p.infos[i] = first_zero_pivot(p.factors + i * p.n * p.n, p.n); });
  }
};

template <class T> struct RowExchanges {
  T* x = nullptr;                       ///< (count, n, k)
  const std::int64_t* pivots = nullptr; ///< (count, n)
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t count = 0; ///< columns of all matrices
  bool is_reversed = false;
  kernel::gpu::IndexDivisor by_matrix{};
};

/// Row `pivots[i]` changes places with row i, for i = 0, 1, ... or in reverse order. A thread has a column.
template <class T> struct ExchangeRows {
  static constexpr int most_threads = kernel::gpu::tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const RowExchanges<T>& p) const {
    kernel::gpu::each_below(block, p.count, [&](std::int64_t i) {
      const auto place = p.by_matrix.parts(i);
      T* const column = p.x + place.quotient * p.n * p.k + place.rest;
      const std::int64_t* const pivots = p.pivots + place.quotient * p.n;
      for (std::int64_t step = 0; step < p.n; ++step) {
        const std::int64_t row = p.is_reversed ? p.n - 1 - step : step;
        T* const one = column + row * p.k;
        T* const other = column + pivots[row] * p.k;
        const T kept = *one;
        *one = *other;
        *other = kept;
      }
    });
  }
};

}}}} // namespace twill::v0::linalg::detail
