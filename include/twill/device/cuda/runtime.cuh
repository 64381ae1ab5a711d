#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// CUDA runtime as a model of gpu::Runtime, in `CudaRuntime`: one line a call, simple enough to trust without a GPU. All
// code above it is generic and tested on the host. Without a driver there are no devices and no error.
// Read next: device/cuda/cuda.cuh, and device/gpu/runtime.hpp for the promise of each call.

#include <twill/core/config.hpp>
#include <twill/device/cuda/missing_kernel.hpp>
#include <twill/device/cuda/nvml.hpp>
#include <twill/device/cuda/visible_devices.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/runtime.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include <cuda_runtime.h>
#include <dlfcn.h>

namespace twill { inline namespace v0 {

struct TWILL_EXPORT CudaRuntime {
  using Status = gpu::Status;
  using Stream = cudaStream_t;
  using Event = cudaEvent_t;
  using Graph = cudaGraphExec_t;
  static constexpr std::string_view name = "cuda";

  /// The name of a call in CUDA's manual.
  [[nodiscard]] static constexpr std::string_view manual_name(std::string_view call) {
    constexpr std::string_view names[][2] = {{"device_in_use", "cudaGetDevice"},
                                             {"use_device", "cudaSetDevice"},
                                             {"read_properties", "cudaDeviceGetAttribute"},
                                             {"memory_info", "cudaMemGetInfo"},
                                             {"allocate", "cudaMalloc"},
                                             {"allocate_while_capturing", "cudaMalloc"},
                                             {"release", "cudaFree"},
                                             {"allocate_async", "cudaMallocAsync"},
                                             {"release_async", "cudaFreeAsync"},
                                             {"allocate_pinned", "cudaHostAlloc"},
                                             {"release_pinned", "cudaFreeHost"},
                                             {"create_stream", "cudaStreamCreateWithFlags"},
                                             {"destroy_stream", "cudaStreamDestroy"},
                                             {"synchronize_stream", "cudaStreamSynchronize"},
                                             {"create_event", "cudaEventCreateWithFlags"},
                                             {"create_timer", "cudaEventCreateWithFlags"},
                                             {"elapsed_ms", "cudaEventElapsedTime"},
                                             {"destroy_event", "cudaEventDestroy"},
                                             {"record_event", "cudaEventRecord"},
                                             {"query_event", "cudaEventQuery"},
                                             {"synchronize_event", "cudaEventSynchronize"},
                                             {"wait_event", "cudaStreamWaitEvent"},
                                             {"copy", "cudaMemcpyAsync"},
                                             {"copy_peer", "cudaMemcpyPeerAsync"},
                                             {"enable_peer", "cudaDeviceEnablePeerAccess"},
                                             {"fill", "cudaMemsetAsync"},
                                             {"begin_capture", "cudaStreamBeginCapture"},
                                             {"end_capture", "cudaStreamEndCapture"},
                                             {"capturing", "cudaStreamIsCapturing"},
                                             {"launch_graph", "cudaGraphLaunch"},
                                             {"destroy_graph", "cudaGraphExecDestroy"}};
    for (const auto& pair : names)
      if (pair[0] == call) return pair[1];
    return call;
  }

