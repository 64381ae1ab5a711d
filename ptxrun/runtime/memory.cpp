// SPDX-License-Identifier: Apache-2.0
#include <ptxrun/runtime/memory.hpp>

#include <ptxrun/findings.hpp>
#include <ptxrun/interpreter.hpp>
#include <ptxrun/runtime/streams.hpp>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <sys/mman.h>

namespace ptxrun::runtime {
namespace {

constexpr std::size_t page = 4096;

struct Allocation {
  std::size_t bytes = 0;
  Where where = Where::device;
  int device = 0;
};

struct Memory {
  std::map<std::uintptr_t, Allocation> allocations{}; // by first address
  std::vector<std::size_t> used = std::vector<std::size_t>(static_cast<std::size_t>(options().devices)); // by device
};

/// Guarded by the lock of the state, which each entry point below takes.
Memory& memory() {
  static auto* const all = new Memory;
  return *all;
}

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

/// The allocation an address lies in, or the end.
auto containing(const void* address) {
  auto& all = memory().allocations;
  auto next = all.upper_bound(number(address));
  if (next == all.begin()) return all.end();
  --next;
  return number(address) < next->first + next->second.bytes ? next : all.end();
}

std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

} // namespace

std::size_t used_bytes(int device) { return memory().used[static_cast<std::size_t>(device)]; }

cudaError_t allocate(void** to, std::size_t bytes, Where where) {
  *to = nullptr;
  if (bytes == 0) return cudaSuccess;
  const int device = current_device();
  std::size_t& used = memory().used[static_cast<std::size_t>(device)];
  if (where == Where::device && (bytes > options().memory_bytes || used > options().memory_bytes - bytes))
    return cudaErrorMemoryAllocation;
  const std::size_t mapped = whole_pages(bytes) + 2 * page;
  void* const begin = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return cudaErrorMemoryAllocation;
  auto* const first = static_cast<std::byte*>(begin) + page;
  if (mprotect(first, mapped - 2 * page, PROT_READ | PROT_WRITE) != 0) {
    munmap(begin, mapped);
    return cudaErrorMemoryAllocation;
  }
  constexpr std::size_t most_filled = std::size_t{64} << 20; // of larger ones only the beginning, for the time it takes
  std::memset(first, 0xff, bytes < most_filled ? bytes : most_filled);
  if (where == Where::device) used += bytes;
  memory().allocations.emplace(number(first), Allocation{bytes, where, device});
  register_memory(first, bytes, where == Where::host ? "pinned host memory" : "device memory");
  *to = first;
  return cudaSuccess;
}

cudaError_t release(void* address, Where where) {
  if (address == nullptr) return cudaSuccess;
  auto& all = memory().allocations;
  const auto found = all.find(number(address));
  if (found == all.end() || found->second.where != where) {
    report_finding("release of memory that was not allocated", nullptr, nullptr,
                   where == Where::host ? "cudaFreeHost" : "cudaFree");
    return cudaErrorInvalidValue;
  }
  const Allocation gone = found->second;
  if (gone.where == Where::device) memory().used[static_cast<std::size_t>(gone.device)] -= gone.bytes;
  unregister_memory(address);
  munmap(static_cast<std::byte*>(address) - page, whole_pages(gone.bytes) + 2 * page);
  all.erase(found);
  return cudaSuccess;
}

Found find(const void* address) {
  const auto found = containing(address);
  if (found == memory().allocations.end()) return {};
  return {true, found->second.where, found->second.device};
}

void check_range(const char* call, const void* address, std::size_t bytes) {
  const auto found = containing(address);
  if (found == memory().allocations.end()) return;
  const std::size_t left = found->first + found->second.bytes - number(address);
  if (bytes > left)
    report_finding("copy out of bounds", nullptr, nullptr,
                   std::string{call} + ": " + std::to_string(bytes) + " bytes where the allocation has " +
                       std::to_string(left) + " left");
}

} // namespace ptxrun::runtime

using namespace ptxrun::runtime;

namespace {

cudaError_t allocate_now(void** to, std::size_t bytes, Where where) {
  const Lock lock = lock_state();
  if (const cudaError_t status = refuse_while_capturing(); status != cudaSuccess) return finish(status);
  return finish(allocate(to, bytes, where));
}

/// CUDA waits for all devices before it takes memory back.
cudaError_t release_now(void* address, Where where) {
  Lock lock = lock_state();
  if (const cudaError_t status = refuse_while_capturing(); status != cudaSuccess) return finish(status);
  run_all(lock);
  return finish(release(address, where));
}

} // namespace

extern "C" {

cudaError_t cudaMalloc(void** to, std::size_t bytes) { return allocate_now(to, bytes, Where::device); }
cudaError_t cudaFree(void* address) { return release_now(address, Where::device); }
cudaError_t cudaHostAlloc(void** to, std::size_t bytes, unsigned) { return allocate_now(to, bytes, Where::host); }
cudaError_t cudaMallocHost(void** to, std::size_t bytes) { return allocate_now(to, bytes, Where::host); }
cudaError_t cudaFreeHost(void* address) { return release_now(address, Where::host); }
/// Managed memory is device memory that the host may touch, as all of it may here.
cudaError_t cudaMallocManaged(void** to, std::size_t bytes, unsigned) { return allocate_now(to, bytes, Where::device); }

cudaError_t cudaMallocAsync(void** to, std::size_t bytes, cudaStream_t) {
  const Lock lock = lock_state();
  return finish(allocate(to, bytes, Where::device));
}
cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  Lock lock = lock_state();
  return finish(enqueue(stream, lock, [address] {
    const Lock inner = lock_state();
    static_cast<void>(release(address, Where::device));
  }));
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const Lock lock = lock_state();
  *total = ptxrun::options().memory_bytes;
  *free = *total - used_bytes(current_device());
  return finish(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  const Lock lock = lock_state();
  const Found found = find(address);
  *attributes = {};
  attributes->type = !found.is_known              ? cudaMemoryTypeUnregistered
                     : found.where == Where::host ? cudaMemoryTypeHost
                                                  : cudaMemoryTypeDevice;
  attributes->device = found.device;
  attributes->devicePointer = found.is_known ? const_cast<void*>(address) : nullptr;
  attributes->hostPointer = found.where == Where::host ? const_cast<void*>(address) : nullptr;
  return finish(cudaSuccess);
}
}
