// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for the entry points of cuSPARSE that programs on the CUDA runtime stand-in call: products of CSR matrices with
// vectors and matrices by rows, and dense products sampled at the places of one, in float64, run as operations of the stream.
// It writes to its working memory as cuSPARSE may, and refuses what cuSPARSE's manual excludes: arrays of sparse matrices that
// are not at multiples of 16 bytes, sizes and types that differ, rows that overlap, algorithms that do not transpose, and
// missing working memory. Arrays that are no matrix when a product runs are a finding. With a factor of 0 the result of a product is not read; that of a sampled one is.
#include <ptxrun/findings.hpp>
#include <ptxrun/libraries/numbers.hpp>
#include <ptxrun/runtime/streams.hpp>

#if __has_include(<cusparse.h>)

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <cuda_runtime_api.h>
#include <cusparse.h>

struct cusparseContext {
  cudaStream_t stream = nullptr;
  int device = 0;
};
struct cusparseSpMatDescr {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;
  const std::int64_t* offsets = nullptr;
  const std::int64_t* indices = nullptr;
  void* values = nullptr;
  cudaDataType type = CUDA_R_32F;
};
struct cusparseDnMatDescr {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t leading = 0;
  void* values = nullptr;
  cudaDataType type = CUDA_R_32F;
};
struct cusparseDnVecDescr {
  cusparseDnMatDescr matrix{};
};

namespace {

using ptxrun::libraries::bytes_of;
using ptxrun::libraries::read_number;
using ptxrun::libraries::write_number;

bool is_aligned(const void* pointer, std::size_t bytes) {
  return pointer != nullptr && reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}
bool is_number(cudaDataType type) { return type == CUDA_R_32F || type == CUDA_R_64F; }

/// More for transposed products, whose kernels are others.
std::size_t workspace_of(const cusparseSpMatDescr& a, cusparseOperation_t operation) {
  return static_cast<std::size_t>(a.rows + 1) * (operation == CUSPARSE_OPERATION_NON_TRANSPOSE ? 8 : 16);
}

/// Whether the arrays of a matrix are one when a product reads them; a finding where they are not.
bool is_matrix(const cusparseSpMatDescr& a) {
  bool is_valid = a.offsets[0] == 0 && a.offsets[a.rows] == a.entries;
  for (std::int64_t r = 0; r < a.rows; ++r) is_valid = is_valid && a.offsets[r] <= a.offsets[r + 1];
  for (std::int64_t i = 0; i < a.entries; ++i) is_valid = is_valid && a.indices[i] >= 0 && a.indices[i] < a.columns;
  if (!is_valid)
    ptxrun::report_finding("invalid operand", nullptr, nullptr, "the arrays of cuSPARSE's matrix are not those of one");
  return is_valid;
}

struct Product {
  cusparseSpMatDescr a{};
  cusparseDnMatDescr x{};
  cusparseDnMatDescr y{};
  bool is_transposed = false;
  double alpha = 1;
  double beta = 0;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;

  /// y = alpha op(A) x + beta y
  void operator()() const {
    std::memset(workspace, 0xff, workspace_bytes); // bytes of which all numbers are NaN
    if (!is_matrix(a)) return;
    std::vector<double> sums(static_cast<std::size_t>(y.rows * y.columns));
    for (std::int64_t r = 0; r < a.rows; ++r)
      for (std::int64_t entry = a.offsets[r]; entry < a.offsets[r + 1]; ++entry) {
        const std::int64_t from = is_transposed ? r : a.indices[entry];
        const std::int64_t to = is_transposed ? a.indices[entry] : r;
        const double value = read_number(a.values, a.type, entry);
        for (std::int64_t i = 0; i < y.columns; ++i)
          sums[static_cast<std::size_t>(to * y.columns + i)] +=
              value * read_number(x.values, x.type, from * x.leading + i);
      }
    for (std::int64_t r = 0; r < y.rows; ++r)
      for (std::int64_t i = 0; i < y.columns; ++i) {
        const std::int64_t place = r * y.leading + i;
        double value = alpha * sums[static_cast<std::size_t>(r * y.columns + i)];
        if (beta != 0) value += beta * read_number(y.values, y.type, place);
        write_number(y.values, y.type, place, value);
      }
  }
};

struct SampledProduct {
  cusparseDnMatDescr x{};
  cusparseDnMatDescr y{};
  cusparseSpMatDescr s{};
  double alpha = 1;
  double beta = 0;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;

