#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Product with a CSR matrix as a value, in raw pointers, for a vendor's library: A X, A^T X, or the elements of X Y^T
// at A's non-zeros. Dense matrices are row-major without gaps. The key of a problem and the text of an error are made
// here, without CUDA. Not in the umbrella. Read next: device/cuda/cusparse.cuh.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/text.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace twill { inline namespace v0 { namespace nvidia {

/// The operands and the result of a product with a sparse matrix.
enum class SparseKind : std::uint8_t {
  plain,      ///< A X for X (columns, width)
  transposed, ///< A^T X for X (rows, width)
  sampled,    ///< the elements of X Y^T at A's non-zeros for X (rows, width) and Y (columns, width)
};

/// A product with a matrix A (rows, columns) of `entries` non-zeros, whose indices are int64 and begin at 0.
struct SparseProduct {
  SparseKind kind = SparseKind::plain;
  DType dtype = DType::float32;                 ///< of all numbers: float32 or float64
  std::int64_t rows = 0;                        ///< of A
  std::int64_t columns = 0;                     ///< of A
  std::int64_t entries = 0;                     ///< of A
  std::int64_t width = 1;                       ///< columns of the dense operands
  const std::int64_t* row_offsets = nullptr;    ///< (rows + 1)
  const std::int64_t* column_indices = nullptr; ///< (entries)
  const void* values = nullptr;                 ///< (entries); a sampled product has none
  const void* x = nullptr;
  const void* y = nullptr; ///< of a sampled product
  void* result = nullptr;

  [[nodiscard]] constexpr std::int64_t x_rows() const { return kind == SparseKind::plain ? columns : rows; }
  [[nodiscard]] constexpr std::int64_t result_rows() const { return kind == SparseKind::plain ? rows : columns; }
  /// The elements of the result.
  [[nodiscard]] constexpr std::int64_t result_elements() const {
    return kind == SparseKind::sampled ? entries : result_rows() * width;
  }
};

/// Numbers that describe a problem.
inline constexpr std::size_t sparse_key_words = 5;
[[nodiscard]] constexpr std::array<std::uint64_t, sparse_key_words> key_of(const SparseProduct& p) {
  const auto word = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
  return {static_cast<std::uint64_t>(p.kind) | (p.dtype == DType::float64 ? 4U : 0U), word(p.rows), word(p.columns),
          word(p.entries), word(p.width)};
}

/// "product of a sparse matrix of 20 x 30 with 55 non-zeros by 30 x 4 float32".
[[nodiscard]] TWILL_COLD inline std::string to_string(const SparseProduct& p) {
  if (p.kind == SparseKind::sampled)
    return join_text({"product of ", p.rows, " x ", p.width, " by ", p.width, " x ", p.columns, " ", name(p.dtype),
                      " at the ", p.entries, " non-zeros of a sparse matrix"});
  return join_text({p.kind == SparseKind::transposed ? "transposed product" : "product", " of a sparse matrix of ",
                    p.rows, " x ", p.columns, " with ", p.entries, " non-zeros by ", p.x_rows(), " x ", p.width, " ",
                    name(p.dtype)});
}

}}} // namespace twill::v0::nvidia
