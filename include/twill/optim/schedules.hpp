#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Learning-rate schedules: functions from the number of steps so far to a rate, with torch.optim.lr_scheduler's names,
// formulas and defaults. They are small values: `step.rule.options.rate = schedule(step.steps())` uses one, and its
// state is that number. Only the plateau depends on anything else, and exposes its state. Read next:
// training/train_step.hpp.

#include <twill/core/config.hpp>
#include <twill/optim/options.hpp>
#include <twill/optim/update.hpp>

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// A rate for each number of steps so far.
template <class S>
concept Schedule = requires(const S& schedule, std::int64_t step) {
  { schedule(step) } -> std::convertible_to<double>;
};

/// rate * factor^(step / every), rounded down.
struct StepDecay {
  double rate = 0.1;      ///< at first
  std::int64_t every = 1; ///< steps between two changes
  double factor = 0.1;    ///< of one change
  /// The rate of a step, counted from 0.
  [[nodiscard]] double operator()(std::int64_t step) const;
};

/// rate * factor for each milestone that has been reached; milestones ascend.
template <std::size_t N> struct MultiStep {
  double rate = 0.1;                        ///< at first
  std::array<std::int64_t, N> milestones{}; ///< steps from which on the rate is multiplied once more
  double factor = 0.1;                      ///< of one milestone
  /// The rate of a step, counted from 0.
  [[nodiscard]] double operator()(std::int64_t step) const {
    int passed = 0;
    for (const std::int64_t milestone : milestones) passed += step >= milestone ? 1 : 0;
    return rate * std::pow(factor, passed);
  }
};

/// rate * factor^step.
struct Exponential {
  double rate = 0.1;    ///< at first
  double factor = 0.99; ///< of one step
  /// The rate of a step, counted from 0.
  [[nodiscard]] double operator()(std::int64_t step) const;
};

/// From `rate` to `least` along half a cosine of `steps` steps, then on along it (Loshchilov and Hutter, 2017).
struct Cosine {
  double rate = 0.1;      ///< at first
  std::int64_t steps = 1; ///< from the first rate to the least
  double least = 0;       ///< the least rate
  /// The rate of a step, counted from 0.
  [[nodiscard]] double operator()(std::int64_t step) const;
};

/// From rate * start_factor to rate * end_factor in a number of equal steps: a warm-up, or a linear decay.
struct Linear {
  double rate = 0.1;             ///< what the factors multiply
  std::int64_t steps = 5;        ///< from the first factor to the last
  double start_factor = 1.0 / 3; ///< of the first step
  double end_factor = 1;         ///< from then on
  /// The rate of a step, counted from 0.
  [[nodiscard]] double operator()(std::int64_t step) const;
};

/// The curve of a one-cycle schedule between two rates.
enum class Anneal : bool { cosine, linear };

/// Up to `max_rate` in the first part of the steps, then down below the start (Smith and Topin, 2018). After `steps`
/// steps the last rate stays.
struct OneCycle {
  double max_rate = 0.1;          ///< at the top
  std::int64_t steps = 2;         ///< in total
  double rising_part = 0.3;       ///< of the steps, spent rising
  double division = 25;           ///< of the largest rate by the first
  double final_division = 10000;  ///< of the first rate by the last
  Anneal anneal = Anneal::cosine; ///< along a cosine or a line
  double least_momentum = 0.85;   ///< of `momentum`, at the top of the rate
  double most_momentum = 0.95;    ///< of `momentum`, at first and at last
  /// The rate of a step, counted from 0.
  [[nodiscard]] double operator()(std::int64_t step) const;
  /// The momentum of a step, which falls while the rate rises: `step.rule.options.momentum = schedule.momentum(t)`, of
  /// Adam `beta1`. `optim::scheduled` sets rates alone.
  [[nodiscard]] double momentum(std::int64_t step) const;

private:
  [[nodiscard]] double along(std::int64_t step, double first, double top, double last) const;
  [[nodiscard]] double between(double from, double to, double done) const;
};

