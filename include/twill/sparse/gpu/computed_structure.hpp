#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Products on a GPU with structures that a model computes, as overloads of those of sparse/gpu/library_products.hpp.
// A library reads what the arrays say, so they are copied before: offsets become their running maximum between 0 and
// the number of entries, and an entry outside of the columns becomes a zero of column 0. Nothing is read by the host,
// so steps can be captured. Read next: sparse/csr_value.hpp.

#include <twill/core/config.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/runtime.hpp>
#include <twill/kernel/gpu/blocks.hpp>
#include <twill/kernel/gpu/divisor.hpp>
#include <twill/kernel/gpu/tile.hpp>
#include <twill/kernel/scan.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/sparse/gpu/library_products.hpp>
#include <twill/sparse/structure.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace sparse { namespace detail {

/// Arrays of a model, and the place for those of a matrix.
template <class T> struct TidyParameters {
  Structure given{};
  kernel::gpu::IndexDivisor rows{}; ///< by the number of a matrix's offsets
  const T* values = nullptr;        ///< null: there are none
  std::int64_t* offsets = nullptr;  ///< the running maximum of those given, which become those of a matrix
  std::int64_t* columns = nullptr;
  T* tidy_values = nullptr;
};

/// One thread for each offset and each entry.
template <class T> struct TidyStructure {
  static constexpr int most_threads = kernel::gpu::tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const TidyParameters<T>& p) const {
    const std::int64_t offsets = p.given.count * (p.given.rows + 1);
    kernel::gpu::each_below(block, offsets + p.given.count * p.given.entries,
                            [&](std::int64_t i) { i < offsets ? tidy_offset(p, i) : tidy_entry(p, i - offsets); });
  }

private:
  static constexpr void tidy_offset(const TidyParameters<T>& p, std::int64_t i) {
    const std::int64_t r = p.rows.parts(i).rest;
    const std::int64_t last = p.given.entries;
    const std::int64_t offset = p.offsets[i];
    p.offsets[i] = r == 0 ? 0 : r == p.given.rows || offset > last ? last : offset < 0 ? 0 : offset;
  }
  static constexpr void tidy_entry(const TidyParameters<T>& p, std::int64_t entry) {
    const std::int64_t column = p.given.column(0, entry); // the entries of all matrices follow each other
    p.columns[entry] = column < 0 ? 0 : column;
    if (p.values != nullptr) p.tidy_values[entry] = column < 0 ? T{} : p.values[entry];
  }
};

/// Zeros for entries outside of the columns.
template <class T> struct ForgetOutside {
  static constexpr int most_threads = kernel::gpu::tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const TidyParameters<T>& p) const {
    kernel::gpu::each_below(block, p.given.count * p.given.entries, [&](std::int64_t entry) {
      if (p.given.column(0, entry) < 0) p.tidy_values[entry] = T{};
    });
  }
};

