#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Measured peaks of a device: bytes a second of a triad over arrays that no cache holds, and operations of arithmetic a
// second of multiply-adds in the registers of a host device's cores, of a large matrix product on other kinds. A
// disturbance makes a measurement longer, so the best of several counts. Read next: profile/trace.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/device/device.hpp>
#include <twill/expr.hpp>
#include <twill/kernel/native.hpp>
#include <twill/profile/trace.hpp>
#include <twill/tensor/create.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace profile {

/// How long and how much is measured.
struct PeaksOptions {
  std::size_t array_bytes = std::size_t{64} << 20; ///< of each of the triad's three arrays: more than the caches
  std::int64_t product_rows = 4096;                ///< of the square matrices, where a product is the measure
  double seconds = 0.05;                           ///< for each measure, at least
};

namespace detail { inline namespace TWILL_ISA {

/// Seconds of one call of `run()`, the best of several.
template <class F> [[nodiscard]] double best_seconds(double at_least_s, const F& run) {
  run();
  double best = 0;
  const double begin = steady_seconds();
  for (int round = 0; round < 3 || steady_seconds() - begin < at_least_s; ++round) {
    const double start = steady_seconds();
    run();
    const double seconds = steady_seconds() - start;
    best = round == 0 ? seconds : std::min(best, seconds);
  }
  return best;
}

/// a = b + s c over three arrays.
template <ComputeDevice D> [[nodiscard]] double measured_bandwidth(const D& device, const PeaksOptions& options) {
  const auto count = static_cast<std::int64_t>(options.array_bytes / sizeof(float));
  const auto b = full<float, Shape<dyn>>(Dims(count), 1.0F, device);
  const auto c = full<float, Shape<dyn>>(Dims(count), 2.0F, device);
  auto a = full<float, Shape<dyn>>(Dims(count), 0.0F, device);
  constexpr int repetitions = 4; // between two waits, which take their time on a GPU
  const double seconds = best_seconds(options.seconds, [&] {
    for (int i = 0; i < repetitions; ++i) a = b + 0.5F * c;
    synchronize(device);
  });
  return repetitions * 3.0 * static_cast<double>(options.array_bytes) / seconds;
}

/// Multiply-adds in each element of independent registers; the sum keeps them from being optimised away.
template <class T> [[nodiscard]] T multiply_add_in_registers(std::int64_t rounds) {
  constexpr int lanes = kernel::vector_bytes / static_cast<int>(sizeof(T));
  using Pack = kernel::Pack<T, lanes>;
  constexpr int chains = 12; // enough to hide the latency of the instruction, few enough for the registers
  Pack sums[chains];
  for (int i = 0; i < chains; ++i) sums[i] = Pack(static_cast<T>(i));
  const Pack factor(static_cast<T>(0.999));
  const Pack summand(static_cast<T>(0.001));
  for (std::int64_t round = 0; round < rounds; ++round)
    for (int i = 0; i < chains; ++i) sums[i] = kernel::fma(sums[i], factor, summand);
  Pack total = sums[0];
  for (int i = 1; i < chains; ++i) total = total + sums[i];
  T sum{};
  for (int lane = 0; lane < lanes; ++lane) sum += total.v[lane];
  return sum;
}

template <class T, HostDevice D>
[[nodiscard]] double measured_arithmetic(const D& device, const PeaksOptions& options) {
  constexpr std::int64_t rounds = 100'000;
  constexpr int flops_of_round = 2 * 12 * kernel::vector_bytes / static_cast<int>(sizeof(T));
  std::atomic<int> threads = 1;
  std::atomic<T> kept = 0;
  const double seconds = best_seconds(options.seconds, [&] {
    launch(device, [&](const Team& team) {
      threads = team.size();
      team.parallel([&](int, int) { kept = multiply_add_in_registers<T>(rounds); });
    });
    synchronize(device);
  });
  return static_cast<double>(threads) * static_cast<double>(rounds) * flops_of_round / seconds;
}

template <class T, ComputeDevice D>
[[nodiscard]] double measured_arithmetic(const D& device, const PeaksOptions& options) {
  const std::int64_t n = options.product_rows;
  const auto a = full<T, Shape<dyn, dyn>>(Dims(n, n), T(1), device);
  const auto b = full<T, Shape<dyn, dyn>>(Dims(n, n), T(0.5), device);
  auto c = full<T, Shape<dyn, dyn>>(Dims(n, n), T(0), device);
  const double seconds = best_seconds(options.seconds, [&] {
    c = matmul(a, b);
    synchronize(device);
  });
  return 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / seconds;
}

}} // namespace detail::TWILL_ISA

inline namespace TWILL_ISA {

/// Measures the limits of a device with memory, which should be idle otherwise.
/// cost: some tenths of a second, and the memory of three large arrays
template <ComputeDevice D>
requires D::has_memory [[nodiscard]] Peaks measured_peaks(const D& device, const PeaksOptions& options = {}) {
  return {to_string(device), detail::measured_bandwidth(device, options),
          detail::measured_arithmetic<float>(device, options), detail::measured_arithmetic<double>(device, options)};
}

} // namespace TWILL_ISA
}}} // namespace twill::v0::profile
