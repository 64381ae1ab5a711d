#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Products with CSR matrices by cuSPARSE's generic functions. A device has one handle, made with its first product and
// never destroyed; a product holds it from its description to its run, since the handle names the stream. Descriptors
// are host memory and end with the product. Working memory is brought by the caller. Not in the umbrella. Read next:
// sparse/gpu/library_products.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cuda/runtime.cuh>
#include <twill/device/cuda/sparse_product.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/library_options.hpp>
#include <twill/device/gpu/queue.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>

#include <cusparse.h>

namespace twill { inline namespace v0 { namespace nvidia {
namespace detail {

[[noreturn]] TWILL_COLD inline void fail_cusparse(cusparseStatus_t status, std::string_view call, int device,
                                                  const SparseProduct& product) {
  throw GpuError(join_text({call, " on ", CudaRuntime::name, ":", device, ": ", cusparseGetErrorName(status), ", ",
                            cusparseGetErrorString(status), "; ", to_string(product)}),
                 static_cast<int>(status), false);
}

/// Ends a descriptor.
template <auto Destroy> struct DestroyedBy {
  template <class T> void operator()(T* descriptor) const { static_cast<void>(Destroy(descriptor)); }
};
using SparseDescriptor = std::unique_ptr<cusparseSpMatDescr, DestroyedBy<&cusparseDestroySpMat>>;
using MatrixDescriptor = std::unique_ptr<cusparseDnMatDescr, DestroyedBy<&cusparseDestroyDnMat>>;
using VectorDescriptor = std::unique_ptr<cusparseDnVecDescr, DestroyedBy<&cusparseDestroyDnVec>>;

} // namespace detail

/// cuSPARSE's state for a device.
struct CusparseDevice {
  std::mutex mutex{};
  cusparseHandle_t handle = nullptr;
};

/// One for each device and process, never destroyed.
[[nodiscard]] TWILL_EXPORT inline CusparseDevice& cusparse_of(int device) {
  static CusparseDevice* const devices = new CusparseDevice[max_devices];
  if (device < 0 || device >= max_devices)
    throw DeviceError(join_text({"cuSPARSE: device ", device, " is outside of [0, ", max_devices, ")"}));
  return devices[device];
}

/// A product as cuSPARSE describes it, on a queue's stream. Host threads take turns: it holds the device's handle.
class CusparseProduct {
public:
  /// requires: that the device is current, elements in all operands, arrays at multiples of 16 bytes
  /// throws: GpuError naming the call, the library's words and the product; ValueError for a transposed product under
  /// `LibraryOptions::is_deterministic`, for which the library has no algorithm
  CusparseProduct(const gpu::Queue<CudaRuntime>& queue, const SparseProduct& product)
      : product_{product},
        device_{queue.device()},
        state_{&cusparse_of(device_)},
        held_{state_->mutex},
        is_deterministic_{library_options().is_deterministic} {
    if (is_deterministic_ && product.kind == SparseKind::transposed)
      throw ValueError(join_text({"cuSPARSE: the ", to_string(product),
                                  " adds up in any order, and LibraryOptions::is_deterministic is set; multiply by a "
                                  "transposed matrix, matmul(transpose(a), x)"}));
    const RelaxedCapture relaxed{}; // a first use of the library allocates and loads kernels
    if (state_->handle == nullptr) check(cusparseCreate(&state_->handle), "cusparseCreate");
    check(cusparseSetStream(state_->handle, queue.stream()), "cusparseSetStream");
    describe();
    call(&cusparseSpMV_bufferSize, &cusparseSpMM_bufferSize, &cusparseSDDMM_bufferSize, &workspace_bytes_,
         "_bufferSize");
  }
  CusparseProduct(const CusparseProduct&) = delete;
  CusparseProduct& operator=(const CusparseProduct&) = delete;

  /// The working memory of the run.
  [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }

  /// Gives the product to the queue's stream. throws: GpuError
  void run(void* workspace) const {
    const RelaxedCapture relaxed{};
    call(&cusparseSpMV, &cusparseSpMM, &cusparseSDDMM, workspace, "");
  }

private:
  [[nodiscard]] bool is_double() const { return product_.dtype == DType::float64; }
  [[nodiscard]] cudaDataType type() const { return is_double() ? CUDA_R_64F : CUDA_R_32F; }
  [[nodiscard]] bool is_of_vectors() const { return product_.width == 1 && product_.kind != SparseKind::sampled; }

  void check(cusparseStatus_t status, std::string_view name, std::string_view stage = {}) const {
    if (status != CUSPARSE_STATUS_SUCCESS) [[unlikely]]
      detail::fail_cusparse(status, join_text({name, stage}), device_, product_);
  }