/// rate * factor for a number of steps, then `rate`.
struct Constant {
  double rate = 0.1;       ///< after these steps
  std::int64_t steps = 5;  ///< how many begin with another rate
  double factor = 1.0 / 3; ///< of their rate
  /// The rate of a step, counted from 0.
  [[nodiscard]] double operator()(std::int64_t step) const;
};

/// rate * (1 - step / steps)^power, 0 after `steps` steps.
struct Polynomial {
  double rate = 0.1;      ///< at first
  std::int64_t steps = 5; ///< until 0
  double power = 1;       ///< 1: a line
  /// The rate of a step, counted from 0.
  [[nodiscard]] double operator()(std::int64_t step) const;
};

/// Half a cosine from `rate` to `least`, again and again, each `growth` times as long as the one before (Loshchilov and
/// Hutter, 2017).
struct CosineWarmRestarts {
  double rate = 0.1;       ///< at first, and after each restart
  std::int64_t steps = 1;  ///< until the first restart
  std::int64_t growth = 1; ///< of the steps from restart to restart
  double least = 0;        ///< the rate towards which each cosine falls
  /// The rate of a step, counted from 0.
  [[nodiscard]] double operator()(std::int64_t step) const;
};

/// How the height of the cycles of `Cyclic` falls.
enum class CyclicHeight : std::uint8_t {
  constant,    ///< it stays, PyTorch's "triangular"
  halved,      ///< by each cycle, PyTorch's "triangular2"
  exponential, ///< by `factor` in each step, PyTorch's "exp_range"
};

/// Up from `least` to `most` and down again along lines (Smith, 2017).
struct Cyclic {
  double least = 0.001;                         ///< between cycles
  double most = 0.1;                            ///< at the top of the first cycle
  std::int64_t rising = 2000;                   ///< steps from the least rate to the greatest
  std::int64_t falling = 0;                     ///< steps back; 0: as many as rising
  CyclicHeight height = CyclicHeight::constant; ///< of the cycles after the first
  double factor = 1;                            ///< of one step, where the height falls exponentially
  double least_momentum = 0.8;                  ///< of `momentum`, at the top of the first cycle
  double most_momentum = 0.9;                   ///< of `momentum`, between cycles
  /// The rate of a step, counted from 0.
  [[nodiscard]] double operator()(std::int64_t step) const;
  /// The momentum of a step, which falls while the rate rises, as that of `OneCycle`.
  [[nodiscard]] double momentum(std::int64_t step) const;

private:
  [[nodiscard]] double height_at(std::int64_t step) const;
};

/// One schedule for its number of steps, then the next, which counts from zero; the last one has no end.
template <Schedule First, Schedule Second> struct Chained {
  First first;        ///< for the first steps
  std::int64_t steps; ///< how many of them
  Second second;      ///< from then on, counted from zero
  /// The rate of a step, counted from 0.
  [[nodiscard]] double operator()(std::int64_t step) const { return step < steps ? first(step) : second(step - steps); }
};

/// `first` for a number of steps, `second` after them. More than two nest: `then(a, 5, then(b, 20, c))`.
template <Schedule First, Schedule Second>
[[nodiscard]] Chained<First, Second> then(First first, std::int64_t steps, Second second) {
  return {std::move(first), steps, std::move(second)};
}

/// A linear rise from almost nothing to the first rate of `schedule`, then that: the usual start of a transformer.
template <Schedule S> [[nodiscard]] Chained<Linear, S> warm_up(std::int64_t steps, S schedule) {
  const double rate = schedule(0);
  const double first = 1 / static_cast<double>(steps + 1);
  return {Linear{rate, steps, first, 1}, steps, std::move(schedule)};
}

