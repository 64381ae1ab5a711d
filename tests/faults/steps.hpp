#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Steps that may fail: one that does has to leave weights, the rule's states and the random numbers to come as they were, byte for
// byte, so that it can simply be made again, or has to say that it did not; then a checkpoint is restored.

#include <tests/faults/in_turn.hpp>
#include <tests/faults/points.hpp>

#include <twill/device/gpu/runtime.hpp>
#include <twill/io/training.hpp>
#include <twill/nn/state_dict.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace twill::test::faults {

[[nodiscard]] inline std::size_t hash_of(std::span<const std::byte> bytes, std::size_t before) {
  return before * 31 + std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

[[nodiscard]] inline std::size_t hash_of(const nn::StateDict& state, std::size_t before) {
  for (const auto& [name, tensor] : state.entries()) before = hash_of(tensor.bytes, before);
  return before;
}

/// Everything that a step changes, copied.
struct State {
  nn::StateDict weights{};
  nn::StateDict rule{};
  std::int64_t steps = 0;
  std::uint64_t draws = 0; ///< from the device's generator
};

template <class Network, class Step> [[nodiscard]] State state_of(const Network& network, Step& step) {
  return {nn::state_dict(network), step.state_dict(), step.steps(), generator(network.device()).state().step};
}

/// The name of what differs, byte for byte; empty where nothing does. What is new may be zeros where that is said.
[[nodiscard]] inline std::string difference(const nn::StateDict& before, const nn::StateDict& after, bool may_be_new) {
  for (const auto& [name, tensor] : after.entries()) {
    const nn::StoredTensor* const old = before.find(name);
    const bool is_same =
        old != nullptr ? std::equal(tensor.bytes.begin(), tensor.bytes.end(), old->bytes.begin(), old->bytes.end())
                       : may_be_new && std::all_of(tensor.bytes.begin(), tensor.bytes.end(),
                                                   [](std::byte byte) { return byte == std::byte{}; });
    if (!is_same) return name;
  }
  for (const auto& [name, tensor] : before.entries())
    if (after.find(name) == nullptr) return name;
  return {};
}

/// The states of a rule that has made no step may be missing, or zeros.
[[nodiscard]] inline std::string difference(const State& before, const State& after) {
  if (before.steps != after.steps) return "the count of steps";
  if (before.draws != after.draws) return "the random numbers to come";
  const std::string weight = difference(before.weights, after.weights, false);
  return weight.empty() ? difference(before.rule, after.rule, before.steps == 0) : weight;
}

/// Makes a step by `f()`, again when it fails. `stop()` brings the device to rest.
template <class Network, class Step, class F, class Stop>
auto step_again_if_it_fails(Outcome& outcome, Network& network, Step& step, const F& f, const Stop& stop) {
  io::Checkpoint checkpoint{};
  State before{};
  {
    const Pause pause{};
    checkpoint = io::checkpoint_of(network, step);
    before = state_of(network, step);
  }
  bool is_again = false;
  bool is_announced = false;
  return again_if_it_fails(outcome, [&] {
    if (is_again) {
      const Pause pause{};
      stop();
      if (const std::string what = difference(before, state_of(network, step)); !what.empty() || is_announced) {
        ++outcome.half_steps;
        if (!is_announced) outcome.is_half = true;
        what.copy(outcome.changed, sizeof(outcome.changed) - 1);
        io::restore(checkpoint, network, step);
      }
    }
    is_again = true;
    try {
      return f();
    } catch (const PartialUpdateError&) {
      is_announced = true;
      throw;
    }
  });
}

} // namespace twill::test::faults
