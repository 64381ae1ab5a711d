#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Matrix product as a value, in raw pointers: C = alpha op(A) op(B) + beta C, row-major, in strided batches, and the
// epilogue of a single C in the same kernel. BLAS uses columns: a row-major matrix is its own transpose there, so the
// product is passed as C^T = op(B)^T op(A)^T with the factors exchanged. The exchange, the library's limits, and the
// key of its choice are computed here, without CUDA. Read next: device/cuda/cublas.cuh.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/core/text.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 { namespace nvidia {

/// Operations on P = alpha op(A) op(B) + beta C before it is stored. `bias` has n elements, one for each column, in C's
/// element type. gelu is the tanh form; its argument is kept in `auxiliary`, where the gradient reads it. The gradient
/// of relu reads the result, so nothing is kept for it.
enum class GemmEpilogue : std::uint8_t {
  none,
  bias,               ///< C = P + bias
  relu_bias,          ///< C = relu(P + bias)
  gelu_bias,          ///< C = gelu(P + bias)
  gelu_bias_keep,     ///< gelu_bias, and keeps P + bias
  gelu_gradient_bias, ///< C = P * gelu'(auxiliary), and writes the sums of C's columns to `bias`
  sum_left,           ///< C = P, and writes op(A)'s sums along k, m of them, to `bias`
  sum_right,          ///< C = P, and writes op(B)'s sums along k, n of them, to `bias`
};

[[nodiscard]] constexpr std::string_view name(GemmEpilogue epilogue) {
  constexpr std::string_view names[] = {
      "none", "bias", "relu_bias", "gelu_bias", "gelu_bias_keep", "gelu_gradient_bias", "sum_left", "sum_right"};
  return names[static_cast<int>(epilogue)];
}

/// cublasLtEpilogue_t as numbers; device/cuda/cublas.cuh checks them against the library's header.
[[nodiscard]] constexpr unsigned library_epilogue(GemmEpilogue epilogue) {
  constexpr unsigned keep = 128;
  constexpr unsigned bias = 4;
  constexpr unsigned relu = 2;
  constexpr unsigned gelu = 32;
  constexpr unsigned gelu_gradient = 64;
  constexpr unsigned sums = 16;
  // the factors are exchanged, and so are the sums over them: the library's A is the right one
  constexpr unsigned values[] = {1,   bias, relu | bias, gelu | bias, gelu | bias | keep, gelu_gradient | sums | keep,
                                 512, 256};
  return values[static_cast<int>(epilogue)];
}

[[nodiscard]] constexpr bool uses_bias(GemmEpilogue epilogue) { return epilogue != GemmEpilogue::none; }
[[nodiscard]] constexpr bool uses_auxiliary(GemmEpilogue epilogue) {
  return epilogue == GemmEpilogue::gelu_bias_keep || epilogue == GemmEpilogue::gelu_gradient_bias;
}

/// A factor: row-major with `leading` elements from row to row, transposed or not.
struct GemmFactor {
  const void* data = nullptr;
  std::int64_t leading = 0;
  bool is_transposed = false;
  std::int64_t batch_stride = 0; ///< in elements; 0 repeats it
};

/// op(A) is m x k, op(B) is k x n, C is m x n.
struct Gemm {
  DType dtype = DType::float32; ///< a floating or complex type
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  GemmFactor a{};
  GemmFactor b{};
  void* c = nullptr;
  std::int64_t c_leading = 0;
  std::int64_t c_batch_stride = 0;
  double alpha = 1;
  double beta = 0;
  GemmEpilogue epilogue = GemmEpilogue::none;
  void* bias = nullptr;
  void* auxiliary = nullptr; ///< m x n, rows without gaps
};

/// "product of 3 x 4 by 4 x 5 float32, batch 2, epilogue relu_bias".
[[nodiscard]] std::string to_string(const Gemm& gemm);

/// The reason why the library cannot compute the product; empty when it can.
[[nodiscard]] constexpr std::string_view refusal(const Gemm& gemm) {
  if (!is_fractional(gemm.dtype)) return "the element type is not floating";
  if (gemm.m < 1 || gemm.n < 1 || gemm.k < 1 || gemm.batch < 1) return "an extent is 0";
  if (gemm.a.leading < (gemm.a.is_transposed ? gemm.m : gemm.k)) return "rows of the left factor overlap";
  if (gemm.b.leading < (gemm.b.is_transposed ? gemm.k : gemm.n)) return "rows of the right factor overlap";
  if (gemm.c_leading < gemm.n) return "rows of the result overlap";
  if (gemm.a.batch_stride < 0 || gemm.b.batch_stride < 0 || gemm.c_batch_stride < 0) return "a batch runs backwards";
  if (uses_bias(gemm.epilogue) && gemm.bias == nullptr) return "the epilogue needs a bias";
  if (uses_auxiliary(gemm.epilogue) && gemm.auxiliary == nullptr) return "the epilogue needs an auxiliary buffer";
  if (uses_auxiliary(gemm.epilogue) && gemm.n % 8 != 0) return "rows of the auxiliary buffer are no multiple of 8";
  if (gemm.epilogue != GemmEpilogue::none && gemm.batch > 1) return "an epilogue belongs to one product";
  if (gemm.epilogue != GemmEpilogue::none && is_complex(gemm.dtype)) return "complex products have no epilogues";
  return {};
}

/// A matrix in BLAS's view.
struct ColumnMajor {
  const void* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t leading = 0;
  bool is_transposed = false;
  std::int64_t batch_stride = 0;
};

/// The product in column-major form: its left factor is B.
struct ColumnMajorGemm {
  ColumnMajor left{};
  ColumnMajor right{};
  ColumnMajor result{};
};
[[nodiscard]] constexpr ColumnMajorGemm column_major(const Gemm& gemm) {
  const auto factor = [](const GemmFactor& of, std::int64_t rows, std::int64_t columns) {
    ColumnMajor matrix{of.data, columns, rows, of.leading, of.is_transposed, of.batch_stride};
    if (of.is_transposed) {
      matrix.rows = rows;
      matrix.columns = columns;
    }
    return matrix;
  };
  return {factor(gemm.b, gemm.k, gemm.n),
          factor(gemm.a, gemm.m, gemm.k),
          {gemm.c, gemm.n, gemm.m, gemm.c_leading, false, gemm.c_batch_stride}};
}

/// The largest power of two up to 256 that divides an address: algorithms are chosen by it.
[[nodiscard]] unsigned alignment_of(const void* data);

/// All inputs to the choice of an algorithm. Scalars are not part of it, but whether C is read is.
inline constexpr std::size_t gemm_key_words = 12;
[[nodiscard]] std::array<std::uint64_t, gemm_key_words> key_of(const Gemm& gemm, unsigned option_bits);

}}} // namespace twill::v0::nvidia

#if TWILL_HEADER_ONLY
#include <twill/device/cuda/gemm.ipp>
#endif
