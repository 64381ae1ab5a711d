#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Where a pool gets its memory: the host, a device, a test that fails on demand, or nowhere. Read next: memory/pool.hpp.

#include <concepts>
#include <cstddef>

namespace twill { inline namespace v0 { namespace memory {

/// A source of large pieces of memory. `allocate` throws std::bad_alloc when there is none; addresses are aligned to the
/// granularity of the pool at least. All functions may be called from several threads at once. The pool never
/// looks into the memory.
template <class U>
concept Upstream = requires(U& upstream, void* address, std::size_t bytes) {
  { upstream.allocate(bytes) } -> std::same_as<void*>;
  { upstream.release(address, bytes) }
  noexcept;
  { upstream.total_bytes() } -> std::convertible_to<std::size_t>;
  { upstream.free_bytes() } -> std::convertible_to<std::size_t>;
};

/// Whether the pool shall serve each request alone: by an allocation of exactly its bytes, which goes back to upstream when
/// it is released. For memory checkers, which know where an allocation of upstream ends and nothing of the pool's blocks.
/// An upstream that wants it has a member `each_alone()`; the answer never changes once memory was allocated.
template <Upstream U> [[nodiscard]] bool each_alone(const U& upstream) {
  if constexpr (requires { upstream.each_alone(); }) {
    return upstream.each_alone();
  } else {
    return false;
  }
}

}}} // namespace twill::v0::memory
