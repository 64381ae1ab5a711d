#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Losses of the models that bench/gpu trains, by host devices in float32: what the steps on GPUs are compared with. Weights
// come from a seed, which gives a GPU those of the host. The host's compiler makes these programs in a file of its own,
// model_losses.cpp, which is quicker than nvcc with both.

#include "bench/support/check.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

inline constexpr std::uint64_t model_seed = 7;
inline constexpr float model_rate = 0.01F; ///< a step of it changes the losses by more than rounding does
inline constexpr int model_checks = 2;     ///< steps whose losses are compared

inline constexpr std::int64_t resnet_extent = 224;
inline constexpr std::int64_t resnet_checked = 4; ///< images of a compared step
inline constexpr std::int64_t gpt2_tokens = 1024;
inline constexpr std::int64_t gpt2_checked = 1; ///< sequences of a compared step

/// Pixels and the number of each image's class.
inline std::vector<float> images(std::int64_t batch) {
  return numbers(batch * 3 * resnet_extent * resnet_extent, 1.0F, 1);
}
inline std::vector<std::int64_t> classes(std::int64_t batch) {
  std::vector<std::int64_t> labels(static_cast<std::size_t>(batch));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int64_t>(i * 7919 % 1000);
  return labels;
}

/// The tokens of some sequences, and with an offset of 1 those that follow them.
inline std::vector<std::int64_t> tokens(std::int64_t batch, std::int64_t offset) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(batch * gpt2_tokens));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = (static_cast<std::int64_t>(i) + offset) * 104729 % 50257;
  return numbers;
}

/// Of the first steps on the batches to compare.
std::vector<float> resnet50_losses();
std::vector<float> gpt2_losses();

} // namespace bench
