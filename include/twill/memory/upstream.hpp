#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sources of a pool's memory: the host, a device, a test that fails on demand, or none. Read next: memory/pool.hpp.

#include <concepts>
#include <cstddef>

namespace twill { inline namespace v0 { namespace memory {

/// A source of large pieces of memory. `allocate` throws std::bad_alloc when there is none; addresses are aligned at
/// least to the granularity of the pool. All functions may be called from several threads at once. The pool never reads
/// or writes the memory.
template <class U>
concept Upstream = requires(U& upstream, void* address, std::size_t bytes) {
  { upstream.allocate(bytes) } -> std::same_as<void*>;
  { upstream.release(address, bytes) }
  noexcept;
  { upstream.total_bytes() } -> std::convertible_to<std::size_t>;
  { upstream.free_bytes() } -> std::convertible_to<std::size_t>;
};

/// Whether the pool serves each request alone: by an allocation of exactly its bytes, which goes back to upstream when
/// it is released. For memory checkers, which know where an allocation of upstream ends but not the pool's blocks. An
/// upstream that needs it has a member `each_alone()`; the answer never changes once memory was allocated.
template <Upstream U> [[nodiscard]] bool each_alone(const U& upstream) {
  if constexpr (requires { upstream.each_alone(); }) {
    return upstream.each_alone();
  } else {
    return false;
  }
}

}}} // namespace twill::v0::memory
