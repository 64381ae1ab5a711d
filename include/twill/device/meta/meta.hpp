#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Meta device, without memory and execution. A program on it allocates and releases the addresses that it would need on
// another device, so its exact peak is known before a real device is used; no kernel is even compiled for it.
// Read next: device/device.hpp.

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
/// The next unused address; no machine maps addresses this high, so using one is a clean fault.
TWILL_EXPORT inline constinit std::atomic<std::uint64_t> next_meta_address{std::uint64_t{1} << 56};
} // namespace detail

/// A device without memory.
struct TWILL_EXPORT Meta {
  int index = 0; ///< the ordinal, from 0

  static constexpr std::string_view kind = "meta"; ///< The kind in device names: "meta", "meta:1".
  static constexpr bool has_memory = false;        ///< Tensors of this kind own no memory.

  /// The limit on devices: 512, as replicas on Meta cost nothing.
  [[nodiscard]] static int count() { return 512; }

  /// Hands out addresses that stand for memory, each range once.
  class Upstream {
  public:
    /// Addresses without memory.
    explicit Upstream(Meta) {}
    /// An address without memory; requests are counted, never served.
    [[nodiscard]] void* allocate(std::size_t bytes) {
      constexpr std::uint64_t page = std::uint64_t{2} << 20;
      if (bytes > total_bytes()) throw std::bad_alloc{};
      const std::uint64_t rounded = (bytes + page) / page * page;
      return reinterpret_cast<void*>(detail::next_meta_address.fetch_add(rounded, std::memory_order_relaxed));
    }
    /// Does nothing: no memory is held.
    void release(void*, std::size_t) noexcept {}
    /// More than any program requests: 2^50 bytes.
    [[nodiscard]] std::size_t total_bytes() const { return std::size_t{1} << 50; }
    /// Always all of it.
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

/// The device's name in tables.
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

/// Runs `f()` at once in the calling thread, because it is host code; only the kernels that it launches do not run.
template <class F>
requires std::invocable < std::decay_t<F>
& > auto submit(Meta device, F&& f) -> Pending<std::invoke_result_t<std::decay_t<F>&>> {
  using Result = std::invoke_result_t<std::decay_t<F>&>;
  const DeviceGuard guard{device};
  return Pending<Result>::start(nullptr, to_string(device), std::decay_t<F>(std::forward<F>(f)));
}

}} // namespace twill::v0