  /// s = alpha x y^T at the places of s, + beta s
  void operator()() const {
    std::memset(workspace, 0xff, workspace_bytes);
    if (!is_matrix(s)) return;
    for (std::int64_t r = 0; r < s.rows; ++r)
      for (std::int64_t entry = s.offsets[r]; entry < s.offsets[r + 1]; ++entry) {
        double sum = 0;
        for (std::int64_t i = 0; i < x.columns; ++i)
          sum += read_number(x.values, x.type, r * x.leading + i) *
                 read_number(y.values, y.type, s.indices[entry] * y.leading + i);
        write_number(s.values, s.type, entry, alpha * sum + beta * read_number(s.values, s.type, entry));
      }
  }
};

double factor(const void* at, cudaDataType type) { return read_number(at, type, 0); }

/// The status of a product of matrices, or of vectors as matrices of one column.
cusparseStatus_t status_of(cusparseOperation_t operation, const cusparseSpMatDescr& a, const cusparseDnMatDescr& x,
                           const cusparseDnMatDescr& y, cudaDataType compute) {
  const bool is_transposed = operation == CUSPARSE_OPERATION_TRANSPOSE;
  if (!is_transposed && operation != CUSPARSE_OPERATION_NON_TRANSPOSE) return CUSPARSE_STATUS_NOT_SUPPORTED;
  if (compute != a.type || compute != x.type || compute != y.type) return CUSPARSE_STATUS_NOT_SUPPORTED;
  const bool fits = x.rows == (is_transposed ? a.rows : a.columns) && y.rows == (is_transposed ? a.columns : a.rows) &&
                    x.columns == y.columns;
  return fits ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}

cusparseStatus_t status_of(cusparseOperation_t of_x, cusparseOperation_t of_y, const cusparseDnMatDescr& x,
                           const cusparseDnMatDescr& y, const cusparseSpMatDescr& s, cudaDataType compute) {
  if (of_x != CUSPARSE_OPERATION_NON_TRANSPOSE || of_y != CUSPARSE_OPERATION_TRANSPOSE)
    return CUSPARSE_STATUS_NOT_SUPPORTED;
  if (compute != s.type || compute != x.type || compute != y.type) return CUSPARSE_STATUS_NOT_SUPPORTED;
  const bool fits = x.rows == s.rows && y.rows == s.columns && x.columns == y.columns;
  return fits ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}

template <class Work> cusparseStatus_t run(cusparseHandle_t handle, const Work& work) {
  if (!is_aligned(work.workspace, 16)) return CUSPARSE_STATUS_INVALID_VALUE;
  ptxrun::runtime::Lock lock = ptxrun::runtime::lock_state();
  if (handle->device != ptxrun::runtime::current_device()) return CUSPARSE_STATUS_INVALID_VALUE;
  const cudaError_t error = ptxrun::runtime::enqueue(handle->stream, lock, work);
  return error == cudaSuccess ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_EXECUTION_FAILED;
}

cusparseStatus_t multiply(cusparseHandle_t handle, cusparseOperation_t operation, const void* alpha,
                          const cusparseSpMatDescr& a, const cusparseDnMatDescr& x, const void* beta,
                          const cusparseDnMatDescr& y, cudaDataType compute, void* workspace) {
  if (const cusparseStatus_t status = status_of(operation, a, x, y, compute); status != CUSPARSE_STATUS_SUCCESS)
    return status;
  return run(handle, Product{a, x, y, operation == CUSPARSE_OPERATION_TRANSPOSE, factor(alpha, compute),
                             factor(beta, compute), workspace, workspace_of(a, operation)});
}

} // namespace

