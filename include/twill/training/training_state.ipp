#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of training/training_state.hpp.

#include <twill/training/training_state.hpp>

#include <cstring>
#include <string>
#include <vector>

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

TWILL_BODY void add_steps(nn::StateDict& states, std::int64_t steps) {
  auto [count, data] = nn::StoredTensor::make(DType::int64, Dims{});
  std::memcpy(data, &steps, sizeof(steps));
  states.add(std::string{steps_name}, std::move(count));
}

TWILL_BODY CountedStates without_steps(const nn::StateDict& state) {
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

}}}} // namespace twill::v0::training::TWILL_ISA
