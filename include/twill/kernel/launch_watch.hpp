#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Watching of eager launches: a watch receives the parts of a launch and a function that runs it; it describes, times
// or names the launch (profile/trace.hpp, kernel/launch_ranges.hpp) and runs it. Without a watch a launch costs one
// load of a flag, so files that only launch compile nothing more. Launches of host devices that run later than they are
// given to the device are not watched. Read next: kernel/launch_info.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/device/gpu/timers.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/kernel/product_stack.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace kernel {

/// A stack of matrix products of any element type (`ProductStack`), and the program that follows each.
struct WatchedProducts {
  const Dims* batch = nullptr;
  const BatchStrides* a_batch = nullptr;
  const BatchStrides* b_batch = nullptr;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  const void* c = nullptr;
  DType dtype = DType::float32;
  const Following* following = nullptr;
};

/// A launch that is about to run.
struct WatchedLaunch {
  std::string_view kind{};                        ///< of its device
  int device = 0;                                 ///< among those of the kind
  const twill::gpu::TimerCalls* timers = nullptr; ///< of a GPU
  twill::gpu::AnyStream stream{};                 ///< of a GPU
  const Line* lines = nullptr;                    ///< of its program, or of the one that follows its products
  int line_count = 0;
  KernelShape shape = KernelShape::elementwise;
  const Grid* grid = nullptr;                ///< of a program
  const Operand* operands = nullptr;         ///< of a program
  const WatchedProducts* products = nullptr; ///< null for a program
  const void* work = nullptr;                ///< the state of `run`
  void (*run)(const WatchedLaunch& launch) = nullptr;
};

/// A watch: has to run the launch, once, in the calling thread, and passes on its exceptions.
using LaunchWatch = void (*)(const WatchedLaunch& launch);

/// The watch of all launches of the process; null for none.
TWILL_EXPORT inline constinit std::atomic<LaunchWatch> launch_watch{nullptr};

/// Names launches for profilers, inside any other watch; null for none.
TWILL_EXPORT inline constinit std::atomic<LaunchWatch> launch_range{nullptr};

/// Whether a kind of device reports its launches: they have run, or are in a GPU's stream, when `launch` returns.
template <class D> inline constexpr bool tells_of_launches = requires { requires D::launches_at_once; };

/// Whether a launch on such a device is watched now. cost: one load
template <class D> [[nodiscard]] bool is_watched(const D&) {
  if constexpr (tells_of_launches<D>)
    return launch_watch.load(std::memory_order_relaxed) != nullptr;
  else
    return false;
}

/// Runs a launch in its profiler range, where it has one.
inline void run_in_range(const WatchedLaunch& launch) {
  const LaunchWatch range = launch_range.load(std::memory_order_relaxed);
  (range != nullptr ? range : launch.run)(launch);
}

/// Hands a launch to the watch; runs it where there is none any more.
TWILL_COLD inline void hand_over(const WatchedLaunch& launch) {
  const LaunchWatch watch = launch_watch.load(std::memory_order_relaxed);
  (watch != nullptr ? watch : launch.run)(launch);
}

/// The device and stream of a launch.
template <class D> class LaunchPlace {
  static_assert(!has_queue<D>, "twill: include <twill/kernel/gpu/launch.hpp> for launches on GPUs");

public:
  LaunchPlace(const D& device, const team_t<D>&) : device_{device.index} {}
  void note(WatchedLaunch& launch) const {
    launch.kind = D::kind;
    launch.device = device_;
  }

private:
  int device_;
};

/// Launches `run(team)` on a device through the watch.
template <class D, class Run> TWILL_COLD void launch_watched(const D& device, WatchedLaunch what, const Run& run) {
  launch(device, [&](const team_t<D>& team) {
    const LaunchPlace<D> place{device, team};
    place.note(what);
    const auto work = [&] { run(team); };
    using Work = decltype(work);
    what.work = &work;
    what.run = [](const WatchedLaunch& own) { (*static_cast<Work*>(own.work))(); };
    hand_over(what);
  });
}

/// Launches a stack of products through the watch.
template <class D, class T, class Run>
TWILL_COLD void launch_watched(const D& device, const ProductStack<T>& stack, const Following& following,
                               WatchedLaunch what, const Run& run) {
  const WatchedProducts products{.batch = &stack.batch,
                                 .a_batch = &stack.a.batch,
                                 .b_batch = &stack.b.batch,
                                 .m = stack.m,
                                 .n = stack.n,
                                 .k = stack.k,
                                 .c = stack.c,
                                 .dtype = dtype_of<T>,
                                 .following = &following};
  what.products = &products;
  launch_watched(device, what, run);
}

}}} // namespace twill::v0::kernel
