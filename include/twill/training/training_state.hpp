#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// State of a training: the rule, its states and the count of steps, which every kind of training step has and which are
// saved and loaded together. A state dictionary holds the states by their names, the count as one integer named
// "steps", and the rule's options; with the weights it is all that a run needs to resume, on one device or on any
// number of ranks. Read next: training/optimiser_state.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/nn/state_dict.hpp>
#include <twill/optim/update.hpp>
#include <twill/training/rule_options.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

/// The name of the count of steps in a state dictionary.
inline constexpr std::string_view steps_name = "steps";

/// The states of a rule without the count of steps, and the count.
struct CountedStates {
  nn::StateDict states{}; ///< by their names
  std::int64_t steps = 0; ///< made with them
};

/// Adds the count of steps to the states of a rule.
void add_steps(nn::StateDict& states, std::int64_t steps);

/// Separates the count of steps. throws: ValueError if there is no count
[[nodiscard]] CountedStates without_steps(const nn::StateDict& state);

/// Warns, once in a process, that training runs in a program compiled without optimisation.
void warn_of_slow_build();

/// Refuses an empty batch, whose mean loss would be NaN. throws: ValueError naming the step and the shapes
void require_rows(const compile::CallName& step, std::span<const Dims> batch);

/// The states of a rule where a training keeps them: one network's, those of all replicas, or one rank's parts. `load`
/// takes a state dictionary without options, returns its count of steps, and changes nothing when it throws.
template <class S>
concept RuleStates = requires(S& states, const S& same, const nn::StateDict& saved, std::string_view name) {
  { same.item(name) } -> std::same_as<double>;
  { same.state_dict(std::int64_t{}) } -> std::same_as<nn::StateDict>;
  { states.load(saved) } -> std::same_as<std::int64_t>;
};

/// The base of training steps. If its states are on several ranks, all of them save and load together.
template <optim::Rule R, class States> class TrainingState {
public:
  /// Updates so far.
  [[nodiscard]] std::int64_t steps() const { return steps_; }

  /// A single number of the rule, such as `optim::gradient_norm_state`, after the last step. Waits for it.
  /// throws: ValueError before the first step, or when there is none of this name
  [[nodiscard]] double state(std::string_view name) const { return states_.item(name); }

  /// The rule's states, the count of steps and the rule's options, equal to one device's, to resume elsewhere. Waits
  /// for the device.
  [[nodiscard]] nn::StateDict state_dict() const { return with_options(states_.state_dict(steps_), rule); }

  /// Resumes from such a state; if it holds no options, the rule keeps its own.
  /// throws: ValueError, ShapeError naming the option or the state and both sides, with nothing changed
  OptionsReport load_state_dict(const nn::StateDict& state) {
    LoadedOptions options{rule, state};
    steps_ = states_.load(options.states());
    return options.set();
  }

  R rule; ///< its options may change between steps

protected:
  /// A rule with these options, and its states made of the other arguments.
  template <class... Of>
  explicit TrainingState(R given, Of&&... of) : rule{std::move(given)}, states_{std::forward<Of>(of)...} {
    static_assert(RuleStates<States>);
    if constexpr (TWILL_IS_SLOW) warn_of_slow_build();
  }

  States states_;          ///< of the rule
  std::int64_t steps_ = 0; ///< that changed the weights
};

}}}} // namespace twill::v0::training::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/training/training_state.ipp>
#endif
