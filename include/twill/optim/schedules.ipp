#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of optim/schedules.hpp.

#include <twill/optim/schedules.hpp>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

TWILL_BODY double StepDecay::operator()(std::int64_t step) const {
  const std::int64_t changes = step / every;
  return rate * std::pow(factor, static_cast<double>(changes));
}

TWILL_BODY double Exponential::operator()(std::int64_t step) const {
  return rate * std::pow(factor, static_cast<double>(step));
}

TWILL_BODY double Cosine::operator()(std::int64_t step) const {
  const double angle = std::numbers::pi * static_cast<double>(step) / static_cast<double>(steps);
  return least + (rate - least) * (1 + std::cos(angle)) / 2;
}

TWILL_BODY double Linear::operator()(std::int64_t step) const {
  const double done = static_cast<double>(step < steps ? step : steps) / static_cast<double>(steps);
  return rate * (start_factor + (end_factor - start_factor) * done);
}

TWILL_BODY double OneCycle::operator()(std::int64_t step) const {
  const double first = max_rate / division;
  return along(step, first, max_rate, first / final_division);
}

TWILL_BODY double OneCycle::momentum(std::int64_t step) const {
  return along(step, most_momentum, least_momentum, most_momentum);
}

TWILL_BODY double OneCycle::along(std::int64_t step, double first, double top, double last) const {
  const double peak = rising_part * static_cast<double>(steps) - 1;
  const double end = static_cast<double>(steps - 1);
  const double at = static_cast<double>(step < steps ? step : steps - 1);
  if (at <= peak) return between(first, top, peak > 0 ? at / peak : 1); // few steps: no rising part
  return between(top, last, end > peak ? (at - peak) / (end - peak) : 1);
}

TWILL_BODY double OneCycle::between(double from, double to, double done) const {
  if (anneal == Anneal::linear) return from + (to - from) * done;
  return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * done));
}

TWILL_BODY double Constant::operator()(std::int64_t step) const { return step < steps ? rate * factor : rate; }

TWILL_BODY double Polynomial::operator()(std::int64_t step) const {
  const double done = static_cast<double>(step < steps ? step : steps) / static_cast<double>(steps);
  return rate * std::pow(1 - done, power);
}

TWILL_BODY double CosineWarmRestarts::operator()(std::int64_t step) const {
  std::int64_t length = steps;
  if (growth == 1) step %= length;
  while (step >= length) {
    step -= length;
    length *= growth;
  }
  return Cosine{rate, length, least}(step);
}

TWILL_BODY double Cyclic::operator()(std::int64_t step) const { return least + (most - least) * height_at(step); }

TWILL_BODY double Cyclic::momentum(std::int64_t step) const {
  return most_momentum - (most_momentum - least_momentum) * height_at(step);
}

TWILL_BODY double Cyclic::height_at(std::int64_t step) const {
  const std::int64_t down = falling > 0 ? falling : rising;
  const std::int64_t cycle = step / (rising + down), at = step % (rising + down);
  const double up = at <= rising ? static_cast<double>(at) / static_cast<double>(rising)
                                 : static_cast<double>(rising + down - at) / static_cast<double>(down);
  double scale = 1;
  if (height == CyclicHeight::halved) scale = std::pow(0.5, static_cast<double>(cycle));
  if (height == CyclicHeight::exponential) scale = std::pow(factor, static_cast<double>(step));
  return up * scale;
}

TWILL_BODY Plateau::Plateau(PlateauOptions given) : options{given}, state_{.rate = given.rate} {
  PlateauOptions::for_each(given, [](const char* name, auto option, Allowed allowed) {
    detail::require_allowed("plateau", name, static_cast<double>(option), allowed);
  });
}

TWILL_BODY double Plateau::operator()(double measured) {
  if (is_better(measured)) {
    state_.best = measured;
    state_.has_best = true;
    state_.bad = 0;
  } else {
    ++state_.bad;
  }
  if (state_.cooling > 0) {
    --state_.cooling;
    state_.bad = 0;
  }
  if (state_.bad > options.patience) {
    const double lower = state_.rate * options.factor;
    const double next = lower > options.least ? lower : options.least;
    if (state_.rate - next > options.epsilon) state_.rate = next;
    state_.cooling = options.cooldown;
    state_.bad = 0;
  }
  return state_.rate;
}

TWILL_BODY bool Plateau::is_better(double measured) const {
  if (!state_.has_best) return !std::isnan(measured);
  if (options.larger_is_better) return measured > state_.best * (1 + options.threshold);
  return measured < state_.best * (1 - options.threshold);
}

}}}} // namespace twill::v0::optim::TWILL_ISA
