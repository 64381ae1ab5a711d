// SPDX-License-Identifier: Apache-2.0
//
// Registration and launches of kernels, as nvcc's host code asks the CUDA runtime for them. A fat binary has to hold plain
// PTX: nvcc's `-gencode arch=compute_<n>,code=compute_<n> --no-compress`.
#include <ptxrun/findings.hpp>
#include <ptxrun/interpreter.hpp>
#include <ptxrun/runtime/streams.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace ptxrun::runtime;
using ptxrun::Kernel;
using ptxrun::Module;
using ptxrun::Outcome;
using ptxrun::report_finding;
using ptxrun::Variable;

namespace {

/// What nvcc's code hands over: `data` begins with a header that tells its own size and that of all images after it.
struct FatBinary {
  std::int32_t magic = 0;
  std::int32_t version = 0;
  const char* data = nullptr;
  void* file = nullptr;
};

struct Registered {
  std::map<const void*, Kernel*> kernels{}; // by the address of the host's function, and by their own
  std::map<const void*, Variable*> variables{};
};

Registered& registered() {
  static auto* const all = new Registered;
  return *all;
}

Kernel* kernel_of(const void* function) {
  const auto found = registered().kernels.find(function);
  return found == registered().kernels.end() ? nullptr : found->second;
}

/// The number after `.target sm_`.
int target_of(std::string_view text) {
  constexpr std::string_view mark = ".target sm_";
  const std::size_t at = text.find(mark);
  int target = 0;
  if (at != std::string_view::npos) std::from_chars(text.data() + at + mark.size(), text.data() + text.size(), target);
  return target;
}

/// The PTX text for the newest architecture that the pretended device can run; empty where there is none.
std::string_view chosen_text(std::string_view images) {
  std::string_view chosen{};
  for (std::size_t at = images.find(".version "); at != std::string_view::npos; at = images.find(".version ", at + 1)) {
    const std::string_view text = images.substr(at, images.find('\0', at) - at);
    const int target = target_of(text);
    if (target <= ptxrun::options().capability && target > target_of(chosen)) chosen = text;
  }
  return chosen;
}

cudaError_t error_of(Outcome outcome) {
  switch (outcome) {
  case Outcome::success:
    return cudaSuccess;
  case Outcome::invalid_value:
    return cudaErrorInvalidValue;
  case Outcome::invalid_configuration:
    return cudaErrorInvalidConfiguration;
  case Outcome::illegal_address:
    return cudaErrorIllegalAddress;
  case Outcome::misaligned_address:
    return cudaErrorMisalignedAddress;
  case Outcome::assert_failed:
    return cudaErrorAssert;
  case Outcome::launch_timeout:
    return cudaErrorLaunchTimeout;
  case Outcome::trap:
    return cudaErrorLaunchFailure;
  }
  return cudaErrorUnknown;
}

struct Configuration {
  dim3 grid{};
  dim3 block{};
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};
thread_local std::vector<Configuration> configurations; // of `<<<...>>>` that have begun

/// Whether the program sees the status of a launch: that of `<<<...>>>` is easily lost.
enum class Seen : bool { no, yes };

cudaError_t launch(const void* function, const Configuration& at, void** arguments, Seen seen) {
  Lock lock = lock_state();
  Kernel* const kernel = kernel_of(function);
  if (kernel == nullptr) return finish(cudaErrorInvalidDeviceFunction);
  const auto stream = stream_of(at.stream);
  if (stream == nullptr || stream->device != current_device()) return finish(cudaErrorInvalidResourceHandle);
  ptxrun::Launch launch{
      {at.grid.x, at.grid.y, at.grid.z}, {at.block.x, at.block.y, at.block.z}, nullptr, at.shared_bytes};
  std::shared_ptr<std::vector<std::uint64_t>> parameters{}; // of eight bytes each, for the alignment
  try {
    if (const ptxrun::LaunchFault fault = ptxrun::fault_of(*kernel, launch); fault.outcome != Outcome::success) {
      if (seen == Seen::no) report_finding(fault.kind, kernel, nullptr, fault.detail);
      return finish(error_of(fault.outcome));
    }
    const ptxrun::KernelTraits& traits = ptxrun::traits_of(*kernel);
    parameters = std::make_shared<std::vector<std::uint64_t>>(traits.parameter_bytes / sizeof(std::uint64_t) + 1);
    auto* const bytes = reinterpret_cast<std::byte*>(parameters->data());
    for (std::size_t i = 0; i < traits.parameters.size(); ++i)
      std::memcpy(bytes + traits.parameters[i].offset, arguments[i], traits.parameters[i].bytes);
  } catch (const std::exception& error) {
    report_finding("PTX that the interpreter does not know", kernel, nullptr, error.what());
    return finish(cudaErrorInvalidPtx);
  }
  return finish(enqueue(at.stream, lock, [kernel, launch, parameters]() mutable {
    launch.parameters = reinterpret_cast<const std::byte*>(parameters->data());
    if (const Outcome outcome = ptxrun::run(*kernel, launch); outcome != Outcome::success) stick(error_of(outcome));
  }));
}

} // namespace

