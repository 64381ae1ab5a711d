#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What tests of steps on several host devices start from: four devices whatever the machine has, groups of threads, batches of
// random rows that can be dealt out, and the weights of a network as numbers.

#include "tests/support/four_devices.hpp"

#include <twill/device/cpu/partition.hpp>
#include <twill/parallel/data/scatter.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace twill::test {

[[nodiscard]] inline std::vector<Cpu> first_devices(int count) {
  std::vector<Cpu> devices{};
  for (int rank = 0; rank < count; ++rank) devices.push_back(Cpu{rank});
  return devices;
}

/// A group with one rank on each of the first devices.
[[nodiscard]] inline std::vector<parallel::ThreadCommunicator<Cpu>> thread_group(int ranks,
                                                                                 std::int64_t timeout_ms = 60'000) {
  return parallel::thread_communicators(first_devices(ranks), {.timeout_ms = timeout_ms});
}

/// All weights and buffers of a network, in its order.
template <class Network> [[nodiscard]] std::vector<double> all_weights(const Network& network) {
  std::vector<double> result{};
  for (const auto& view : network.parameters()) {
    const auto* const data = static_cast<const typename Network::Element*>(view.buffer.data());
    result.insert(result.end(), data, data + view.shape.elements());
  }
  return result;
}

/// Rows of numbers, each with one of some classes.
template <class T, std::int64_t Width> struct LabelledRows {
  Tensor<T, Cpu, Shape<dyn, Width>> x;
  Tensor<std::int64_t, Cpu, Shape<dyn>> label;

  LabelledRows(std::int64_t rows, std::int64_t classes, Cpu device = Cpu{0}, unsigned seed = 1)
      : x(device, Dims(rows, Width)), label(device, Dims(rows)) {
    std::mt19937_64 engine{seed};
    std::normal_distribution<double> normal{};
    for (std::int64_t i = 0; i < rows * Width; ++i) x.data()[i] = static_cast<T>(normal(engine));
    for (std::int64_t i = 0; i < rows; ++i)
      label.data()[i] = static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(classes));
  }

  /// Some of the rows on a device.
  [[nodiscard]] LabelledRows rows(std::int64_t begin, std::int64_t count, Cpu device) const {
    return {parallel::rows_of<0>(x, {begin, count}).contiguous().to(device),
            parallel::rows_of<0>(label, {begin, count}).contiguous().to(device)};
  }

private:
  LabelledRows(Tensor<T, Cpu, Shape<dyn, Width>> numbers, Tensor<std::int64_t, Cpu, Shape<dyn>> classes)
      : x(std::move(numbers)), label(std::move(classes)) {}
};

} // namespace twill::test
