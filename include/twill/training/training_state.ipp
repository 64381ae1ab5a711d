#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of training/training_state.hpp.

#include <twill/core/text.hpp>
#include <twill/training/training_state.hpp>

#include <atomic>
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

TWILL_BODY void warn_of_slow_build() {
  static std::atomic<bool> has_warned = false;
  if (has_warned.exchange(true)) return;
  warn("training: this program is compiled without optimisation, and its steps take 7 to 60 times as long; compile it "
       "with -O2 -march=native, with CMake by -D CMAKE_BUILD_TYPE=Release");
}

TWILL_BODY void require_rows(const compile::CallName& step, std::span<const Dims> batch) {
  bool is_empty = false;
  std::string shapes{};
  for (const Dims& shape : batch) {
    is_empty = is_empty || (shape.rank > 0 && shape[0] == 0);
    shapes += (shapes.empty() ? "" : ", ") + to_string(shape);
  }
  if (is_empty)
    throw ValueError(join_text({compile::title_of(step), ": the batch is empty, with arguments of shapes ", shapes,
                                "; a step takes at least one row"}));
}

}}}} // namespace twill::v0::training::TWILL_ISA
