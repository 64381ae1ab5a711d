// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for the entry points of cuBLASLt that programs on the CUDA runtime stand-in call: products by three loops in
// float64, run as an operation of the stream. It refuses descriptions that cuBLASLt refuses, so that a wrong leading
// dimension, type or epilogue is found without a GPU. Matrices are column-major, as in cuBLAS's manual.
#include <ptxrun/libraries/numbers.hpp>
#include <ptxrun/runtime/streams.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <vector>

#include <cublasLt.h>
#include <cuda_runtime_api.h>

namespace {

using ptxrun::libraries::bytes_of;
using ptxrun::libraries::is_complex;
using ptxrun::libraries::read_complex;
using ptxrun::libraries::read_number;
using ptxrun::libraries::write_complex;
using ptxrun::libraries::write_number;

/// What the library keeps in its opaque descriptors, in their place.
struct MatrixLayout {
  cudaDataType type = CUDA_R_32F;
  std::int32_t batch = 1;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int64_t leading = 0;
  std::int64_t batch_stride = 0;
};
struct ProductDescription {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType scale = CUDA_R_32F;
  std::int32_t transposes_a = CUBLAS_OP_N;
  std::int32_t transposes_b = CUBLAS_OP_N;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void* bias = nullptr;
  std::int64_t bias_stride = 0;
  void* auxiliary = nullptr;
  std::int64_t auxiliary_leading = 0;
  std::int64_t auxiliary_stride = 0;
};
static_assert(sizeof(MatrixLayout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(ProductDescription) <= sizeof(cublasLtMatmulDescOpaque_t));

// The bits that cuBLASLt's epilogues are made of.
constexpr std::uint32_t relu = 2;
constexpr std::uint32_t bias = 4;
constexpr std::uint32_t relu_gradient = 8;
constexpr std::uint32_t bias_gradient = 16;
constexpr std::uint32_t gelu = 32;
constexpr std::uint32_t gelu_gradient = 64;
constexpr std::uint32_t auxiliary = 128;
constexpr std::uint32_t bias_gradient_of_a = 256;
constexpr std::uint32_t bias_gradient_of_b = 512;
static_assert(CUBLASLT_EPILOGUE_GELU_AUX_BIAS == (gelu | bias | auxiliary));
static_assert(CUBLASLT_EPILOGUE_DGELU_BGRAD == (gelu_gradient | bias_gradient | auxiliary));
static_assert(CUBLASLT_EPILOGUE_DRELU_BGRAD == (relu_gradient | bias_gradient | auxiliary));
static_assert(CUBLASLT_EPILOGUE_BGRADA == bias_gradient_of_a && CUBLASLT_EPILOGUE_BGRADB == bias_gradient_of_b);

// gelu(x) = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), the form of cuBLASLt
constexpr double gelu_factor = 0.7978845608028654;
constexpr double gelu_cubic = 0.044715;

double gelu_of(double x) { return 0.5 * x * (1 + std::tanh(gelu_factor * (x + gelu_cubic * x * x * x))); }

double gelu_slope(double x) {
  const double t = std::tanh(gelu_factor * (x + gelu_cubic * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * gelu_factor * (1 + 3 * gelu_cubic * x * x);
}

struct Product {
  ProductDescription description{};
  MatrixLayout a{}, b{}, c{}, d{};
  std::complex<double> alpha = 1;
  std::complex<double> beta = 0;
  const char* a_at = nullptr;
  const char* b_at = nullptr;
  const char* c_at = nullptr;
  char* d_at = nullptr;

  void run() const {
    for (std::int64_t batch = 0; batch < d.batch; ++batch) is_complex(d.type) ? run_complex(batch) : run_one(batch);
  }

private:
  using Matrix = std::vector<double>;

  /// op(A) by rows, or op(B) by columns: the summed dimension is innermost in both.
  static Matrix unpacked(const char* first, const MatrixLayout& layout, bool summed_is_rows) {
    const auto lines = static_cast<std::int64_t>(summed_is_rows ? layout.columns : layout.rows);
    const auto summed = static_cast<std::int64_t>(summed_is_rows ? layout.rows : layout.columns);
    Matrix all(static_cast<std::size_t>(lines * summed));
    for (std::int64_t line = 0; line < lines; ++line)
      for (std::int64_t k = 0; k < summed; ++k)
        all[static_cast<std::size_t>(line * summed + k)] =
            read_number(first, layout.type, summed_is_rows ? line * layout.leading + k : k * layout.leading + line);
    return all;
  }

  static const char* of_batch(const char* first, const MatrixLayout& layout, std::int64_t batch) {
    return first + batch * layout.batch_stride * bytes_of(layout.type);
  }

  void run_one(std::int64_t batch) const {
    const std::uint32_t epilogue = description.epilogue;
    const auto rows = static_cast<std::int64_t>(d.rows), columns = static_cast<std::int64_t>(d.columns);
    const bool transposes_a = description.transposes_a != CUBLAS_OP_N,
               transposes_b = description.transposes_b != CUBLAS_OP_N;
    const auto summed = static_cast<std::int64_t>(transposes_a ? a.rows : a.columns);
    const Matrix left = unpacked(of_batch(a_at, a, batch), a, transposes_a);
    const Matrix right = unpacked(of_batch(b_at, b, batch), b, !transposes_b);
    char* const results = d_at + batch * d.batch_stride * bytes_of(d.type);
    char* const biases = static_cast<char*>(description.bias) + batch * description.bias_stride * bytes_of(d.type);
    std::vector<double> sums(static_cast<std::size_t>(rows)); // of the results' rows
    for (std::int64_t column = 0; column < columns; ++column)
      for (std::int64_t row = 0; row < rows; ++row) {
        // d = epilogue(alpha * op(a) op(b) + beta * c)
        double sum = 0;
        for (std::int64_t k = 0; k < summed; ++k)
          sum +=
              left[static_cast<std::size_t>(row * summed + k)] * right[static_cast<std::size_t>(column * summed + k)];
        double value = alpha.real() * sum;
        if (beta != 0.0) value += beta.real() * read_number(of_batch(c_at, c, batch), c.type, column * c.leading + row);
        if ((epilogue & bias) != 0) value += read_number(biases, d.type, row);
        value = activated(value, batch, column * description.auxiliary_leading + row);
        write_number(results, d.type, column * d.leading + row, value);
        sums[static_cast<std::size_t>(row)] += value;
      }
    if ((epilogue & bias_gradient) != 0)
      for (std::int64_t row = 0; row < rows; ++row)
        write_number(biases, d.type, row, sums[static_cast<std::size_t>(row)]);
    if ((epilogue & bias_gradient_of_a) != 0) write_line_sums(biases, left, rows, summed);
    if ((epilogue & bias_gradient_of_b) != 0) write_line_sums(biases, right, columns, summed);
  }

  /// Without an epilogue, which complex products do not have.
  void run_complex(std::int64_t batch) const {
    const auto element = [&](const char* first, const MatrixLayout& layout, std::int32_t operation, std::int64_t row,
                             std::int64_t column) {
      const std::int64_t place =
          operation == CUBLAS_OP_N ? column * layout.leading + row : row * layout.leading + column;
      const std::complex<double> number = read_complex(of_batch(first, layout, batch), layout.type, place);
      return operation == CUBLAS_OP_C ? std::conj(number) : number;
    };
    char* const results = d_at + batch * d.batch_stride * bytes_of(d.type);
    const auto summed = static_cast<std::int64_t>(description.transposes_a != CUBLAS_OP_N ? a.rows : a.columns);
    for (std::int64_t column = 0; column < static_cast<std::int64_t>(d.columns); ++column)
      for (std::int64_t row = 0; row < static_cast<std::int64_t>(d.rows); ++row) {
        std::complex<double> sum = 0;
        for (std::int64_t k = 0; k < summed; ++k)
          sum += element(a_at, a, description.transposes_a, row, k) *
                 element(b_at, b, description.transposes_b, k, column);
        std::complex<double> value = alpha * sum;
        if (beta != 0.0) value += beta * element(c_at, c, CUBLAS_OP_N, row, column);
        write_complex(results, d.type, column * d.leading + row, value);
      }
  }

  /// The activation or its gradient at a place of the auxiliary matrix: bits for ReLU, numbers for GELU.
  double activated(double value, std::int64_t batch, std::int64_t place) const {
    const std::uint32_t epilogue = description.epilogue;
    const bool stores = (epilogue & auxiliary) != 0;
    if ((epilogue & (relu | relu_gradient)) != 0) {
      auto* const bits = static_cast<std::uint8_t*>(description.auxiliary) + batch * description.auxiliary_stride / 8;
      const auto bit = static_cast<std::uint8_t>(1U << (place % 8));
      if ((epilogue & relu_gradient) != 0) return (bits[place / 8] & bit) != 0 ? value : 0;
      const bool is_kept = value > 0;
      if (stores) bits[place / 8] = static_cast<std::uint8_t>(is_kept ? bits[place / 8] | bit : bits[place / 8] & ~bit);
      return is_kept || value != value ? value : 0;
    }
    if ((epilogue & (gelu | gelu_gradient)) == 0) return value;
    char* const inputs =
        static_cast<char*>(description.auxiliary) + batch * description.auxiliary_stride * bytes_of(d.type);
    if ((epilogue & gelu_gradient) != 0) return value * gelu_slope(read_number(inputs, d.type, place));
    if (stores) write_number(inputs, d.type, place, value);
    return gelu_of(value);
  }

  void write_line_sums(char* to, const Matrix& matrix, std::int64_t lines, std::int64_t summed) const {
    for (std::int64_t line = 0; line < lines; ++line) {
      double sum = 0;
      for (std::int64_t k = 0; k < summed; ++k) sum += matrix[static_cast<std::size_t>(line * summed + k)];
      write_number(to, d.type, line, sum);
    }
  }
};

cublasStatus_t status_of(const ProductDescription& description, const MatrixLayout& a, const MatrixLayout& b,
                         const MatrixLayout& d) {
  const bool transposes_a = description.transposes_a != CUBLAS_OP_N,
             transposes_b = description.transposes_b != CUBLAS_OP_N;
  const bool fits = (transposes_a ? a.columns : a.rows) == d.rows && (transposes_b ? b.rows : b.columns) == d.columns &&
                    (transposes_a ? a.rows : a.columns) == (transposes_b ? b.columns : b.rows);
  const auto is_wide_enough = [](const MatrixLayout& each) {
    return each.leading >= static_cast<std::int64_t>(each.rows);
  };
  if (!fits || !is_wide_enough(a) || !is_wide_enough(b) || !is_wide_enough(d)) return CUBLAS_STATUS_INVALID_VALUE;
  if (a.batch != d.batch || b.batch != d.batch) return CUBLAS_STATUS_INVALID_VALUE;
  const std::uint32_t epilogue = description.epilogue;
  if (is_complex(a.type) != is_complex(description.scale)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if ((a.type == CUDA_R_64F || is_complex(a.type)) && epilogue != CUBLASLT_EPILOGUE_DEFAULT)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if ((epilogue & auxiliary) == 0) return CUBLAS_STATUS_SUCCESS;
  if ((epilogue & (relu | relu_gradient)) != 0 && description.auxiliary_leading % 128 != 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  if ((epilogue & (gelu | gelu_gradient)) != 0 && description.auxiliary_leading % 8 != 0)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  return CUBLAS_STATUS_SUCCESS;
}

/// Where an attribute is kept, and in how many bytes.
struct Field {
  void* at = nullptr;
  std::size_t bytes = 0;
};
template <class T> Field field(T& member) { return {&member, sizeof member}; }

Field field_of(ProductDescription& x, cublasLtMatmulDescAttributes_t attribute) {
  switch (attribute) {
  case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
    return field(x.compute);
  case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
    return field(x.scale);
  case CUBLASLT_MATMUL_DESC_TRANSA:
    return field(x.transposes_a);
  case CUBLASLT_MATMUL_DESC_TRANSB:
    return field(x.transposes_b);
  case CUBLASLT_MATMUL_DESC_EPILOGUE:
    return field(x.epilogue);
  case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
    return field(x.bias);
  case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE:
    return field(x.bias_stride);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
    return field(x.auxiliary);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
    return field(x.auxiliary_leading);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE:
    return field(x.auxiliary_stride);
  default:
    return {};
  }
}

Field field_of(MatrixLayout& x, cublasLtMatrixLayoutAttribute_t attribute) {
  switch (attribute) {
  case CUBLASLT_MATRIX_LAYOUT_TYPE:
    return field(x.type);
  case CUBLASLT_MATRIX_LAYOUT_ROWS:
    return field(x.rows);
  case CUBLASLT_MATRIX_LAYOUT_COLS:
    return field(x.columns);
  case CUBLASLT_MATRIX_LAYOUT_LD:
    return field(x.leading);
  case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
    return field(x.batch);
  case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
    return field(x.batch_stride);
  default:
    return {};
  }
}

cublasStatus_t set(const Field& to, const void* value, std::size_t bytes) {
  if (to.at == nullptr || bytes != to.bytes) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to.at, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t get(const Field& from, void* value, std::size_t bytes, std::size_t* written) {
  if (from.at == nullptr || bytes < from.bytes) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(value, from.at, from.bytes);
  if (written != nullptr) *written = from.bytes;
  return CUBLAS_STATUS_SUCCESS;
}

MatrixLayout& layout_in(cublasLtMatrixLayout_t handle) { return *reinterpret_cast<MatrixLayout*>(handle); }
ProductDescription& description_in(cublasLtMatmulDesc_t handle) {
  return *reinterpret_cast<ProductDescription*>(handle);
}

std::complex<double> scalar(const void* at, cudaDataType type) {
  return is_complex(type) ? read_complex(at, type, 0) : read_number(at, type, 0);
}

} // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  static int library = 0;
  *handle = reinterpret_cast<cublasLtHandle_t>(&library);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
const char* cublasLtGetStatusName(cublasStatus_t) { return "a status of the stand-in for cuBLASLt"; }
const char* cublasLtGetStatusString(cublasStatus_t) { return "see ptxrun/libraries/cublaslt.cpp"; }

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t to, std::size_t, cublasComputeType_t compute,
                                               cudaDataType scale) {
  new (to) ProductDescription{.compute = compute, .scale = scale};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t to, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
  return set(field_of(description_in(to), attribute), value, bytes);
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t from, cublasLtMatmulDescAttributes_t attribute,
                                              void* value, std::size_t bytes, std::size_t* written) {
  return get(field_of(description_in(from), attribute), value, bytes, written);
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t to, std::size_t, cudaDataType type,
                                                 std::uint64_t rows, std::uint64_t columns, std::int64_t leading) {
  new (to) MatrixLayout{.type = type, .rows = rows, .columns = columns, .leading = leading};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t to, cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, std::size_t bytes) {
  return set(field_of(layout_in(to), attribute), value, bytes);
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t from, cublasLtMatrixLayoutAttribute_t attribute,
                                                void* value, std::size_t bytes, std::size_t* written) {
  return get(field_of(layout_in(from), attribute), value, bytes, written);
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,
                                                    const void*, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}

/// Two candidates, so that a program that measures them has something to compare.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int wanted,
                                              cublasLtMatmulHeuristicResult_t* results, int* count) {
  *count = 0;
  const cublasStatus_t status = status_of(description_in(description), layout_in(a), layout_in(b), layout_in(d));
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  *count = std::min(wanted, 2);
  std::fill_n(results, *count, cublasLtMatmulHeuristicResult_t{});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description, const void* alpha, const void* a_at,
                              cublasLtMatrixLayout_t a, const void* b_at, cublasLtMatrixLayout_t b, const void* beta,
                              const void* c_at, cublasLtMatrixLayout_t c, void* d_at, cublasLtMatrixLayout_t d,
                              const cublasLtMatmulAlgo_t*, void*, std::size_t, cudaStream_t stream) {
  const ProductDescription& wanted = description_in(description);
  const cublasStatus_t status = status_of(wanted, layout_in(a), layout_in(b), layout_in(d));
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const Product product{wanted,
                        layout_in(a),
                        layout_in(b),
                        layout_in(c),
                        layout_in(d),
                        scalar(alpha, wanted.scale),
                        scalar(beta, wanted.scale),
                        static_cast<const char*>(a_at),
                        static_cast<const char*>(b_at),
                        static_cast<const char*>(c_at),
                        static_cast<char*>(d_at)};
  ptxrun::runtime::Lock lock = ptxrun::runtime::lock_state();
  const cudaError_t error = ptxrun::runtime::enqueue(stream, lock, [product] { product.run(); });
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
}