/// Options of the plateau schedule, like torch's ReduceLROnPlateau.
struct PlateauOptions {
  double rate = 0.1;             ///< at first
  bool larger_is_better = false; ///< whether the metric should rise, such as an accuracy
  double factor = 0.1;           ///< what the rate is multiplied by
  std::int64_t patience = 10;    ///< calls without improvement before a change
  double threshold = 1e-4;       ///< relative; the least improvement
  std::int64_t cooldown = 0;     ///< calls after a change during which nothing is counted
  double least = 0;              ///< the lower limit of the rate
  double epsilon = 1e-8;         ///< a smaller change of the rate is not made

  /// Calls `f(name, option, allowed)` for each option: its name, a number, a count or a flag, and its allowed numbers.
  template <class Self, class F> static void for_each(Self& options, const F& f) {
    f("rate", options.rate, Allowed::not_negative);
    f("larger_is_better", options.larger_is_better, Allowed::not_negative);
    f("factor", options.factor, Allowed::fraction);
    f("patience", options.patience, Allowed::not_negative);
    f("threshold", options.threshold, Allowed::not_negative);
    f("cooldown", options.cooldown, Allowed::not_negative);
    f("least", options.least, Allowed::not_negative);
    f("epsilon", options.epsilon, Allowed::not_negative);
  }
};

/// Lowers the rate when a number has not become better for a while: `rate = plateau(validation_loss)` after each epoch.
class Plateau {
public:
  /// State that determines future rates, to be saved and restored.
  struct State {
    double rate = 0;          ///< of the next step
    double best = 0;          ///< the best metric so far
    std::int64_t bad = 0;     ///< calls without improvement
    std::int64_t cooling = 0; ///< calls left of the cool-down
    bool has_best = false;    ///< whether there is a best metric
  };

  /// throws: ValueError unless the factor is below one and everything else at least zero
  explicit Plateau(PlateauOptions given);

  /// The rate after the number was `measured`.
  double operator()(double measured);

  /// The rate of the next step.
  [[nodiscard]] double rate() const { return state_.rate; }
  /// The state, to be saved.
  [[nodiscard]] const State& state() const { return state_; }
  /// Continues from a saved state.
  void set_state(const State& state) { state_ = state; }

  PlateauOptions options; ///< may change between calls

private:
  [[nodiscard]] bool is_better(double measured) const;

  State state_;
};

/// Sets the rate of a step, or of an optimiser, from a schedule and the number of steps so far: before each step `auto
/// driver = optim::scheduled(step, optim::Cosine{…}); driver.update();`. Nothing else needs saving. The rates of groups
/// keep their share of the rule's, including one changed by hand between two updates.
template <class Step, Schedule S> class Scheduled {
public:
  /// Sets the rate of `step` now and after each of its calls; keeps a pointer to it.
  Scheduled(Step& step, S schedule) : schedule_{std::move(schedule)}, step_{&step} { update(); }

  /// Sets the rate of the next step and returns it.
  double update() {
    const double rate = schedule_(step_->steps());
    auto& rule = step_->rule;
    if constexpr (requires { rule.each_group([](auto&) {}); }) {
      std::size_t number = 0;
      rule.each_group([&](auto& group) {
        if (number == groups_.size()) groups_.emplace_back();
        GroupRate& own = groups_[number++];
        if (group.options.rate != own.rate && rule.options.rate != 0)
          own.share = group.options.rate / rule.options.rate;
        own.rate = group.options.rate = own.share * rate;
      });
    }
    rule.options.rate = rate;
    return rate;
  }

private:
  struct GroupRate {
    double rate = std::numeric_limits<double>::quiet_NaN(); ///< the last rate set
    double share = 1;                                       ///< of the rule's
  };

  S schedule_;
  Step* step_;
  std::vector<GroupRate> groups_{};
};

/// A schedule driving a step or an optimiser, which has to outlive it.
template <class Step, Schedule S> [[nodiscard]] Scheduled<Step, S> scheduled(Step& step, S schedule) {
  return {step, std::move(schedule)};
}

}}}} // namespace twill::v0::optim::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/optim/schedules.ipp>
#endif
