#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// `Meta` has no memory and runs nothing. A program on it allocates and releases the addresses it would need anywhere else,
// so its exact peak can be read before a real device is touched; no kernel is even compiled for it. Read next:
// device/device.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/pending.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/device/current.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 {

namespace detail {
/// The next address nobody has; no machine maps addresses this high, so using one is a clean fault.
TWILL_EXPORT inline constinit std::atomic<std::uint64_t> next_meta_address{std::uint64_t{1} << 56};
} // namespace detail

/// A device without memory.
struct TWILL_EXPORT Meta {
  int index = 0; ///< which one, from 0

  static constexpr std::string_view kind = "meta"; ///< As in device names: "meta", "meta:1".
  static constexpr bool has_memory = false;        ///< That tensors of this kind own nothing.

  /// As many as a program likes: replicas on Meta cost nothing either.
  [[nodiscard]] static int count() { return 512; }

  /// Hands out addresses that stand for memory, each range once.
  class Upstream {
  public:
    /// Addresses without memory.
    explicit Upstream(Meta) {}
    /// An address that nothing lies at; requests are counted, never served.
    [[nodiscard]] void* allocate(std::size_t bytes);
    /// Nothing is held, so nothing is freed.
    void release(void*, std::size_t) noexcept {}
    /// More than any program asks for: 2^50 bytes.
    [[nodiscard]] std::size_t total_bytes() const { return std::size_t{1} << 50; }
    /// All of it, always.
    [[nodiscard]] std::size_t free_bytes() const { return total_bytes(); }
  };

  /// Nothing runs, so every event has passed.
  class Event {
  public:
    /// True: nothing runs.
    [[nodiscard]] bool is_complete() const { return true; }
    /// Returns at once: nothing runs.
    void wait() const {}
  };

  friend constexpr bool operator==(Meta, Meta) = default;
};

/// What stands for its name in tables.
[[nodiscard]] inline std::string device_name(Meta) { return "no memory, runs nothing"; }

/// An event that is complete.
[[nodiscard]] inline Meta::Event record(Meta) { return {}; }
/// Returns at once: nothing runs.
inline void wait(const Meta::Event&) {}
template <class Event>
requires requires(const Event& event) { event.wait(); }
/// Returns at once: nothing runs.
void wait(Meta, const Event&) {}
/// Returns at once: nothing runs.
inline void synchronize(Meta) {}

/// Runs nothing; the kernel has to fit, and is not compiled.
template <std::same_as<Meta> D, class F>
requires std::invocable<F&, const Team&>
void launch(D device, F&&) { require_exists(device, "launch"); }

/// Runs `f()` at once in the calling thread, because it is host code; only the kernels it launches run nowhere.
template <class F>
requires std::invocable < std::decay_t<F>
& > auto submit(Meta device, F&& f) -> Pending<std::invoke_result_t<std::decay_t<F>&>> {
  using Result = std::invoke_result_t<std::decay_t<F>&>;
  const DeviceGuard guard{device};
  return Pending<Result>::start(nullptr, to_string(device), std::decay_t<F>(std::forward<F>(f)));
}

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/device/meta/meta.ipp>
#endif
