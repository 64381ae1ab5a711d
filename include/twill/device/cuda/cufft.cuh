#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms by cuFFT. A device keeps the plans of its latest shapes, which have no working memory of their
// own: each run brings some, so that host threads and streams share a plan, and a lock keeps a run's stream and memory
// together. Plans that a stream capture used live as long as the process, since graphs keep the addresses of their
// tables. Not in the umbrella. Read next: fft/gpu/transform_lines.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cuda/fft.hpp>
#include <twill/device/cuda/plan_cache.hpp>
#include <twill/device/cuda/runtime.cuh>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/runtime.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include <cufft.h>

namespace twill { inline namespace v0 { namespace nvidia {
namespace detail {

/// The name of a status, which cuFFT has no function for.
[[nodiscard]] TWILL_COLD inline std::string_view cufft_name(cufftResult status) {
  switch (static_cast<int>(status)) {
  case CUFFT_INVALID_PLAN:
    return "CUFFT_INVALID_PLAN";
  case CUFFT_ALLOC_FAILED:
    return "CUFFT_ALLOC_FAILED";
  case CUFFT_INVALID_TYPE:
    return "CUFFT_INVALID_TYPE";
  case CUFFT_INVALID_VALUE:
    return "CUFFT_INVALID_VALUE";
  case CUFFT_INTERNAL_ERROR:
    return "CUFFT_INTERNAL_ERROR";
  case CUFFT_EXEC_FAILED:
    return "CUFFT_EXEC_FAILED";
  case CUFFT_SETUP_FAILED:
    return "CUFFT_SETUP_FAILED";
  case CUFFT_INVALID_SIZE:
    return "CUFFT_INVALID_SIZE";
  case CUFFT_UNALIGNED_DATA:
    return "CUFFT_UNALIGNED_DATA";
  case CUFFT_INVALID_DEVICE:
    return "CUFFT_INVALID_DEVICE";
  case CUFFT_NO_WORKSPACE:
    return "CUFFT_NO_WORKSPACE";
  case CUFFT_NOT_IMPLEMENTED:
    return "CUFFT_NOT_IMPLEMENTED";
  case CUFFT_NOT_SUPPORTED:
    return "CUFFT_NOT_SUPPORTED";
  default:
    return "an unknown status";
  }
}

[[noreturn]] TWILL_COLD inline void fail_cufft(cufftResult status, std::string_view call, int device, const Fft& fft) {
  throw GpuError(join_text({call, " on ", CudaRuntime::name, ":", device, ": ", cufft_name(status), " (",
                            static_cast<int>(status), "); ", to_string(fft)}),
                 static_cast<int>(status), false);
}
inline void check_cufft(cufftResult status, std::string_view call, int device, const Fft& fft) {
  if (status != CUFFT_SUCCESS) [[unlikely]]
    fail_cufft(status, call, device, fft);
}

[[nodiscard]] constexpr cufftType cufft_type(const Fft& fft) {
  const bool is_double = fft.real == DType::float64;
  switch (fft.kind) {
  case FftKind::complex_of_real:
    return is_double ? CUFFT_D2Z : CUFFT_R2C;
  case FftKind::real_of_complex:
    return is_double ? CUFFT_Z2D : CUFFT_C2R;
  default:
    return is_double ? CUFFT_Z2Z : CUFFT_C2C;
  }
}

} // namespace detail

/// A plan of cuFFT, which ends with this.
class CufftPlan {
public:
  /// requires: that the device is current    throws: GpuError
  CufftPlan(const Fft& fft, int device) {
    const RelaxedCapture relaxed{};
    detail::check_cufft(cufftCreate(&handle_), "cufftCreate", device, fft);
    try {
      detail::check_cufft(cufftSetAutoAllocation(handle_, 0), "cufftSetAutoAllocation", device, fft);
      // one dimension, whose extents in memory follow from the distances: any will do
      long long points[] = {fft.length};
      detail::check_cufft(cufftMakePlanMany64(handle_, 1, points, points, fft.from_step, fft.from_line, points,
                                              fft.to_step, fft.to_line, detail::cufft_type(fft), fft.lines,
                                              &workspace_bytes_),
                          "cufftMakePlanMany64", device, fft);
    } catch (...) {
      static_cast<void>(cufftDestroy(handle_));
      throw;
    }
  }
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;
  ~CufftPlan() {
    const RelaxedCapture relaxed{};
    static_cast<void>(cufftDestroy(handle_));
  }

