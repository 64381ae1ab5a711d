#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// State dictionaries of a rule in use: its states by their names, with the count of steps, one integer under the name
// "steps". Together with the weights it is all that a run needs to resume, on one device or on any number of ranks.
// Read next: train/optimiser.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/nn/state_dict.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace train { namespace detail { inline namespace TWILL_ISA {

inline constexpr std::string_view steps_name = "steps";

/// The states of a rule without the count of steps, and the count.
struct CountedStates {
  nn::StateDict states{};
  std::int64_t steps = 0;
};

void add_steps(nn::StateDict& states, std::int64_t steps);

/// throws: ValueError if there is no count
[[nodiscard]] CountedStates without_steps(const nn::StateDict& state);

}}}}} // namespace twill::v0::train::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/train/rule_state.ipp>
#endif
