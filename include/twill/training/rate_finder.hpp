#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Learning-rate range test (Smith, 2017): a training step is made at rates that rise exponentially, until the smoothed
// loss diverges; a good rate is where it falls fastest. Weights, the rule's options and states, and the random numbers
// to come are then as they were before. Formulas are those of fastai's lr_find. Not in twill.hpp. Read next:
// optim/schedules.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/device/generator.hpp>
#include <twill/nn/state_dict.hpp>
#include <twill/optim/schedules.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

/// Options of a sweep of rates.
struct RateSweepOptions {
  double least = 1e-6;      ///< the first rate
  double most = 1;          ///< the last rate, where the loss does not diverge before
  std::int64_t steps = 100; ///< from the first rate to the last
  double smoothing = 0.95;  ///< how much of the mean loss stays in each step, in [0, 1)
  double divergence = 4;    ///< the sweep ends where the smoothed loss is this multiple of its least
};

/// Rates that were tried and the losses at them.
struct RateSweep {
  std::vector<double> rates{};    ///< ascending
  std::vector<double> losses{};   ///< of the step made at each rate, before its update
  std::vector<double> smoothed{}; ///< their moving average, without the bias of its start
  bool has_diverged = false;      ///< whether the sweep ended before the last rate

  /// The rate at which the smoothed loss falls fastest by the logarithm of the rate, by central differences. The first
  /// rates, whose average is of few losses, and the last ones may be left out.
  /// throws: ValueError when less than three rates are left, or when the loss falls at none of them
  [[nodiscard]] double suggestion(std::int64_t skipped_first = 10, std::int64_t skipped_last = 1) const;
};

}}}} // namespace twill::v0::training::TWILL_ISA

namespace twill { inline namespace v0 { namespace training { namespace detail { inline namespace TWILL_ISA {

/// throws: ValueError naming an option that is not allowed
void require_allowed(const RateSweepOptions& options);

/// The rate of a step of the sweep, counted from 0: least * (most / least)^(step / (steps - 1)).
[[nodiscard]] double swept_rate(const RateSweepOptions& options, std::int64_t step);

/// Adds the loss of a step. False where the sweep has to end: the loss is not finite, or the smoothed loss diverges.
bool note_loss(RateSweep& sweep, const RateSweepOptions& options, double rate, double loss);

/// Weights, rule, states and random numbers of a training, put back when it goes out of scope.
template <class Network, class Step> class TrainingKept {
public:
  TrainingKept(Network& network, Step& step)
      : network_{&network},
        step_{&step},
        rule_{step.rule},
        weights_{nn::state_dict(network)},
        states_{step.state_dict()},
        draw_{generator(network.device()).state()},
        last_draw_{network.state()->last_draw} {}
  TrainingKept(const TrainingKept&) = delete;
  TrainingKept& operator=(const TrainingKept&) = delete;
  TrainingKept(TrainingKept&&) = delete;
  TrainingKept& operator=(TrainingKept&&) = delete;
  ~TrainingKept() {
    try {
      put_back();
    } catch (...) { // a device that failed, whose error is on its way
    }
  }

  void put_back() {
    if (std::exchange(is_back_, true)) return;
    nn::load_state_dict(*network_, weights_);
    step_->load_state_dict(states_);
    step_->rule = rule_; // also the options of rules that list none
    generator(network_->device()).set_state(draw_);
    network_->state()->last_draw = last_draw_;
  }

private:
  Network* network_;
  Step* step_;
  decltype(Step::rule) rule_;
  nn::StateDict weights_;
  nn::StateDict states_;
  RandomDraw draw_;
  RandomDraw last_draw_;
  bool is_back_ = false;
};

}}}}} // namespace twill::v0::training::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

/// Sweeps the rate of a step, or of an optimiser, on a network: `sweep_rates(model, step, [&] { return step(x,
/// label).item(); })`. The function makes one training step and returns its loss; it may take the next batch of a
/// loader each time. Rates of groups keep their share. Afterwards weights, buffers, the rule and its states, the count
/// of steps and the random numbers of the network's device are as before, also when the function throws.
/// throws: ValueError naming an option that is not allowed; what the function throws
template <class Network, class Step, class F>
requires std::convertible_to < std::invoke_result_t<F&>,
double > RateSweep sweep_rates(Network& network, Step& step, F&& step_at_rate, RateSweepOptions options = {}) {
  detail::require_allowed(options);
  RateSweep sweep{};
  detail::TrainingKept kept{network, step};
  const std::int64_t first = step.steps();
  auto schedule = optim::scheduled(step, [&](std::int64_t at) { return detail::swept_rate(options, at - first); });
  for (std::int64_t i = 0; i < options.steps; ++i) {
    const double rate = schedule.update();
    const std::int64_t before = step.steps();
    const auto loss = static_cast<double>(step_at_rate());
    if (step.steps() != before + 1)
      throw ValueError("sweep_rates: the function has to make one step, it made " +
                       std::to_string(step.steps() - before));
    if (!detail::note_loss(sweep, options, rate, loss)) break;
  }
  kept.put_back();
  return sweep;
}

}}}} // namespace twill::v0::training::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/training/rate_finder.ipp>
#endif
