// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills of the CUDA runtime stand-in. Memory that the runtime does not know is pageable: what is read from there
// was read when the call returns, and what is written there was written.
#include <ptxrun/runtime/memory.hpp>
#include <ptxrun/runtime/streams.hpp>

#include <ptxrun/findings.hpp>

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace ptxrun::runtime;

namespace {

enum class Waits : bool { no, yes };

/// Height rows of `width` bytes, `pitch` bytes apart.
struct Plane {
  std::byte* first = nullptr;
  std::size_t pitch = 0;
};

void copy_rows(const Plane& to, const Plane& from, std::size_t width, std::size_t height) {
  for (std::size_t row = 0; row < height; ++row)
    std::memcpy(to.first + row * to.pitch, from.first + row * from.pitch, width);
}

std::byte* bytes_at(const void* address) { return static_cast<std::byte*>(const_cast<void*>(address)); }

cudaError_t copy(Plane to, Plane from, std::size_t width, std::size_t height, cudaStream_t handle, Waits waits) {
  Lock lock = lock_state();
  if (width == 0 || height == 0) return finish(cudaSuccess);
  if (waits == Waits::yes)
    if (const cudaError_t status = refuse_while_capturing(); status != cudaSuccess) return finish(status);
  const auto stream = stream_of(handle);
  if (stream == nullptr) return finish(cudaErrorInvalidResourceHandle);
  check_range("copy, destination", to.first, (height - 1) * to.pitch + width);
  check_range("copy, source", from.first, (height - 1) * from.pitch + width);
  const bool captures = stream->capture != nullptr;
  const bool is_pageable = !find(from.first).is_known;
  std::function<void()> work{};
  if (is_pageable && !captures) {
    auto staged = std::make_shared<std::vector<std::byte>>(width * height);
    copy_rows({staged->data(), width}, from, width, height);
    work = [=] { copy_rows(to, {staged->data(), width}, width, height); };
  } else {
    work = [=] { copy_rows(to, from, width, height); };
  }
  if (const cudaError_t status = enqueue(handle, lock, std::move(work)); status != cudaSuccess) return finish(status);
  if (!captures && (waits == Waits::yes || !find(to.first).is_known)) run_until(*stream, stream->issued, lock);
  return finish(cudaSuccess);
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream, Waits waits) {
  return copy({bytes_at(to), bytes}, {bytes_at(from), bytes}, bytes, 1, stream, waits);
}

/// Where a variable of a kernel's file is, or null.
std::byte* symbol_at(const void* symbol, std::size_t offset) {
  void* address = nullptr;
  return cudaGetSymbolAddress(&address, symbol) == cudaSuccess ? static_cast<std::byte*>(address) + offset : nullptr;
}

} // namespace

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return copy(to, from, bytes, nullptr, Waits::yes);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  return copy(to, from, bytes, stream, Waits::no);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes, cudaStream_t stream) {
  return copy(to, from, bytes, stream, Waits::no);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind, cudaStream_t stream) {
  return copy({bytes_at(to), to_pitch}, {bytes_at(from), from_pitch}, width, height, stream, Waits::no);
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind) {
  return copy({bytes_at(to), to_pitch}, {bytes_at(from), from_pitch}, width, height, nullptr, Waits::yes);
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                               cudaMemcpyKind) {
  std::byte* const to = symbol_at(symbol, offset);
  return to == nullptr ? cudaErrorInvalidSymbol : copy(to, from, bytes, nullptr, Waits::yes);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind) {
  const std::byte* const from = symbol_at(symbol, offset);
  return from == nullptr ? cudaErrorInvalidSymbol : copy(to, from, bytes, nullptr, Waits::yes);
}

cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t stream) {
  Lock lock = lock_state();
  if (bytes == 0) return finish(cudaSuccess);
  check_range("cudaMemset", to, bytes);
  return finish(enqueue(stream, lock, [=] { std::memset(to, byte, bytes); }));
}
cudaError_t cudaMemset(void* to, int byte, std::size_t bytes) { return cudaMemsetAsync(to, byte, bytes, nullptr); }
}
