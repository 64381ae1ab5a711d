#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Steps that may fail: one that does has to leave weights, the rule's states and the random numbers to come as they were, so
// that it can simply be made again. Only a driver that refuses a launch stops a step half-way; then a checkpoint is restored.

#include <tests/faults/in_turn.hpp>
#include <tests/faults/points.hpp>

#include <twill/io/training.hpp>
#include <twill/nn/state_dict.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

namespace twill::test::faults {

[[nodiscard]] inline std::size_t hash_of(std::span<const std::byte> bytes, std::size_t before) {
  return before * 31 + std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

[[nodiscard]] inline std::size_t hash_of(const nn::StateDict& state, std::size_t before) {
  for (const auto& [name, tensor] : state.entries()) before = hash_of(tensor.bytes, before);
  return before;
}

/// What a step changes. The states of a rule that has made no step are zeros, or not there yet.
template <class Network, class Step> [[nodiscard]] std::size_t hash_of(const Network& network, Step& step) {
  const std::size_t weights = hash_of(nn::state_dict(network), 1);
  const std::size_t rule = step.steps() == 0 ? 0 : hash_of(step.state_dict(), weights);
  return weights * 31 + rule * 17 + static_cast<std::size_t>(generator(network.device()).state().step);
}

/// Makes a step by `f()`, again when it fails. `stop()` brings the device to rest.
template <class Network, class Step, class F, class Stop>
auto step_again_if_it_fails(Outcome& outcome, Network& network, Step& step, const F& f, const Stop& stop) {
  io::Checkpoint before{};
  std::size_t hash = 0;
  {
    const Pause pause{};
    before = io::checkpoint_of(network, step);
    hash = hash_of(network, step);
  }
  bool is_again = false;
  return again_if_it_fails(outcome, [&] {
    if (is_again) {
      const Pause pause{};
      stop();
      if (hash_of(network, step) != hash) {
        ++outcome.half_steps;
        if (points.failed != Kind::driver) outcome.is_half = true;
        io::restore(before, network, step);
      }
    }
    is_again = true;
    return f();
  });
}

} // namespace twill::test::faults