  [[nodiscard]] static std::string text(Status status) {
    const auto error = static_cast<cudaError_t>(status);
    std::string text = std::string{cudaGetErrorName(error)} + ", " + cudaGetErrorString(error);
#if defined(__CUDA_ARCH_LIST__) // nvcc, not clang
    int device = 0, major = 0, minor = 0;
    if (error == cudaErrorNoKernelImageForDevice && forget(cudaGetDevice(&device)) == 0 &&
        forget(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device)) == 0 &&
        forget(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device)) == 0)
      text += ": " + nvidia::missing_kernel_text(major, minor, {__CUDA_ARCH_LIST__});
#endif
    return text;
  }
  /// The errors after which CUDA's manual says that the process has to be restarted. Newer toolkits have more of them.
  [[nodiscard]] static bool is_sticky(Status status) {
    constexpr Status tensor_memory_leak = 721, contained = 911;
    if (status == tensor_memory_leak || status == contained) return true;
    switch (static_cast<cudaError_t>(status)) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
      return true;
    default:
      return false;
    }
  }
  [[nodiscard]] static bool is_out_of_memory(Status status) { return status == cudaErrorMemoryAllocation; }
  [[nodiscard]] static bool is_not_ready(Status status) { return status == cudaErrorNotReady; }

  // Devices ----------------------------------------------------------------------------------------------------------

  /// Counted once, because CUDA itself reads CUDA_VISIBLE_DEVICES only once.
  [[nodiscard]] static int device_count() {
    static const int counted = [] {
      detail::cuda_was_asked = true;
      int count = 0;
      if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
      static_cast<void>(cudaGetLastError());
      return 0;
    }();
    return counted;
  }
  [[nodiscard]] static Status device_in_use(int* device) { return forget(cudaGetDevice(device)); }
  [[nodiscard]] static Status use_device(int device) { return forget(cudaSetDevice(device)); }
  [[nodiscard]] static Status read_properties(int device, gpu::Properties* properties) {
    cudaDeviceProp all{};
    if (const Status status = forget(cudaGetDeviceProperties(&all, device)); status != 0) return status;
    char bus[32] = {};
    if (const Status status = forget(cudaDeviceGetPCIBusId(bus, sizeof bus, device)); status != 0) return status;
    *properties = {.name = all.name,
                   .processors = all.multiProcessorCount,
                   .threads_per_processor = all.maxThreadsPerMultiProcessor,
                   .shared_bytes = all.sharedMemPerBlockOptin,
                   .major = all.major,
                   .minor = all.minor,
                   .total_bytes = all.totalGlobalMem,
                   .bus = bus};
    return 0;
  }
  /// Asks the driver itself, which the runtime has loaded if there is one.
  [[nodiscard]] static bool has_context(int device) {
    using GetState = int (*)(int device, unsigned* flags, int* active);
    static const auto get_state = [] {
      void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
      return driver == nullptr ? nullptr : reinterpret_cast<GetState>(dlsym(driver, "cuDevicePrimaryCtxGetState"));
    }();
    unsigned flags = 0;
    int active = 0;
    return get_state == nullptr || get_state(device, &flags, &active) != 0 || active != 0;
  }
  [[nodiscard]] static bool can_access_peer(int device, int peer) {
    int can = 0;
    return forget(cudaDeviceCanAccessPeer(&can, device, peer)) == 0 && can != 0;
  }
  [[nodiscard]] static Status enable_peer(int peer) { return forget(cudaDeviceEnablePeerAccess(peer, 0)); }

  // Memory -----------------------------------------------------------------------------------------------------------

  [[nodiscard]] static Status memory_info(std::size_t* free, std::size_t* total) {
    return forget(cudaMemGetInfo(free, total));
  }
  /// Used bytes from NVIDIA's management library, before there is a context; 0 where it is not available.
  [[nodiscard]] static std::size_t used_bytes_from_outside(int device) {
    gpu::Properties properties{};
    if (!nvml::Library::of_driver().is_usable() || read_properties(device, &properties) != 0) return 0;
    try {
      const auto gpus = nvml::Library::of_driver().gpus();
      const auto* const own = nvml::find_by_bus(gpus, properties.bus);
      return own != nullptr ? own->used_bytes : 0;
    } catch (const DeviceError&) {
      return 0;
    }
  }
  [[nodiscard]] static Status allocate(void** to, std::size_t bytes) { return forget(cudaMalloc(to, bytes)); }
  [[nodiscard]] static Status allocate_while_capturing(void** to, std::size_t bytes) {
    return while_capturing([=] { return allocate(to, bytes); });
  }
  [[nodiscard]] static Status release(void* memory) { return forget(cudaFree(memory)); }
  [[nodiscard]] static Status allocate_async(void** to, std::size_t bytes, Stream stream) {
    return forget(cudaMallocAsync(to, bytes, stream));
  }
  [[nodiscard]] static Status release_async(void* memory, Stream stream) {
    return forget(cudaFreeAsync(memory, stream));
  }
  /// Allocates memory pinned for all devices.
  [[nodiscard]] static Status allocate_pinned(void** to, std::size_t bytes) {
    return forget(cudaHostAlloc(to, bytes, cudaHostAllocPortable));
  }
  [[nodiscard]] static Status release_pinned(void* memory) { return forget(cudaFreeHost(memory)); }

  // Streams and events -----------------------------------------------------------------------------------------------

  [[nodiscard]] static Status create_stream(Stream* stream) {
    return forget(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
  }
  [[nodiscard]] static Status destroy_stream(Stream stream) { return forget(cudaStreamDestroy(stream)); }
  [[nodiscard]] static Status synchronize_stream(Stream stream) { return forget(cudaStreamSynchronize(stream)); }
  [[nodiscard]] static Status create_event(Event* event) {
    // waiting threads sleep: a host device's worker waits, whose core has other work
    return forget(cudaEventCreateWithFlags(event, cudaEventDisableTiming | cudaEventBlockingSync));
  }
  [[nodiscard]] static Status create_timer(Event* event) {
    return forget(cudaEventCreateWithFlags(event, cudaEventBlockingSync));
  }
  [[nodiscard]] static Status elapsed_ms(float* milliseconds, Event from, Event to) {
    return forget(cudaEventElapsedTime(milliseconds, from, to));
  }
  [[nodiscard]] static Status destroy_event(Event event) { return forget(cudaEventDestroy(event)); }
  [[nodiscard]] static Status record_event(Event event, Stream stream) {
    return forget(cudaEventRecord(event, stream));
  }
  [[nodiscard]] static Status query_event(Event event) { return forget(cudaEventQuery(event)); }
  [[nodiscard]] static Status query_event_while_capturing(Event event) {
    return while_capturing([event] { return query_event(event); });
  }
  [[nodiscard]] static Status synchronize_event(Event event) { return forget(cudaEventSynchronize(event)); }
  [[nodiscard]] static Status wait_event(Stream stream, Event event) {
    return forget(cudaStreamWaitEvent(stream, event, 0));
  }

  // Copies -----------------------------------------------------------------------------------------------------------

  [[nodiscard]] static Status copy(void* to, const void* from, std::size_t bytes, Stream stream) {
    return forget(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
  }
  [[nodiscard]] static Status copy_peer(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                        Stream stream) {
    return forget(cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream));
  }
  [[nodiscard]] static Status fill(void* memory, int byte, std::size_t bytes, Stream stream) {
    return forget(cudaMemsetAsync(memory, byte, bytes, stream));
  }

  // Captures ---------------------------------------------------------------------------------------------------------

  /// Other threads may continue to allocate meanwhile.
  [[nodiscard]] static Status begin_capture(Stream stream) {
    return forget(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  }
  [[nodiscard]] static Status end_capture(Stream stream, Graph* graph) {
    *graph = nullptr;
    cudaGraph_t recorded = nullptr;
    if (const Status status = forget(cudaStreamEndCapture(stream, &recorded)); status != 0) return status;
    const Status status = forget(cudaGraphInstantiate(graph, recorded, 0));
    static_cast<void>(cudaGraphDestroy(recorded));
    return status;
  }
  [[nodiscard]] static Status capturing(Stream stream, gpu::Capturing* capturing) {
    cudaStreamCaptureStatus state = cudaStreamCaptureStatusNone;
    const Status status = forget(cudaStreamIsCapturing(stream, &state));
    *capturing = state == cudaStreamCaptureStatusNone     ? gpu::Capturing::no
                 : state == cudaStreamCaptureStatusActive ? gpu::Capturing::yes
                                                          : gpu::Capturing::invalidated;
    return status;
  }
  [[nodiscard]] static Status launch_graph(Graph graph, Stream stream) {
    return forget(cudaGraphLaunch(graph, stream));
  }
  [[nodiscard]] static Status destroy_graph(Graph graph) { return forget(cudaGraphExecDestroy(graph)); }

  // Kernels ----------------------------------------------------------------------------------------------------------

  [[nodiscard]] static Status allow_shared_bytes(const void* kernel, std::size_t bytes) {
    return forget(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  }
  /// The launch's own status: `<<<>>>` has none, and cudaGetLastError also returns earlier failures of the program.
  [[nodiscard]] static Status launch(const void* kernel, const gpu::LaunchShape& shape, void** arguments,
                                     Stream stream) {
    return forget(
        cudaLaunchKernel(kernel, dim3{shape.blocks}, dim3{shape.threads}, arguments, shape.shared_bytes, stream));
  }

private:
  /// Allows a call that would end a capture of this thread.
  template <class F> [[nodiscard]] static Status while_capturing(const F& call) {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    if (const Status status = forget(cudaThreadExchangeStreamCaptureMode(&mode)); status != 0) return status;
    const Status status = call();
    static_cast<void>(forget(cudaThreadExchangeStreamCaptureMode(&mode)));
    return status;
  }

  /// Clears CUDA's error state: the failure is in the status, and CUDA would report it again at the next kernel launch.
  [[nodiscard]] static Status forget(cudaError_t status) {
    if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
    return status;
  }
};

static_assert(gpu::Runtime<CudaRuntime>);

}} // namespace twill::v0

namespace twill { inline namespace v0 { namespace nvidia {

/// Relaxed stream capture for a scope. CUDA ends a thread's recording when the thread allocates, compiles or queries
/// events, because such calls could wait for recorded work; calls unrelated to the recorded stream, such as a library's
/// set-up, are allowed in this scope.
class RelaxedCapture {
public:
  RelaxedCapture() { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

private:
  void exchange() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }

  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}}} // namespace twill::v0::nvidia
