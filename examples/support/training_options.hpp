#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the training examples let their users choose. Everything that can be wrong about it is found before anything runs.
// Not part of twill. Read next: examples/support/command_line.hpp.

#include "examples/support/command_line.hpp"

#include <twill/device/device.hpp>
#include <twill/device/names.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace examples {

struct TrainingOptions {
  std::string device = "cpu";
  int devices = 2;
  int epochs = 10;
  std::int64_t batch = 128;
  float rate = 0.1F;
  double dropout = 0;
  std::uint64_t seed = 1;
  std::string data;
  std::string plot = "loss.svg";
  std::int64_t limit = 60'000;
};

/// The replicas' devices: the first and those after it.
/// throws: UsageError when there are not so many
template <class D> [[nodiscard]] std::vector<D> devices_from(const D& first, int count) {
  if (first.index + count > twill::device_count<D>())
    throw UsageError("--device and --devices: " + std::to_string(count) + " devices from " + to_string(first) +
                     " on are asked for, and the last one is " + to_string(D{twill::device_count<D>() - 1}));
  std::vector<D> devices;
  for (int i = 0; i < count; ++i) devices.push_back(D{first.index + i});
  return devices;
}

namespace detail {

inline void require_usable(const TrainingOptions& options) {
  twill::configure_host({.devices = std::max(options.devices, twill::host_cores()),
                         .threads_per_device = 1,
                         .oversubscribe = true}); // one core each, or shared where there are more devices than cores
  try {
    twill::with_device(options.device, [&](auto device) { static_cast<void>(devices_from(device, options.devices)); });
  } catch (const twill::Error& error) {
    throw UsageError(std::string{"--device: "} + error.what());
  }
  const auto folder = std::filesystem::path(options.plot).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder))
    throw UsageError("--plot: there is no folder " + folder.string());
}

} // namespace detail

/// Reads the flags over the defaults; false when only help was asked for, which is printed.
/// throws: UsageError
[[nodiscard]] inline bool parse(const std::string& purpose, int count, const char* const* arguments,
                                TrainingOptions& options) {
  constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max() - 1;
  CommandLine line{purpose};
  line.flag("--device", options.device, "the first device: cpu, cpu:1, or meta to see the memory without running")
      .flag("--devices", options.devices, {1, 64}, "how many devices share each batch")
      .flag("--epochs", options.epochs, {1, 10'000}, "passes over the training samples")
      .flag("--batch", options.batch, {1, 60'000}, "samples in a step, over all devices")
      .flag("--rate", options.rate, {0, 100}, "the learning rate at the start; it falls to 0 along a line")
      .flag("--dropout", options.dropout, {0, 1}, "the probability that dropout zeroes a hidden unit")
      .flag("--seed", options.seed, {0, any}, "what all random numbers follow from")
      .flag("--data", options.data, "the folder with the data set")
      .flag("--plot", options.plot, "where the loss curve goes, as SVG")
      .flag("--limit", options.limit, {1, 60'000}, "training samples in an epoch");
  if (!line.parse(count, arguments)) {
    std::fputs(line.help().c_str(), stdout);
    return false;
  }
  detail::require_usable(options);
  return true;
}

} // namespace examples
