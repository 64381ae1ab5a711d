#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Measurements of a machine for plans of pipelines: the connection between two ranks, as latency and bandwidth, and the
// rates of a device. `measure_link` plays ping-pong with messages of many sizes and fits the two numbers to the fastest
// trip of each size. Errors count in parts of the time, so that small messages say as much about the latency as large
// ones about the speed (Hockney, The communication challenge for MPP, 1994, for the model). Read next:
// bench/support/measured_costs.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/device.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/matmul.hpp>
#include <twill/expr/operators.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/numbers.hpp>
#include <twill/parallel/pipeline/run/costs.hpp>
#include <twill/parallel/pipeline/schedule/predict.hpp>
#include <twill/tensor/tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

using namespace twill;
using namespace twill::parallel;
using pipeline::Link;
using pipeline::Machine;

/// One measured message.
struct TimedBytes {
  double bytes = 0;  ///< its size
  double time_s = 0; ///< one way
};

/// The latency a and the seconds per byte b, neither negative, for which the sum of ((a + b bytes - time) / time)^2 is
/// least.
/// throws: ValueError for fewer than two sizes, or times that are not positive
[[nodiscard]] inline Link fit_link(const std::vector<TimedBytes>& messages) {
  double ones = 0, x = 0, xx = 0, y = 0, xy = 0; // sums, weighted by 1 / time^2
  bool differ = false;
  for (const TimedBytes& message : messages) {
    if (!(message.time_s > 0))
      throw ValueError(join_text({"fit_link: a message takes a positive time, one of ",
                                  static_cast<std::int64_t>(message.bytes), " bytes took none"}));
    differ = differ || message.bytes != messages.front().bytes;
    const double weight = 1 / (message.time_s * message.time_s);
    ones += weight;
    x += weight * message.bytes;
    xx += weight * message.bytes * message.bytes;
    y += weight * message.time_s;
    xy += weight * message.bytes * message.time_s;
  }
  if (!differ) throw ValueError("fit_link: messages of two sizes at least are needed");
  double per_byte = (ones * xy - x * y) / (ones * xx - x * x);
  double latency = (y - per_byte * x) / ones;
  if (latency < 0) latency = 0, per_byte = xy / xx;   // the best line through nothing
  if (per_byte < 0) per_byte = 0, latency = y / ones; // the best level
  return {per_byte > 0 ? 1 / per_byte : 0, latency};
}

/// Which messages are timed to measure a link.
struct LinkOptions {
  std::int64_t largest_bytes = std::int64_t{1} << 22; ///< the largest message
  int round_trips = 10;                               ///< for each size; the fastest counts
};

/// The link to another rank, which makes the same call at the same time; both get the same numbers. A message is
/// through when its receiver has it and has answered, so half a round trip of equal messages is one.
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

/// The shortest time of some runs of f on a device.
template <ComputeDevice D, class F> [[nodiscard]] double shortest_s(const D& device, int runs, F f) {
  double best = 0;
  for (int run = 0; run <= runs; ++run) {
    const double start = steady_seconds();
    f();
    synchronize(device);
    const double time = steady_seconds() - start;
    if (run > 0) best = run == 1 ? time : std::min(best, time); // the first one touches the memory
  }
  return best;
}

/// The rates of a device at its best in float32: a product of two matrices of 768 rows and columns, a sum of two vectors of so many
/// bytes, which caches should not hold, and a sum of two of one pack.    cost: three vectors, a tenth of a second on one core
template <ComputeDevice D>
[[nodiscard]] Machine measure_machine(const D& device, std::int64_t vector_bytes = std::int64_t{1} << 26) {
  Machine machine;
  {
    constexpr std::int64_t n = 768;
    Tensor<float, D, Shape<dyn, dyn>> a(device, Dims(n, n)), b(device, Dims(n, n)), c(device, Dims(n, n));
    a.fill(0.5F);
    b.fill(0.25F);
    machine.operations_per_s = 2.0 * n * n * n / shortest_s(device, 5, [&] { c = matmul(a, b); });
  }
  const auto sum_s = [&](std::int64_t elements) {
    Tensor<float, D, Shape<dyn>> a(device, Dims(elements)), b(device, Dims(elements)), c(device, Dims(elements));
    a.fill(1);
    b.fill(2);
    return shortest_s(device, 5, [&] { c = a + 0.5F * b; });
  };
  const std::int64_t many = vector_bytes / static_cast<std::int64_t>(sizeof(float));
  machine.bytes_per_s = 3 * static_cast<double>(vector_bytes) / sum_s(many);
  machine.launch_s = sum_s(16);
  return machine;
}

} // namespace bench
