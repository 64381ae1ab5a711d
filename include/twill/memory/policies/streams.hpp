#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stream policies of a pool: when released memory may be used again. Work on one stream is ordered, so a block goes
// back to its own stream at once. With several streams a block that changes hands is fenced by events: the taker's
// stream waits on the device for the work of the earlier users; the host never waits. Events are recorded when a block
// is released by a stream that is not its own, or taken by another stream, and at no other time.

#include <concepts>

namespace twill { inline namespace v0 { namespace memory {

/// The kind tag by which `Pool` finds a stream policy among its arguments.
struct StreamPolicyKind {};

/// All work is in one order. `synchronize` waits for all of it, before memory is returned to upstream.
template <class P>
concept StreamPolicy = std::same_as<typename P::policy_kind, StreamPolicyKind> && requires(P& policy) {
  { P::several } -> std::convertible_to<bool>;
  typename P::Stream;
  policy.synchronize();
};

/// Work is ordered in each of several streams, and events order the streams. Events are cheap to copy.
template <class P>
concept SeveralStreams = StreamPolicy<P> && P::several && std::equality_comparable<typename P::Stream> &&
    std::copyable<typename P::Event> && requires(P& policy, typename P::Stream stream, const typename P::Event& event) {
  { policy.default_stream() } -> std::same_as<typename P::Stream>;
  { policy.record(stream) } -> std::same_as<typename P::Event>; // all work queued until now
  policy.wait(stream, event);                                   // later work of the stream
  { policy.done(event) } -> std::same_as<bool>;
  policy.wait_on_host(event);
};

/// Stands for the only stream.
struct TheStream {
  friend constexpr bool operator==(TheStream, TheStream) { return true; }
};

/// Work is done when its call returns, as on a host without queues.
struct ImmediateStream {
  using policy_kind = StreamPolicyKind;
  using Stream = TheStream;
  static constexpr bool several = false; ///< whether blocks remember streams
  /// Returns at once: memory is free when it is released.
  static void synchronize() {}
};

namespace detail {
/// Outside the class, because in it `synchronize` would not find the device's overload.
template <class D> void synchronize_device(const D& device) { synchronize(device); }
} // namespace detail

/// The one stream of a device.
template <class D> struct DeviceStream {
  using policy_kind = StreamPolicyKind;
  using Stream = TheStream;
  static constexpr bool several = false; ///< whether blocks remember streams
  D device{};                            ///< its queue uses the memory
  /// Waits for all work of the device.
  void synchronize() const { detail::synchronize_device(device); }
};

}}} // namespace twill::v0::memory
