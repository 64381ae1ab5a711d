#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products by cuBLASLt. `try_gemm` gives a product to the library on a queue's stream, with the stream's
// constant allowance as workspace, so a captured step keeps its addresses and nothing is allocated. The library is
// asked for an algorithm once for each problem (defined in device/cuda/gemm.hpp), or its best candidates are timed once
// if `LibraryOptions::autotune` is set. Handles are made with the first product of a device and live as long as the
// process. Read next: kernel/cuda/product.cuh.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/promotion.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cuda/gemm.hpp>
#include <twill/device/cuda/plan_cache.hpp>
#include <twill/device/cuda/plan_choice.hpp>
#include <twill/device/cuda/runtime.cuh>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/library_options.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/timer_calls.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include <cublasLt.h>
#include <cuda_runtime.h>

namespace twill { inline namespace v0 { namespace nvidia { namespace detail {

static_assert(library_epilogue(GemmEpilogue::none) == CUBLASLT_EPILOGUE_DEFAULT);
static_assert(library_epilogue(GemmEpilogue::bias) == CUBLASLT_EPILOGUE_BIAS);
static_assert(library_epilogue(GemmEpilogue::relu_bias) == CUBLASLT_EPILOGUE_RELU_BIAS);
static_assert(library_epilogue(GemmEpilogue::gelu_bias) == CUBLASLT_EPILOGUE_GELU_BIAS);
static_assert(library_epilogue(GemmEpilogue::gelu_bias_keep) == CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
static_assert(library_epilogue(GemmEpilogue::gelu_gradient_bias) == CUBLASLT_EPILOGUE_DGELU_BGRAD);
static_assert(library_epilogue(GemmEpilogue::sum_left) == CUBLASLT_EPILOGUE_BGRADB);
static_assert(library_epilogue(GemmEpilogue::sum_right) == CUBLASLT_EPILOGUE_BGRADA);

[[noreturn]] TWILL_COLD inline void fail_cublas(cublasStatus_t status, std::string_view call, int device,
                                                const Gemm& gemm) {
  throw GpuError(join_text({call, " on ", CudaRuntime::name, ":", device, ": ", cublasLtGetStatusName(status), ", ",
                            cublasLtGetStatusString(status), "; ", to_string(gemm)}),
                 static_cast<int>(status), false);
}

[[nodiscard]] constexpr cudaDataType_t cublas_type(DType dtype) {
  return dtype == DType::float64      ? CUDA_R_64F
         : dtype == DType::float32    ? CUDA_R_32F
         : dtype == DType::float16    ? CUDA_R_16F
         : dtype == DType::complex64  ? CUDA_C_32F
         : dtype == DType::complex128 ? CUDA_C_64F
                                      : CUDA_R_16BF;
}

/// The type of a product's factors alpha and beta.
[[nodiscard]] constexpr cudaDataType_t cublas_scale_type(DType dtype) {
  return is_complex(dtype) || dtype == DType::float64 ? cublas_type(dtype) : CUDA_R_32F;
}
[[nodiscard]] constexpr bool computes_in_double(const Gemm& gemm) { return real_type(gemm.dtype) == DType::float64; }

/// Description of a product for cuBLASLt. Its descriptors are plain memory and end with this.
class CublasProblem {
public:
  CublasProblem(const Gemm& gemm, const LibraryOptions& options, int device) : gemm_{gemm}, device_{device} {
    const auto compute = computes_in_double(gemm) ? CUBLAS_COMPUTE_64F
                         : real_type(gemm.dtype) == DType::float32 && options.allows_tf32_in_products
                             ? CUBLAS_COMPUTE_32F_FAST_TF32
                             : CUBLAS_COMPUTE_32F;
    check(cublasLtMatmulDescInit(&operation, compute, cublas_scale_type(gemm.dtype)), "cublasLtMatmulDescInit");
    const ColumnMajorGemm columns = column_major(gemm);
    set(CUBLASLT_MATMUL_DESC_TRANSA, std::int32_t{columns.left.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N});
    set(CUBLASLT_MATMUL_DESC_TRANSB, std::int32_t{columns.right.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N});
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t{library_epilogue(gemm.epilogue)});
    if (uses_bias(gemm.epilogue)) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(gemm.bias));
    if (uses_auxiliary(gemm.epilogue)) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, static_cast<void*>(gemm.auxiliary));
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{gemm.n});
    }
    describe(left, columns.left);
    describe(right, columns.right);
    describe(result, columns.result);
  }

  cublasLtMatmulDescOpaque_t operation{};
  cublasLtMatrixLayoutOpaque_t left{};
  cublasLtMatrixLayoutOpaque_t right{};
  cublasLtMatrixLayoutOpaque_t result{};