  /// The working memory of a run.
  [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }

  /// Gives the transforms to the queue's stream. throws: GpuError
  void run(const gpu::Queue<CudaRuntime>& queue, const Fft& fft, void* from, void* to, void* workspace) {
    const std::lock_guard lock(mutex_);
    const RelaxedCapture relaxed{}; // a first run may load kernels
    const int device = queue.device();
    detail::check_cufft(cufftSetStream(handle_, queue.stream()), "cufftSetStream", device, fft);
    if (workspace_bytes_ > 0)
      detail::check_cufft(cufftSetWorkArea(handle_, workspace), "cufftSetWorkArea", device, fft);
    const int sign = fft.is_inverse ? CUFFT_INVERSE : CUFFT_FORWARD;
    switch (detail::cufft_type(fft)) {
    case CUFFT_C2C:
      return detail::check_cufft(
          cufftExecC2C(handle_, static_cast<cufftComplex*>(from), static_cast<cufftComplex*>(to), sign), "cufftExecC2C",
          device, fft);
    case CUFFT_Z2Z:
      return detail::check_cufft(
          cufftExecZ2Z(handle_, static_cast<cufftDoubleComplex*>(from), static_cast<cufftDoubleComplex*>(to), sign),
          "cufftExecZ2Z", device, fft);
    case CUFFT_R2C:
      return detail::check_cufft(cufftExecR2C(handle_, static_cast<cufftReal*>(from), static_cast<cufftComplex*>(to)),
                                 "cufftExecR2C", device, fft);
    case CUFFT_D2Z:
      return detail::check_cufft(
          cufftExecD2Z(handle_, static_cast<cufftDoubleReal*>(from), static_cast<cufftDoubleComplex*>(to)),
          "cufftExecD2Z", device, fft);
    case CUFFT_C2R:
      return detail::check_cufft(cufftExecC2R(handle_, static_cast<cufftComplex*>(from), static_cast<cufftReal*>(to)),
                                 "cufftExecC2R", device, fft);
    case CUFFT_Z2D:
      return detail::check_cufft(
          cufftExecZ2D(handle_, static_cast<cufftDoubleComplex*>(from), static_cast<cufftDoubleReal*>(to)),
          "cufftExecZ2D", device, fft);
    }
  }

private:
  cufftHandle handle_{};
  std::size_t workspace_bytes_ = 0;
  std::mutex mutex_{};
};

/// The plans of a device.
struct CufftDevice {
  PlanCache<fft_key_words, std::shared_ptr<CufftPlan>> plans{128};
  std::mutex mutex{};
  std::vector<std::shared_ptr<CufftPlan>> captured{}; ///< plans that graphs may use
};

/// One for each device and process, never destroyed.
[[nodiscard]] TWILL_EXPORT inline CufftDevice& cufft_of(int device) {
  static CufftDevice* const devices = new CufftDevice[max_devices];
  if (device < 0 || device >= max_devices)
    throw DeviceError(join_text({"cuFFT: device ", device, " is outside of [0, ", max_devices, ")"}));
  return devices[device];
}

/// The plan of transforms on a queue's device, made if there is none. throws: GpuError
[[nodiscard]] inline std::shared_ptr<CufftPlan> cufft_plan(const gpu::Queue<CudaRuntime>& queue, const Fft& fft) {
  CufftDevice& state = cufft_of(queue.device());
  std::shared_ptr<CufftPlan> plan =
      state.plans.find_or_make(key_of(fft), [&] { return std::make_shared<CufftPlan>(fft, queue.device()); });
  if (gpu::is_captured<CudaRuntime>(queue.stream(), queue.device())) {
    const std::lock_guard lock(state.mutex);
    bool is_known = false;
    for (const auto& known : state.captured) is_known = is_known || known == plan;
    if (!is_known) state.captured.push_back(plan);
  }
  return plan;
}

}}} // namespace twill::v0::nvidia
