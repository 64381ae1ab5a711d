#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What made an allocation: the names that the program gives to what it is doing (`memory::Place place{"encoder"}`), and the
// calls that led there. Both are kept once for the life of the process, however often they occur, so a record of memory
// holds a pointer and nothing dangles. A place costs a few stores while nobody records. Read next: memory/recording.hpp.

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

namespace twill::inline v0::memory {

/// Calls that led to an allocation, the innermost first, as addresses behind the calls.
struct CallStack {
  std::size_t size = 0;                   ///< of `addresses`
  const void* const* addresses = nullptr; ///< return addresses, the innermost first
};

namespace detail {

/// Byte strings that are kept for ever, each once. Found by a hash (FNV-1a) in lists that only grow.
class Interned {
public:
  /// The kept copy of some bytes. throws: std::bad_alloc, nothing changed
  [[nodiscard]] const std::byte* keep(const void* bytes, std::size_t size) {
    const auto* const given = static_cast<const unsigned char*>(bytes);
    std::uint64_t hash = 14695981039346656037U;
    for (std::size_t i = 0; i < size; ++i) hash = (hash ^ given[i]) * 1099511628211U;
    std::atomic<Entry*>& first = lists_[(hash ^ hash >> 32) % list_count];
    if (const std::byte* known = find(first.load(std::memory_order_acquire), hash, bytes, size)) return known;
    std::lock_guard guard{growing_};
    Entry* const head = first.load(std::memory_order_acquire);
    if (const std::byte* known = find(head, hash, bytes, size)) return known;
    auto* const entry = new (::operator new(sizeof(Entry) + size)) Entry{head, hash, size};
    std::memcpy(bytes_of(entry), bytes, size);
    first.store(entry, std::memory_order_release);
    return bytes_of(entry);
  }

private:
  struct Entry {
    Entry* next = nullptr;
    std::uint64_t hash = 0;
    std::size_t size = 0;
  };
  static constexpr std::size_t list_count = 4096;

  [[nodiscard]] static std::byte* bytes_of(Entry* entry) { return reinterpret_cast<std::byte*>(entry + 1); }
  [[nodiscard]] static const std::byte* find(Entry* entry, std::uint64_t hash, const void* bytes, std::size_t size) {
    for (; entry != nullptr; entry = entry->next)
      if (entry->hash == hash && entry->size == size && std::memcmp(bytes_of(entry), bytes, size) == 0)
        return bytes_of(entry);
    return nullptr;
  }

  std::atomic<Entry*> lists_[list_count]{};
  std::mutex growing_{};
};

[[nodiscard]] TWILL_EXPORT inline Interned& interned() noexcept {
  static constinit Interned all;
  return all;
}

} // namespace detail

/// Names what the calling thread is doing, for the allocations made meanwhile; places within places are told as
/// "encoder/attention". The name has to outlive the place, not the allocations.
class Place {
public:
  /// Allocations of this thread count for this place while the object lives.
  explicit Place(std::string_view name, const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept
      : outer_{innermost()}, name_{name}, file_{file}, line_{line} {
    innermost() = this;
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { innermost() = outer_; }

  /// The calling thread's place as text that is kept for ever, "encoder/attention (model.cpp:12)", or null without one.
  [[nodiscard]] static const char* current() noexcept {
    const Place* const place = innermost();
    return place == nullptr ? nullptr : place->text_ != nullptr ? place->text_ : place->make_text();
  }

private:
  [[nodiscard]] TWILL_EXPORT static const Place*& innermost() noexcept {
    static thread_local const Place* place = nullptr;
    return place;
  }

  /// Written from its end, the innermost name first; of very long ones the outer part is left out, at a whole character of
  /// UTF-8.
  [[nodiscard]] TWILL_COLD const char* make_text() const noexcept {
    char text[512];
    char* begin = text + sizeof text;
    bool is_full = false;
    const auto put = [&](std::string_view part) {
      if (is_full) return;
      const auto room = static_cast<std::size_t>(begin - text);
      std::size_t size = part.size() < room ? part.size() : room;
      is_full = size < part.size();
      const auto goes_on = [&] { return (static_cast<unsigned char>(part[part.size() - size]) & 0xC0) == 0x80; };
      while (is_full && size > 0 && goes_on()) --size;
      begin -= size;
      std::memcpy(begin, part.data() + (part.size() - size), size);
    };
    put({"\0", 1});
    put(")");
    char digits[12];
    char* digit = digits + sizeof digits;
    for (int rest = line_ > 0 ? line_ : 0; digit == digits + sizeof digits || rest > 0; rest /= 10)
      *--digit = static_cast<char>('0' + rest % 10);
    put({digit, static_cast<std::size_t>(digits + sizeof digits - digit)});
    const std::string_view path{file_};
    put(":");
    put(path.substr(path.rfind('/') + 1)); // of a path without one, all
    put(" (");
    for (const Place* place = this; place != nullptr; place = place->outer_) {
      put(place->name_);
      if (place->outer_ != nullptr) put("/");
    }
    try {
      const auto size = static_cast<std::size_t>(text + sizeof text - begin);
      text_ = reinterpret_cast<const char*>(detail::interned().keep(begin, size));
    } catch (const std::bad_alloc&) {
      return "(no room for the name of the place)";
    }
    return text_;
  }

  const Place* outer_;
  std::string_view name_;
  const char* file_;
  int line_;
  mutable const char* text_ = nullptr; ///< once it was asked for, by the one thread that may
};

/// The calls that led here, at most so many and 64, without the innermost `skip`; null where the system cannot tell or has
/// no room for them.
/// cost: one to some microseconds
[[nodiscard]] TWILL_COLD inline const CallStack* current_calls(int most, int skip = 0) noexcept {
#if __has_include(<execinfo.h>)
  constexpr int limit = 64;
  struct Kept {
    CallStack calls{};
    void* addresses[limit]{};
  } kept;
  ++skip; // this function
  const int wanted = most + skip < limit ? most + skip : limit;
  const int count = backtrace(kept.addresses, wanted) - skip;
  if (most <= 0 || count <= 0) return nullptr;
  const auto size = static_cast<std::size_t>(count);
  try {
    auto* const addresses = detail::interned().keep(kept.addresses + skip, size * sizeof(void*));
    kept.calls = {size, reinterpret_cast<const void* const*>(addresses)};
    return reinterpret_cast<const CallStack*>(detail::interned().keep(&kept.calls, sizeof kept.calls));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
#else
  static_cast<void>(most), static_cast<void>(skip);
  return nullptr;
#endif
}

} // namespace twill::inline v0::memory
