#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Origin of allocations: the names that a program gives to its current work (`memory::Place place{"encoder"}`), and the
// call stack. Each is kept once for the life of the process, so a record of memory holds a pointer and nothing dangles.
// A place costs a few stores without a recording. Read next: memory/recording.hpp.

#include <twill/core/config.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <string_view>

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#endif

namespace twill { inline namespace v0 { namespace memory {

/// Calls that led to an allocation, the innermost first, as return addresses.
struct CallStack {
  std::size_t size = 0;                   ///< of `addresses`
  const void* const* addresses = nullptr; ///< return addresses, the innermost first
};

namespace detail {

/// Byte strings that are kept forever, each once. Found by a hash (FNV-1a) in lists that only grow.
class Interned {
public:
  /// The kept copy of some bytes. throws: std::bad_alloc, nothing changed
  [[nodiscard]] const std::byte* keep(const void* bytes, std::size_t size);

private:
  struct Entry {
    Entry* next = nullptr;
    std::uint64_t hash = 0;
    std::size_t size = 0;
  };
  static constexpr std::size_t list_count = 4096;

  [[nodiscard]] static std::byte* bytes_of(Entry* entry) { return reinterpret_cast<std::byte*>(entry + 1); }
  [[nodiscard]] static const std::byte* find(Entry* entry, std::uint64_t hash, const void* bytes, std::size_t size);

  std::atomic<Entry*> lists_[list_count]{};
  std::mutex growing_{};
};

[[nodiscard]] TWILL_EXPORT inline Interned& interned() noexcept {
  static constinit Interned all;
  return all;
}

} // namespace detail

/// Names the current work of the calling thread, for the allocations made meanwhile; nested places are written as
/// "encoder/attention". The name has to outlive the place, not the allocations.
class Place {
public:
  /// Allocations of this thread count for this place while the object is alive.
  explicit Place(std::string_view name, const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { innermost() = outer_; }

  /// The calling thread's place as text that is kept forever, "encoder/attention (model.cpp:12)", or null without one.
  [[nodiscard]] static const char* current() noexcept;

private:
  [[nodiscard]] TWILL_EXPORT static const Place*& innermost() noexcept {
    static thread_local const Place* place = nullptr;
    return place;
  }

  /// Written from its end, the innermost name first; very long texts lose their outer part, cut at a whole UTF-8
  /// character.
  [[nodiscard]] const char* make_text() const noexcept;

  const Place* outer_;
  std::string_view name_;
  const char* file_;
  int line_;
  mutable const char* text_ = nullptr; ///< set when first requested, by the one thread that may
};

/// The calls that led here, at most `most` and 64, without the innermost `skip`; null where the system cannot tell or
/// has no room for them.
/// cost: one to some microseconds
[[nodiscard]] const CallStack* current_calls(int most, int skip = 0) noexcept;

}}} // namespace twill::v0::memory

#if TWILL_HEADER_ONLY
#include <twill/memory/place.ipp>
#endif
