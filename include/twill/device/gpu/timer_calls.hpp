#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function table for a driver's timers: a few small functions for each driver, for all launches. Each makes its device
// the current one while it needs that, so that any thread may call it. Read next: device/gpu/timers.hpp.

#include <twill/core/config.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/runtime.hpp>
#include <twill/device/gpu/scope.hpp>
#include <twill/device/gpu/timers.hpp>

#include <memory>
#include <optional>

namespace twill { inline namespace v0 { namespace gpu {

namespace detail {

template <Runtime R> struct DriverTimers {
  using Stream = typename R::Stream;
  using Event = typename R::Event;

  TWILL_COLD static bool is_capturing(int device, AnyStream stream) {
    return is_captured<R>(stream.as<Stream>(), device);
  }

  TWILL_COLD static void* make(int device) {
    const Using<R> scope{device};
    auto timer = std::make_unique<Event>();
    check<R>(R::create_timer(timer.get()), "create_timer", device);
    return timer.release();
  }

  TWILL_COLD static void place(int device, void* timer, AnyStream stream) {
    const Using<R> scope{device};
    check<R>(R::record_event(*static_cast<Event*>(timer), stream.as<Stream>()), "record_event", device);
  }

  TWILL_COLD static void wait(int device, const void* timer) {
    const Using<R> scope{device};
    check<R>(R::synchronize_event(*static_cast<const Event*>(timer)), "synchronize_event", device);
  }

  TWILL_COLD static double seconds(int device, const void* earlier, const void* later) {
    const Using<R> scope{device};
    float milliseconds = 0;
    check<R>(R::elapsed_ms(&milliseconds, *static_cast<const Event*>(earlier), *static_cast<const Event*>(later)),
             "elapsed_ms", device);
    return 1e-3 * static_cast<double>(milliseconds);
  }

  TWILL_COLD static void release(int device, void* timer) noexcept {
    auto* const event = static_cast<Event*>(timer);
    try {
      const Using<R> scope{device};
      static_cast<void>(R::destroy_event(*event));
    } catch (...) { // the device has failed, and the thread that waited for the run got the error
    }
    delete event;
  }
};

} // namespace detail

/// The timers of a driver.
template <Runtime R>
inline constexpr TimerCalls timer_calls{
    .is_capturing = &detail::DriverTimers<R>::is_capturing,
    .make = &detail::DriverTimers<R>::make,
    .place = &detail::DriverTimers<R>::place,
    .wait = &detail::DriverTimers<R>::wait,
    .seconds = &detail::DriverTimers<R>::seconds,
    .release = &detail::DriverTimers<R>::release,
};

/// The time of one run of `run()`, which gives work to a queue and tells whether it could: once to warm up, then three
/// times with timing; waits for them. Nothing where it could not. throws: GpuError, std::bad_alloc
template <Runtime R, class Run>
[[nodiscard]] TWILL_COLD std::optional<double> seconds_of_run(const Queue<R>& queue, const Run& run) {
  constexpr int turns = 3;
  const auto stream = queue.stream();
  bool does_run = run();
  const Timer begin{timer_calls<R>, queue.device(), AnyStream{stream}};
  for (int turn = 0; turn < turns && does_run; ++turn) does_run = run();
  const Timer end{timer_calls<R>, queue.device(), AnyStream{stream}};
  end.wait();
  return does_run ? std::optional{end.seconds_since(begin) / turns} : std::nullopt;
}

}}} // namespace twill::v0::gpu