  void check(cublasStatus_t status, std::string_view call) const {
    if (status != CUBLAS_STATUS_SUCCESS) fail_cublas(status, call, device_, gemm_);
  }

private:
  template <class T> void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check(cublasLtMatmulDescSetAttribute(&operation, attribute, &value, sizeof(value)),
          "cublasLtMatmulDescSetAttribute");
  }
  void describe(cublasLtMatrixLayoutOpaque_t& layout, const ColumnMajor& matrix) const {
    check(cublasLtMatrixLayoutInit(&layout, cublas_type(gemm_.dtype), static_cast<std::uint64_t>(matrix.rows),
                                   static_cast<std::uint64_t>(matrix.columns), matrix.leading),
          "cublasLtMatrixLayoutInit");
    if (gemm_.batch == 1) return;
    const auto count = static_cast<std::int32_t>(gemm_.batch);
    const std::int64_t stride = matrix.batch_stride;
    check(cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)),
          "cublasLtMatrixLayoutSetAttribute");
    check(
        cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof(stride)),
        "cublasLtMatrixLayoutSetAttribute");
  }

  const Gemm& gemm_;
  int device_;
};

/// The chosen algorithm for a problem; empty when the library has none.
struct CublasPlan {
  cublasLtMatmulAlgo_t algorithm{};
  std::size_t workspace_bytes = 0;
  bool exists = false;
};

/// cuBLASLt's state for a device.
struct CublasDevice {
  std::mutex mutex{};
  cublasLtHandle_t handle = nullptr;
  PlanCache<gemm_key_words, CublasPlan> plans{1024};
};

/// One for each device and process, never destroyed.
[[nodiscard]] TWILL_EXPORT inline CublasDevice& cublas_of(int device) {
  static CublasDevice* const devices = new CublasDevice[max_devices];
  if (device < 0 || device >= max_devices)
    throw DeviceError(join_text({"cuBLASLt: device ", device, " is outside of [0, ", max_devices, ")"}));
  return devices[device];
}

[[nodiscard]] inline cublasLtHandle_t handle_of(CublasDevice& state, int device, const Gemm& gemm) {
  const std::lock_guard lock(state.mutex);
  if (state.handle == nullptr) {
    const RelaxedCapture relaxed{};
    const gpu::Using<CudaRuntime> scope{device};
    if (const cublasStatus_t status = cublasLtCreate(&state.handle); status != CUBLAS_STATUS_SUCCESS) {
      state.handle = nullptr;
      fail_cublas(status, "cublasLtCreate", device, gemm);
    }
  }
  return state.handle;
}

/// Runs a product with an algorithm, C into `to`.
[[nodiscard]] inline cublasStatus_t run_cublas(cublasLtHandle_t handle, CublasProblem& problem, const Gemm& gemm,
                                               void* to, const cublasLtMatmulAlgo_t& algorithm,
                                               const gpu::Queue<CudaRuntime>& queue) {
  const gpu::WorkingMemory working = queue.working_memory(); // a product may be several kernels
  // alpha and beta, each followed by the imaginary part that complex products read
  alignas(16) const double wide[] = {gemm.alpha, 0, gemm.beta, 0};
  alignas(16) const float narrow[] = {static_cast<float>(gemm.alpha), 0, static_cast<float>(gemm.beta), 0};
  const auto factor = [&](int place) {
    return computes_in_double(gemm) ? static_cast<const void*>(&wide[place]) : static_cast<const void*>(&narrow[place]);
  };
  return cublasLtMatmul(handle, &problem.operation, factor(0), gemm.b.data, &problem.left, gemm.a.data, &problem.right,
                        factor(2), gemm.c, &problem.result, to, &problem.result, &algorithm, working.memory(),
                        working.size().bytes, queue.stream());
}

inline constexpr int most_candidates = 8;
struct CublasCandidates {
  std::array<cublasLtMatmulHeuristicResult_t, most_candidates> results{};
  int count = 0;
};

