#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A `Queue` is what `launch(device, f)` calls `f` with on a GPU, as a `Team` is on a host device: a stream of one device,
// and what kernels on it may use. Giving it work returns at once. Kernels and libraries share a constant allowance of
// working memory for each stream, so that nothing is allocated in a steady step and a captured graph keeps its addresses.
// Read next: device/gpu/stream.hpp, kernel/gpu/launch.hpp.

#include <twill/device/gpu/runtime.hpp>
#include <twill/device/team_of.hpp>

#include <cstddef>

namespace twill::inline v0::gpu {

/// What lies behind a stream: made with it, and freed with the process.
struct Allowance {
  void* memory = nullptr;       ///< for partial results and library workspaces; kernels of one stream use it in turn
  std::size_t bytes = 0;        ///< of `memory`
  unsigned* counters = nullptr; ///< zero between kernels: who finishes last resets its own
  int counter_count = 0;        ///< of `counters`
};

/// Bytes of each stream's allowance.
inline constexpr std::size_t allowance_bytes = std::size_t{32} << 20;
/// Counters of each stream's allowance.
inline constexpr int allowance_counters = 16384;

/// A stream of a device.
template <Runtime R> class Queue {
public:
  using RuntimeType = R; ///< the driver

  /// Refers to both; they live as long as the stream.
  Queue(int device, typename R::Stream stream, const Properties& properties, const Allowance& allowance)
      : device_{device}, stream_{stream}, properties_{&properties}, allowance_{&allowance} {}

  /// The ordinal.
  [[nodiscard]] int device() const { return device_; }
  /// The driver's handle.
  [[nodiscard]] typename R::Stream stream() const { return stream_; }
  /// Of the device.
  [[nodiscard]] const Properties& properties() const { return *properties_; }
  /// Working memory of the stream, which its kernels use in turn.
  [[nodiscard]] const Allowance& allowance() const { return *allowance_; }

private:
  int device_;
  typename R::Stream stream_;
  const Properties* properties_;
  const Allowance* allowance_;
};

/// What a kernel is started with.
struct LaunchShape {
  unsigned blocks = 1;          ///< of the grid, which has one dimension
  unsigned threads = 32;        ///< of a block
  std::size_t shared_bytes = 0; ///< of a block
  friend constexpr bool operator==(const LaunchShape&, const LaunchShape&) = default;
};

} // namespace twill::inline v0::gpu

namespace twill::inline v0 {

template <class D>
requires gpu::Runtime<typename D::Runtime>
struct TeamOf<D> {
  using type = gpu::Queue<typename D::Runtime>;
};

} // namespace twill::inline v0