  /// The library takes operands that it does not write as pointers to what is not constant, too.
  void describe() {
    const SparseProduct& p = product_;
    const bool is_sampled = p.kind == SparseKind::sampled;
    void* const values = is_sampled ? p.result : const_cast<void*>(p.values);
    cusparseSpMatDescr_t sparse = nullptr;
    check(cusparseCreateCsr(&sparse, p.rows, p.columns, p.entries, const_cast<std::int64_t*>(p.row_offsets),
                            const_cast<std::int64_t*>(p.column_indices), values, CUSPARSE_INDEX_64I, CUSPARSE_INDEX_64I,
                            CUSPARSE_INDEX_BASE_ZERO, type()),
          "cusparseCreateCsr");
    sparse_.reset(sparse);
    void* const second = is_sampled ? const_cast<void*>(p.y) : p.result;
    const std::int64_t second_rows = is_sampled ? p.columns : p.result_rows();
    if (is_of_vectors()) {
      vector(from_vector_, p.x_rows(), p.x);
      vector(to_vector_, second_rows, second);
    } else {
      matrix(from_matrix_, p.x_rows(), p.x);
      matrix(to_matrix_, second_rows, second);
    }
  }
  void vector(detail::VectorDescriptor& to, std::int64_t elements, const void* data) const {
    cusparseDnVecDescr_t made = nullptr;
    check(cusparseCreateDnVec(&made, elements, const_cast<void*>(data), type()), "cusparseCreateDnVec");
    to.reset(made);
  }
  void matrix(detail::MatrixDescriptor& to, std::int64_t rows, const void* data) const {
    cusparseDnMatDescr_t made = nullptr;
    check(cusparseCreateDnMat(&made, rows, product_.width, product_.width, const_cast<void*>(data), type(),
                              CUSPARSE_ORDER_ROW),
          "cusparseCreateDnMat");
    to.reset(made);
  }

  /// Calls the function for the product, of one of its stages: C = 1 op(A) op(B) + 0 C.
  template <class OfVector, class OfMatrix, class Sampled, class Last>
  void call(OfVector of_vector, OfMatrix of_matrix, Sampled sampled, Last last, std::string_view stage) const {
    const double double_factors[] = {1, 0};
    const float float_factors[] = {1, 0};
    const void* const one = is_double() ? static_cast<const void*>(&double_factors[0]) : &float_factors[0];
    const void* const zero = is_double() ? static_cast<const void*>(&double_factors[1]) : &float_factors[1];
    const cusparseHandle_t handle = state_->handle;
    const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const cusparseOperation_t transposed = CUSPARSE_OPERATION_TRANSPOSE;
    if (product_.kind == SparseKind::sampled) {
      return check(sampled(handle, plain, transposed, one, from_matrix_.get(), to_matrix_.get(), zero, sparse_.get(),
                           type(), CUSPARSE_SDDMM_ALG_DEFAULT, last),
                   "cusparseSDDMM", stage);
    }
    const cusparseOperation_t operation = product_.kind == SparseKind::transposed ? transposed : plain;
    if (is_of_vectors())
      check(of_vector(handle, operation, one, sparse_.get(), from_vector_.get(), zero, to_vector_.get(), type(),
                      is_deterministic_ ? CUSPARSE_SPMV_CSR_ALG2 : CUSPARSE_SPMV_ALG_DEFAULT, last),
            "cusparseSpMV", stage);
    else
      check(of_matrix(handle, operation, plain, one, sparse_.get(), from_matrix_.get(), zero, to_matrix_.get(), type(),
                      algorithm_of_matrix(), last),
            "cusparseSpMM", stage);
  }

  /// Algorithm 2 is the one for matrices by rows, 3 adds up in one order; neither is said to be good at transposing.
  [[nodiscard]] cusparseSpMMAlg_t algorithm_of_matrix() const {
    if (product_.kind == SparseKind::transposed) return CUSPARSE_SPMM_ALG_DEFAULT;
    return is_deterministic_ ? CUSPARSE_SPMM_CSR_ALG3 : CUSPARSE_SPMM_CSR_ALG2;
  }

  SparseProduct product_;
  int device_;
  CusparseDevice* state_;
  std::unique_lock<std::mutex> held_;
  bool is_deterministic_;
  detail::SparseDescriptor sparse_{};
  detail::VectorDescriptor from_vector_{};
  detail::VectorDescriptor to_vector_{};
  detail::MatrixDescriptor from_matrix_{};
  detail::MatrixDescriptor to_matrix_{}; ///< the second operand of a sampled product
  std::size_t workspace_bytes_ = 0;
};

}}} // namespace twill::v0::nvidia
