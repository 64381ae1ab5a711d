#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of memory/place.hpp.

#include <twill/memory/place.hpp>

namespace twill { inline namespace v0 { namespace memory {
namespace detail {

TWILL_BODY const std::byte* Interned::keep(const void* bytes, std::size_t size) {
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

TWILL_BODY const std::byte* Interned::find(Entry* entry, std::uint64_t hash, const void* bytes, std::size_t size) {
  for (; entry != nullptr; entry = entry->next)
    if (entry->hash == hash && entry->size == size && std::memcmp(bytes_of(entry), bytes, size) == 0)
      return bytes_of(entry);
  return nullptr;
}

} // namespace detail

TWILL_BODY Place::Place(std::string_view name, const char* file, int line) noexcept
    : outer_{innermost()}, name_{name}, file_{file}, line_{line} {
  innermost() = this;
}

TWILL_BODY const char* Place::current() noexcept {
  const Place* const place = innermost();
  return place == nullptr ? nullptr : place->text_ != nullptr ? place->text_ : place->make_text();
}

TWILL_COLD TWILL_BODY const char* Place::make_text() const noexcept {
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
  put(path.substr(path.rfind('/') + 1)); // all of a path without one
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

TWILL_COLD TWILL_BODY const CallStack* current_calls(int most, int skip) noexcept {
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

}}} // namespace twill::v0::memory
