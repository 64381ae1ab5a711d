#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random number state of a device. Numbers are pure functions of (seed, step, node, element index), see
// core/philox.hpp; so a device keeps only a seed and a counter of draws. Equal seeds give equal numbers on every device
// and every kind. The seed is 0 until one is set: runs repeat by default. Read next: core/philox.hpp.

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

/// The inputs of one random operation.
struct RandomDraw {
  std::uint64_t seed = 0; ///< set by `manual_seed`
  std::uint32_t step = 0; ///< the number of earlier draws
  friend constexpr bool operator==(const RandomDraw&, const RandomDraw&) = default;
};

namespace detail {
/// The seed for all devices, and how often it was set: a generator that missed the last change takes it at its next
/// use, so device kinds need not register anywhere.
struct SeedOfAll {
  std::mutex mutex{};
  std::uint64_t seed = 0;
  std::atomic<std::uint64_t> times_set{0};
};
TWILL_EXPORT inline constinit SeedOfAll seed_of_all{};
} // namespace detail

/// The state of a device's random operations. Safe to use from several threads.
class RandomGenerator {
public:
  constexpr RandomGenerator() = default;
  RandomGenerator(const RandomGenerator&) = delete;
  RandomGenerator& operator=(const RandomGenerator&) = delete;

  /// The seed and a step number that no other draw has had.
  [[nodiscard]] RandomDraw next();

  /// Takes back an unused draw, if it was the last.
  void give_back(RandomDraw unused);

  /// The next draw, without taking it; for checkpoints and replicas.
  [[nodiscard]] RandomDraw state();

  /// Continues from a saved state.
  void set_state(RandomDraw state);

private:
  void follow_seed_of_all();

  std::mutex mutex_{};
  RandomDraw state_{};
  std::uint64_t times_seen_ = 0;
};

namespace detail {
template <class D> TWILL_EXPORT inline constinit std::array<RandomGenerator, max_devices> generators{};
static_assert(std::is_trivially_destructible_v<RandomGenerator>, "twill: generators outlive every static object");
} // namespace detail

/// The generator of a device.
/// throws: DeviceError when the device does not exist
template <DeviceName D> [[nodiscard]] RandomGenerator& generator(const D& device) {
  require_exists(device, "generator");
  return detail::generators<D>[static_cast<std::size_t>(device.index)];
}

/// Restarts the random numbers of one device.
template <DeviceName D> void manual_seed(const D& device, std::uint64_t seed) {
  generator(device).set_state({seed, 0});
}

/// Restarts the random numbers of all devices of all kinds.
void manual_seed_all(std::uint64_t seed);

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/device/generator.ipp>
#endif