extern "C" {

// What nvcc's host code calls; no header declares it.

void** __cudaRegisterFatBinary(void* wrapper) {
  const auto* const binary = static_cast<const FatBinary*>(wrapper);
  std::uint16_t header_bytes = 0;
  std::uint64_t image_bytes = 0;
  std::memcpy(&header_bytes, binary->data + 6, sizeof header_bytes);
  std::memcpy(&image_bytes, binary->data + 8, sizeof image_bytes);
  const std::string_view text = chosen_text({binary->data, header_bytes + image_bytes});
  if (text.empty())
    report_finding("no PTX to run", nullptr, nullptr,
                   "a file was compiled without plain PTX for compute_" + std::to_string(ptxrun::options().capability) +
                       " or older; nvcc needs code=compute_<n> and --no-compress");
  return reinterpret_cast<void**>(new Module{std::string{text}});
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 0; }

void __cudaRegisterFunction(void** module, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  const Lock lock = lock_state();
  Kernel* const kernel = reinterpret_cast<Module*>(module)->find_kernel(name);
  if (kernel == nullptr) return;
  registered().kernels[host] = kernel;
  registered().kernels[kernel] = kernel; // what cudaGetKernel gives out
}
void __cudaRegisterVar(void** module, char* host, char*, const char* name, int, std::size_t, int, int) {
  const Lock lock = lock_state();
  Variable* const variable = reinterpret_cast<Module*>(module)->find_variable(name);
  if (variable != nullptr) registered().variables[host] = variable;
}

cudaError_t __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, void* stream) {
  configurations.push_back({grid, block, shared_bytes, static_cast<cudaStream_t>(stream)});
  return cudaSuccess;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream) {
  const Configuration last = configurations.back();
  configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* to, const void* function) {
  const Lock lock = lock_state();
  Kernel* const kernel = kernel_of(function);
  if (kernel == nullptr) return finish(cudaErrorInvalidDeviceFunction);
  *to = reinterpret_cast<cudaKernel_t>(kernel);
  return finish(cudaSuccess);
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                               cudaStream_t stream) {
  return launch(kernel, {grid, block, shared_bytes, stream}, arguments, Seen::no);
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                             cudaStream_t stream) {
  return launch(function, {grid, block, shared_bytes, stream}, arguments, Seen::yes);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* at, const void* function, void** arguments) {
  return launch(function, {at->gridDim, at->blockDim, at->dynamicSmemBytes, at->stream}, arguments, Seen::yes);
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  const Lock lock = lock_state();
  Kernel* const kernel = kernel_of(function);
  if (kernel == nullptr) return finish(cudaErrorInvalidDeviceFunction);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return finish(cudaSuccess);
  const std::size_t most = ptxrun::options().opt_in_shared_bytes() - ptxrun::traits_of(*kernel).static_shared_bytes;
  if (value < 0 || static_cast<std::size_t>(value) > most) return finish(cudaErrorInvalidValue);
  ptxrun::allow_dynamic_shared(*kernel, static_cast<std::uint32_t>(value));
  return finish(cudaSuccess);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  const Lock lock = lock_state();
  Kernel* const kernel = kernel_of(function);
  if (kernel == nullptr) return finish(cudaErrorInvalidDeviceFunction);
  const ptxrun::KernelTraits& traits = ptxrun::traits_of(*kernel);
  *attributes = {};
  attributes->maxThreadsPerBlock = traits.max_threads;
  attributes->sharedSizeBytes = traits.static_shared_bytes;
  attributes->localSizeBytes = traits.local_bytes;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>((48U << 10) - traits.static_shared_bytes);
  attributes->numRegs = 32; // ptxas decides
  attributes->ptxVersion = attributes->binaryVersion = ptxrun::options().capability;
  return finish(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                   std::size_t dynamic_shared_bytes, unsigned) {
  const Lock lock = lock_state();
  Kernel* const kernel = kernel_of(function);
  if (kernel == nullptr) return finish(cudaErrorInvalidDeviceFunction);
  constexpr int most_blocks = 16, most_threads = 1024; // of the smallest device
  const std::size_t shared_bytes = ptxrun::traits_of(*kernel).static_shared_bytes + dynamic_shared_bytes + 1024;
  const auto by_shared = static_cast<int>(ptxrun::options().multiprocessor_shared_bytes() / shared_bytes);
  *blocks = std::min({most_blocks, most_threads / std::max(threads, 1), by_shared});
  return finish(cudaSuccess);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          std::size_t dynamic_shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic_shared_bytes, 0);
}

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  const Lock lock = lock_state();
  const auto found = registered().variables.find(symbol);
  if (found == registered().variables.end()) return finish(cudaErrorInvalidSymbol);
  *address = found->second->data;
  return finish(cudaSuccess);
}
}