/// The library's best algorithms first, `wanted` of them at most; none when it does not support such products.
[[nodiscard]] inline CublasCandidates candidates_of(cublasLtHandle_t handle, CublasProblem& problem, const Gemm& gemm,
                                                    const LibraryOptions& options, std::size_t workspace_bytes,
                                                    int wanted) {
  cublasLtMatmulPreferenceOpaque_t preference{};
  problem.check(cublasLtMatmulPreferenceInit(&preference), "cublasLtMatmulPreferenceInit");
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    problem.check(cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof(value)),
                  "cublasLtMatmulPreferenceSetAttribute");
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{workspace_bytes});
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, std::uint32_t{alignment_of(gemm.b.data)});
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, std::uint32_t{alignment_of(gemm.a.data)});
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, std::uint32_t{alignment_of(gemm.c)});
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, std::uint32_t{alignment_of(gemm.c)});
  if (options.is_deterministic) // partial sums meet in a fixed order, and none is rounded to 16 bits on the way
    set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  CublasCandidates found{};
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(handle, &problem.operation, &problem.left, &problem.right, &problem.result,
                                     &problem.result, &preference, wanted, found.results.data(), &found.count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED ||
      (status == CUBLAS_STATUS_INVALID_VALUE && gemm.epilogue != GemmEpilogue::none))
    return {};
  problem.check(status, "cublasLtMatmulAlgoGetHeuristic");
  const auto usable = std::stable_partition(found.results.begin(), found.results.begin() + found.count,
                                            [](const auto& result) { return result.state == CUBLAS_STATUS_SUCCESS; });
  found.count = static_cast<int>(usable - found.results.begin());
  return found;
}

/// The fastest of several candidates: each computes the product into separate memory, once to warm up and three times
/// with timing. cost: milliseconds and an allocation, once for each problem
[[nodiscard]] inline int fastest_of(const CublasCandidates& candidates, cublasLtHandle_t handle, CublasProblem& problem,
                                    const Gemm& gemm, const gpu::Queue<CudaRuntime>& queue) {
  const auto span = static_cast<std::size_t>((gemm.batch - 1) * gemm.c_batch_stride + gemm.m * gemm.c_leading);
  void* memory = nullptr;
  if (CudaRuntime::allocate(&memory, span * size_of(gemm.dtype)) != 0)
    return 0; // no memory for timing: the library's own favourite
  const auto release = [](void* scratch) { static_cast<void>(CudaRuntime::release(scratch)); };
  const std::unique_ptr<void, decltype(release)> scratch{memory};
  int fastest = 0;
  std::optional<double> best_s{};
  for (int i = 0; i < candidates.count; ++i) {
    const auto& algorithm = candidates.results[static_cast<std::size_t>(i)].algo;
    const std::optional<double> seconds = gpu::seconds_of_run(
        queue, [&] { return run_cublas(handle, problem, gemm, memory, algorithm, queue) == CUBLAS_STATUS_SUCCESS; });
    if (!seconds || (best_s && *seconds >= *best_s)) continue;
    best_s = seconds;
    fastest = i;
  }
  return fastest;
}

[[nodiscard]] inline CublasPlan plan_cublas(cublasLtHandle_t handle, CublasProblem& problem, const Gemm& gemm,
                                            const LibraryOptions& options, bool is_timed,
                                            const gpu::Queue<CudaRuntime>& queue) {
  const RelaxedCapture relaxed{};
  const CublasCandidates candidates =
      candidates_of(handle, problem, gemm, options, queue.allowance().bytes, is_timed ? most_candidates : 1);
  if (candidates.count == 0) return {};
  const int chosen = is_timed && candidates.count > 1 ? fastest_of(candidates, handle, problem, gemm, queue) : 0;
  const auto& result = candidates.results[static_cast<std::size_t>(chosen)];
  return {result.algo, result.workspaceSize, true};
}

}}}} // namespace twill::v0::nvidia::detail

namespace twill { inline namespace v0 { namespace nvidia {

/// Computes a product on a queue's stream; false, and nothing done, when the library does not do such products
/// (integers, overlapping rows, an epilogue for these types and alignments): compute it by other means then.
/// throws: GpuError naming the call, the library's words and the product
[[nodiscard]] inline bool try_gemm(const gpu::Queue<CudaRuntime>& queue, const Gemm& gemm) {
  if (!refusal(gemm).empty()) return false;
  const LibraryOptions options = library_options();
  Timing timing = Timing::impossible;
  if (options.autotune && !gpu::is_captured<CudaRuntime>(queue.stream(), queue.device())) timing = Timing::possible;
  detail::CublasDevice& state = detail::cublas_of(queue.device());
  const cublasLtHandle_t handle = detail::handle_of(state, queue.device(), gemm);
  detail::CublasProblem problem(gemm, options, queue.device());
  const detail::CublasPlan plan = find_or_choose(
      state.plans, options, timing,
      [&](bool is_timed) { return key_of(gemm, static_cast<unsigned>(key_bits(options, is_timed))); },
      [&](bool is_timed) { return detail::plan_cublas(handle, problem, gemm, options, is_timed, queue); });
  if (!plan.exists) return false;
  problem.check(detail::run_cublas(handle, problem, gemm, gemm.c, plan.algorithm, queue), "cublasLtMatmul");
  return true;
}

}}} // namespace twill::v0::nvidia
