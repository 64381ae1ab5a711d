#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Points at which a program can fail: operator new, the C library's aligned memory (segments of pools), the start of threads,
// calls on files and those of a driver. While somebody is watching, each asks here, and the one with the wanted number fails,
// once. Beside them: what operator new has given out and not got back. The hooks are in points.cpp; the linker wraps the C
// library's.

#include <array>
#include <atomic>
#include <string_view>

namespace twill::test::faults {

enum class Kind { allocation, segment, thread, file, driver };
inline constexpr std::array<std::string_view, 5> kinds{"operator new", "segments of pools", "threads", "calls on files",
                                                       "calls of a driver"};

struct Points {
  std::atomic<bool> watched{false};
  std::atomic<long> failing{0}; ///< the number, from 1, of the point that fails; 0 for none
  std::atomic<long> passed{0};
  std::array<std::atomic<long>, kinds.size()> counts{};
  std::atomic<Kind> failed{Kind::allocation}; ///< what the failing point was
  std::atomic<long> blocks_in_use{0};         ///< of operator new
  bool (*is_exempt)() = nullptr;              ///< whether what the calling thread allocates now is no point
};
inline constinit Points points{};

/// Whether the point that asks has to fail; where `is_none()`, asked only while somebody watches, it is no point.
template <class F> [[nodiscard]] bool fails(Kind kind, const F& is_none) {
  if (!points.watched.load(std::memory_order_relaxed) || is_none()) return false;
  if (kind == Kind::allocation && points.is_exempt != nullptr && points.is_exempt()) return false;
  points.counts[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed);
  if (points.passed.fetch_add(1, std::memory_order_relaxed) + 1 != points.failing.load(std::memory_order_relaxed))
    return false;
  points.failed = kind;
  return true;
}
[[nodiscard]] inline bool fails(Kind kind) {
  return fails(kind, [] { return false; });
}

/// Points count, and one may fail, as long as this lives.
class Watch {
public:
  Watch() { points.watched = true; }
  ~Watch() { points.watched = false; }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
};
/// What happens meanwhile neither counts nor fails.
class Pause {
public:
  Pause() : was_watched_{points.watched.exchange(false)} {}
  ~Pause() { points.watched = was_watched_; }
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;

private:
  bool was_watched_;
};

/// Lets twill's calls on files ask here.
void watch_files();

} // namespace twill::test::faults
