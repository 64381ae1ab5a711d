#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Cache of a library's best plans by problem: a bounded map for all threads. A key is a few numbers. Places are
// distributed by hash, eight to a set; when a set is full, its least recently used entry is replaced. Making a plan may
// take milliseconds, so it happens outside the lock; when two threads make one for a key, the first is kept for both.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace twill { inline namespace v0 { namespace nvidia {

/// Mixes the words of a key; every bit of the input reaches every bit of the result.
template <std::size_t Words>
[[nodiscard]] constexpr std::uint64_t hash_of(const std::array<std::uint64_t, Words>& key) {
  std::uint64_t hash = 0x9e3779b97f4a7c15U;
  for (const std::uint64_t word : key) {
    hash ^= word; // the finaliser of SplitMix64 (Steele, Lea and Flood, 2014) after each word
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9U;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebU;
    hash ^= hash >> 31;
  }
  return hash;
}

template <std::size_t Words, class Plan> class PlanCache {
public:
  using Key = std::array<std::uint64_t, Words>;
  static constexpr std::size_t places = 8; ///< of a set

  /// At most `capacity` plans, a multiple of eight.
  explicit PlanCache(std::size_t capacity = 1024) : sets_{capacity / places == 0 ? 1 : capacity / places} {}

  /// The plan of a key; `make()` is called when there is none. throws: what `make` throws, and nothing is kept then
  template <class F> [[nodiscard]] Plan find_or_make(const Key& key, F make) {
    {
      const std::lock_guard lock(mutex_);
      if (const Entry* found = find(key)) return found->plan;
    }
    Plan made = make();
    const std::lock_guard lock(mutex_);
    if (const Entry* found = find(key)) return found->plan;
    Entry& entry = oldest_of(key);
    entry = {key, made, ++clock_};
    return made;
  }

  /// The plan of a key, if there is one.
  [[nodiscard]] std::optional<Plan> find_known(const Key& key) {
    const std::lock_guard lock(mutex_);
    const Entry* const found = find(key);
    return found != nullptr ? std::optional<Plan>{found->plan} : std::nullopt;
  }

  /// The number of plans in the cache.
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    if (entries_ != nullptr)
      for (std::size_t place = 0; place < sets_ * places; ++place) count += entries_[place].last_use != 0 ? 1 : 0;
    return count;
  }

private:
  struct Entry {
    Key key{};
    Plan plan{};
    std::uint64_t last_use = 0; ///< 0: empty
  };

  [[nodiscard]] Entry* set_of(const Key& key) { return &entries_[hash_of(key) % sets_ * places]; }

  [[nodiscard]] const Entry* find(const Key& key) {
    if (entries_ == nullptr) entries_ = std::make_unique<Entry[]>(sets_ * places);
    Entry* const set = set_of(key);
    for (std::size_t place = 0; place < places; ++place)
      if (set[place].last_use != 0 && set[place].key == key) {
        set[place].last_use = ++clock_;
        return &set[place];
      }
    return nullptr;
  }

  [[nodiscard]] Entry& oldest_of(const Key& key) {
    Entry* const set = set_of(key);
    std::size_t oldest = 0;
    for (std::size_t place = 1; place < places; ++place)
      if (set[place].last_use < set[oldest].last_use) oldest = place;
    return set[oldest];
  }

  std::size_t sets_;
  mutable std::mutex mutex_;
  std::unique_ptr<Entry[]> entries_; ///< made at the first query
  std::uint64_t clock_ = 0;
};

}}} // namespace twill::v0::nvidia