inline namespace TWILL_ISA {

/// A matrix of what a model computed, in memory of the pool.
template <twill::gpu::Runtime R, class T> class TidyArrays {
  using D = typename ProductLibrary<R>::Device;

public:
  /// requires: rows, columns and entries
  TidyArrays(const twill::gpu::Queue<R>& queue, const Structure& given, const T* values)
      : memory_(D{queue.device()}, bytes(given, values)), tidy_{given}, values_{values} {
    auto* const offsets = static_cast<std::int64_t*>(memory_.data());
    auto* const columns = offsets + padded(given.count * (given.rows + 1));
    auto* const tidy_values = reinterpret_cast<T*>(columns + padded(given.count * given.entries));
    kernel::running<kernel::Running<kernel::Reduction::max>>(queue, given.row_offsets, offsets,
                                                             kernel::ScanShape{given.count, given.rows + 1, 1});
    TidyParameters<T> p{};
    p.given = given;
    p.rows = kernel::gpu::IndexDivisor(given.rows + 1, given.count * (given.rows + 1));
    p.values = values;
    p.offsets = offsets;
    p.columns = columns;
    p.tidy_values = tidy_values;
    enqueue(queue, TidyStructure<T>{}, kernel::gpu::one_thread_each(given.count * (given.rows + 1 + given.entries)), p);
    tidy_.row_offsets = offsets;
    tidy_.column_indices = columns;
    if (values != nullptr) values_ = tidy_values;
  }

  [[nodiscard]] const Structure& structure() const { return tidy_; }
  [[nodiscard]] const T* values() const { return values_; }

private:
  /// A multiple of the library's alignment.
  static constexpr std::int64_t padded(std::int64_t indices) { return (indices + 1) / 2 * 2; }
  static constexpr std::size_t bytes(const Structure& a, const T* values) {
    const std::int64_t indices = padded(a.count * (a.rows + 1)) + padded(a.count * a.entries);
    const std::int64_t numbers = values != nullptr ? a.count * a.entries : 0;
    return static_cast<std::size_t>(indices) * sizeof(std::int64_t) + static_cast<std::size_t>(numbers) * sizeof(T);
  }

  memory::Buffer<D> memory_;
  Structure tidy_;
  const T* values_;
};

/// Whether a matrix has no elements, so that its products are zeros whatever the arrays say.
[[nodiscard]] constexpr bool is_empty(const Structure& a) { return a.rows == 0 || a.columns == 0 || a.entries == 0; }

/// The matrix without entries, of which the arrays are not read.
[[nodiscard]] constexpr Structure emptied(Structure a) {
  a.entries = 0;
  return a;
}

} // namespace TWILL_ISA
}}}} // namespace twill::v0::sparse::detail

namespace twill { inline namespace v0 { namespace sparse { inline namespace TWILL_ISA {

/// y = A x for matrices x (columns, width) and y (rows, width).
template <twill::gpu::Runtime R, class T>
void multiply(const twill::gpu::Queue<R>& queue, const ComputedStructure& a, const T* values, const T* x,
              std::int64_t width, T* y) {
  if (detail::is_empty(a.arrays)) return multiply(queue, detail::emptied(a.arrays), values, x, width, y);
  const detail::TidyArrays<R, T> tidy(queue, a.arrays, values);
  multiply(queue, tidy.structure(), tidy.values(), x, width, y);
}

/// y = A^T x for matrices x (rows, width) and y (columns, width).
/// throws: ValueError under `LibraryOptions::is_deterministic`, since the library adds up in any order
template <twill::gpu::Runtime R, class T>
void multiply_transposed(const twill::gpu::Queue<R>& queue, const ComputedStructure& a, const T* values, const T* x,
                         std::int64_t width, T* y) {
  if (detail::is_empty(a.arrays)) return multiply_transposed(queue, detail::emptied(a.arrays), values, x, width, y);
  const detail::TidyArrays<R, T> tidy(queue, a.arrays, values);
  multiply_transposed(queue, tidy.structure(), tidy.values(), x, width, y);
}

/// s[entry] = sum over i of x[row, i] y[column, i] for the row and the column of each entry, 0 outside of the columns.
template <twill::gpu::Runtime R, class T>
void multiply_sampled(const twill::gpu::Queue<R>& queue, const ComputedStructure& a, const T* x, const T* y,
                      std::int64_t width, T* s) {
  const std::int64_t entries = a.arrays.count * a.arrays.entries;
  if (detail::is_empty(a.arrays)) {
    if (entries > 0)
      twill::gpu::check<R>(R::fill(s, 0, static_cast<std::size_t>(entries) * sizeof(T), queue.stream()), "fill",
                           queue.device());
    return;
  }
  const detail::TidyArrays<R, T> tidy(queue, a.arrays, static_cast<const T*>(nullptr));
  multiply_sampled(queue, tidy.structure(), x, y, width, s);
  detail::TidyParameters<T> p{};
  p.given = a.arrays;
  p.tidy_values = s;
  enqueue(queue, detail::ForgetOutside<T>{}, kernel::gpu::one_thread_each(entries), p);
}

}}}} // namespace twill::v0::sparse::TWILL_ISA
