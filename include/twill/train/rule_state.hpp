#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The state dictionary of a rule at work: its states by their names, and among them the count of steps, one integer under the
// name "steps". With the weights it is all that a run needs to go on, on one device or on any number of ranks. Read next:
// train/optimiser.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/nn/state_dict.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill::inline v0::train::detail::inline TWILL_ISA {

inline constexpr std::string_view steps_name = "steps";

/// The states of a rule without the count of steps, and the count.
struct CountedStates {
  nn::StateDict states{};
  std::int64_t steps = 0;
};

inline void add_steps(nn::StateDict& states, std::int64_t steps) {
  auto [count, data] = nn::StoredTensor::make(DType::int64, Dims{});
  std::memcpy(data, &steps, sizeof(steps));
  states.add(std::string{steps_name}, std::move(count));
}

/// throws: ValueError where there is no count
[[nodiscard]] inline CountedStates without_steps(const nn::StateDict& state) {
  std::int64_t steps = -1;
  std::vector<nn::StateDict::Entry> states{};
  for (const auto& [name, tensor] : state.entries()) {
    if (name != steps_name)
      states.emplace_back(name, tensor);
    else if (tensor.dtype == DType::int64 && tensor.shape.rank == 0)
      std::memcpy(&steps, tensor.bytes.data(), sizeof(steps));
  }
  if (steps < 0) throw ValueError("load_state_dict: the state of a rule has no count of 'steps', or one below 0");
  return {nn::StateDict{std::move(states)}, steps};
}

} // namespace twill::inline v0::train::detail::inline TWILL_ISA
