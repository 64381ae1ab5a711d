#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random numbers are pure functions of (seed, step, node, element index), see core/philox.hpp; so all the state a device
// keeps is a seed and a counter of draws. Equal seeds give equal numbers on every device and every kind. The seed is 0
// until somebody sets one: runs repeat by default. Read next: core/philox.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/partition.hpp>
#include <twill/device/current.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>

namespace twill { inline namespace v0 {

/// What one random operation draws with.
struct Draw {
  std::uint64_t seed = 0; ///< as `manual_seed` set it
  std::uint32_t step = 0; ///< how many draws came before
  friend constexpr bool operator==(const Draw&, const Draw&) = default;
};

namespace detail {
/// The seed for all devices, and how often it was set: a generator that missed the last time takes it when it is used,
/// so device kinds need not register anywhere.
struct SeedOfAll {
  std::mutex mutex{};
  std::uint64_t seed = 0;
  std::atomic<std::uint64_t> times_set{0};
};
TWILL_EXPORT inline constinit SeedOfAll seed_of_all{};
} // namespace detail

/// The state of a device's random operations. Safe to use from several threads.
class Generator {
public:
  constexpr Generator() = default;
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  /// The seed and a step number that no other draw has had.
  [[nodiscard]] Draw next();

  /// Takes back what nobody has used after all, if it was the last.
  void give_back(Draw unused);

  /// What `next` would return; for checkpoints and replicas.
  [[nodiscard]] Draw state();

  /// Continues from a saved state.
  void set_state(Draw state);

private:
  void follow_seed_of_all();

  std::mutex mutex_{};
  Draw state_{};
  std::uint64_t times_seen_ = 0;
};

namespace detail {
template <class D> TWILL_EXPORT inline constinit std::array<Generator, max_devices> generators{};
static_assert(std::is_trivially_destructible_v<Generator>, "twill: generators outlive every static object");
} // namespace detail

/// The generator of a device.
/// throws: DeviceError when the device does not exist
template <DeviceName D> [[nodiscard]] Generator& generator(const D& device) {
  require_exists(device, "generator");
  return detail::generators<D>[static_cast<std::size_t>(device.index)];
}

/// Starts the random numbers of one device anew.
template <DeviceName D> void manual_seed(const D& device, std::uint64_t seed) {
  generator(device).set_state({seed, 0});
}

/// Starts the random numbers of all devices of all kinds anew.
void manual_seed_all(std::uint64_t seed);

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/device/generator.ipp>
#endif