extern "C" {

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
  *handle = new cusparseContext{};
  const ptxrun::runtime::Lock lock = ptxrun::runtime::lock_state();
  (*handle)->device = ptxrun::runtime::current_device();
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  delete handle;
  return CUSPARSE_STATUS_SUCCESS;
}
const char* cusparseGetErrorName(cusparseStatus_t status) {
  return status == CUSPARSE_STATUS_INVALID_VALUE   ? "CUSPARSE_STATUS_INVALID_VALUE"
         : status == CUSPARSE_STATUS_NOT_SUPPORTED ? "CUSPARSE_STATUS_NOT_SUPPORTED"
                                                   : "a status of the stand-in for cuSPARSE";
}
const char* cusparseGetErrorString(cusparseStatus_t) { return "see ptxrun/libraries/cusparse.cpp"; }
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* made, std::int64_t rows, std::int64_t columns,
                                   std::int64_t entries, void* offsets, void* indices, void* values,
                                   cusparseIndexType_t of_offsets, cusparseIndexType_t of_indices,
                                   cusparseIndexBase_t base, cudaDataType type) {
  if (rows < 0 || columns < 0 || entries < 0 || (entries > 0 && (rows == 0 || columns == 0)))
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (of_offsets != CUSPARSE_INDEX_64I || of_indices != CUSPARSE_INDEX_64I || base != CUSPARSE_INDEX_BASE_ZERO ||
      !is_number(type))
    return CUSPARSE_STATUS_NOT_SUPPORTED;
  for (const void* const pointer : {offsets, indices, values})
    if (!is_aligned(pointer, 16)) return CUSPARSE_STATUS_INVALID_VALUE;
  *made = new cusparseSpMatDescr{
      rows,   columns, entries, static_cast<const std::int64_t*>(offsets), static_cast<const std::int64_t*>(indices),
      values, type};
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t descriptor) {
  delete descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* made, std::int64_t rows, std::int64_t columns,
                                     std::int64_t leading, void* values, cudaDataType type, cusparseOrder_t order) {
  if (rows < 0 || columns < 0 || leading < columns) return CUSPARSE_STATUS_INVALID_VALUE;
  if (order != CUSPARSE_ORDER_ROW || !is_number(type)) return CUSPARSE_STATUS_NOT_SUPPORTED;
  if (!is_aligned(values, static_cast<std::size_t>(bytes_of(type)))) return CUSPARSE_STATUS_INVALID_VALUE;
  *made = new cusparseDnMatDescr{rows, columns, leading, values, type};
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t descriptor) {
  delete descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* made, std::int64_t elements, void* values,
                                     cudaDataType type) {
  if (elements < 0 || !is_number(type)) return CUSPARSE_STATUS_NOT_SUPPORTED;
  if (!is_aligned(values, static_cast<std::size_t>(bytes_of(type)))) return CUSPARSE_STATUS_INVALID_VALUE;
  *made = new cusparseDnVecDescr{{elements, 1, 1, values, type}};
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t descriptor) {
  delete descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t, cusparseOperation_t operation, const void*,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void*,
                                         cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t,
                                         std::size_t* bytes) {
  *bytes = workspace_of(*a, operation);
  return status_of(operation, *a, x->matrix, y->matrix, compute);
}
cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t operation, const void* alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                              cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t, void* workspace) {
  return multiply(handle, operation, alpha, *a, x->matrix, beta, y->matrix, compute, workspace);
}

cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t, cusparseOperation_t operation, cusparseOperation_t of_x,
                                         const void*, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t x,
                                         const void*, cusparseDnMatDescr_t y, cudaDataType compute,
                                         cusparseSpMMAlg_t algorithm, std::size_t* bytes) {
  if (of_x != CUSPARSE_OPERATION_NON_TRANSPOSE) return CUSPARSE_STATUS_NOT_SUPPORTED;
  if (algorithm == CUSPARSE_SPMM_CSR_ALG3 && operation != CUSPARSE_OPERATION_NON_TRANSPOSE)
    return CUSPARSE_STATUS_NOT_SUPPORTED;
  *bytes = workspace_of(*a, operation);
  return status_of(operation, *a, *x, *y, compute);
}
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t operation, cusparseOperation_t of_x,
                              const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t x,
                              const void* beta, cusparseDnMatDescr_t y, cudaDataType compute,
                              cusparseSpMMAlg_t algorithm, void* workspace) {
  std::size_t bytes = 0;
  const cusparseStatus_t status =
      cusparseSpMM_bufferSize(handle, operation, of_x, alpha, a, x, beta, y, compute, algorithm, &bytes);
  if (status != CUSPARSE_STATUS_SUCCESS) return status;
  return multiply(handle, operation, alpha, *a, *x, beta, *y, compute, workspace);
}

cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t, cusparseOperation_t of_x, cusparseOperation_t of_y,
                                          const void*, cusparseConstDnMatDescr_t x, cusparseConstDnMatDescr_t y,
                                          const void*, cusparseSpMatDescr_t s, cudaDataType compute, cusparseSDDMMAlg_t,
                                          std::size_t* bytes) {
  *bytes = workspace_of(*s, CUSPARSE_OPERATION_NON_TRANSPOSE);
  return status_of(of_x, of_y, *x, *y, *s, compute);
}
cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t of_x, cusparseOperation_t of_y,
                               const void* alpha, cusparseConstDnMatDescr_t x, cusparseConstDnMatDescr_t y,
                               const void* beta, cusparseSpMatDescr_t s, cudaDataType compute, cusparseSDDMMAlg_t,
                               void* workspace) {
  if (const cusparseStatus_t status = status_of(of_x, of_y, *x, *y, *s, compute); status != CUSPARSE_STATUS_SUCCESS)
    return status;
  return run(handle, SampledProduct{*x, *y, *s, factor(alpha, compute), factor(beta, compute), workspace,
                                    workspace_of(*s, CUSPARSE_OPERATION_NON_TRANSPOSE)});
}
}

#endif
