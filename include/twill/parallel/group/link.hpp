#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The connection between two ranks as two numbers: a message of n bytes takes `latency_s + n / bytes_per_s`. `measure_link`
// plays ping-pong with messages of many sizes and fits the two numbers to the fastest trip of each size. Errors count in
// parts of the time, so that small messages say as much about the latency as large ones about the speed (Hockney, The
// communication challenge for MPP, 1994, for the model). Read next: parallel/pipeline/schedule/predict.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/device.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/numbers.hpp>
#include <twill/tensor/tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace twill::inline v0::parallel {

/// A connection between two ranks, as time = latency + bytes / bandwidth.
struct Link {
  double bytes_per_s = 0; ///< 0: as fast as can be
  double latency_s = 0;   ///< of a message without content

  /// Seconds that a message of so many bytes takes.
  [[nodiscard]] constexpr double time_s(double bytes) const {
    return latency_s + (bytes_per_s > 0 ? bytes / bytes_per_s : 0);
  }
};

/// Around a ring of n, each sends 2 (n-1)/n of the bytes in 2 (n-1) messages.
[[nodiscard]] constexpr double ring_all_reduce_s(double bytes, int ranks, const Link& link) {
  if (ranks < 2) return 0;
  return 2 * (ranks - 1) * link.time_s(bytes / ranks);
}

/// One measured message.
struct TimedBytes {
  double bytes = 0;  ///< its size
  double time_s = 0; ///< one way
};

/// The latency a and the seconds per byte b, neither negative, for which the sum of ((a + b bytes - time) / time)^2 is least.
/// throws: ValueError for fewer than two sizes, or times that are not positive
[[nodiscard]] Link fit_link(const std::vector<TimedBytes>& messages);

} // namespace twill::inline v0::parallel

namespace twill::inline v0::parallel::inline TWILL_ISA {

/// Which messages are timed to measure a link.
struct LinkOptions {
  std::int64_t largest_bytes = std::int64_t{1} << 22; ///< the largest message
  int round_trips = 10;                               ///< for each size; the fastest counts
};

/// The link to another rank, which makes the same call at the same time; both get the same numbers. A message is through when
/// its receiver has it and has answered, so half a round trip of equal messages is one.
/// throws: ValueError for a link to oneself, for messages under 256 bytes, for no round trip    cost: a second for 4 MiB over 1 GB/s
template <Communicator C> [[nodiscard]] Link measure_link(C& communicator, int peer, const LinkOptions& options = {}) {
  using D = typename C::Device;
  if (peer == communicator.rank())
    throw ValueError(join_text({"measure_link: a link joins two ranks, got ", peer, " on both sides"}));
  if (options.largest_bytes < 256 || options.round_trips < 1)
    throw ValueError(join_text({"measure_link: needs messages of 256 bytes or more, and one round trip or more; got ",
                                options.largest_bytes, " bytes and ", options.round_trips, " round trips"}));
  const bool leads = communicator.rank() < peer;
  Tensor<unsigned char, D, Shape<dyn>> room(D(communicator.device()), Dims(options.largest_bytes));
  room.fill(1);
  synchronize(room.device());
  std::vector<TimedBytes> messages;
  for (std::int64_t bytes = 64; bytes <= options.largest_bytes; bytes *= 4) {
    const Elements message{room.data(), bytes, DType::uint8};
    double fastest = 0;
    for (int round = 0; round <= options.round_trips; ++round) {
      const double start = steady_seconds();
      if (leads) communicator.run(Call::send(message, peer));
      communicator.run(Call::receive(message, peer));
      if (!leads) communicator.run(Call::send(message, peer));
      const double time = 0.5 * (steady_seconds() - start);
      if (round > 0) fastest = round == 1 ? time : std::min(fastest, time); // the first one warms up
    }
    messages.push_back({static_cast<double>(bytes), fastest});
  }
  Numbers result(communicator, 2);
  if (leads) {
    const Link link = fit_link(messages);
    result.values() = {link.bytes_per_s, link.latency_s};
    result.send(peer);
  } else {
    result.receive(peer);
  }
  return {result.values()[0], result.values()[1]};
}

} // namespace twill::inline v0::parallel::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/group/link.ipp>
#endif
