#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of training/early_stopping.hpp.

#include <twill/optim/options.hpp>
#include <twill/training/early_stopping.hpp>

#include <cmath>
#include <string>

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

TWILL_BODY EarlyStopping::EarlyStopping(EarlyStoppingOptions given) : options{given} {
  if (given.patience < 1)
    throw ValueError("early_stopping: patience must be at least 1, got " + std::to_string(given.patience));
  if (!(given.min_delta >= 0))
    throw ValueError("early_stopping: min_delta must not be negative, got " + number_text(given.min_delta));
}

TWILL_BODY bool EarlyStopping::operator()(double measured) {
  if (is_better(measured)) {
    state_.best = measured;
    state_.best_index = state_.measurements;
    state_.bad = 0;
  } else {
    ++state_.bad;
  }
  ++state_.measurements;
  return should_stop();
}

TWILL_BODY double EarlyStopping::best() const {
  if (!state_.has_best()) throw ValueError("early_stopping: there is no best number before a measurement");
  return state_.best;
}

TWILL_BODY std::int64_t EarlyStopping::best_index() const {
  if (!state_.has_best()) throw ValueError("early_stopping: there is no best number before a measurement");
  return state_.best_index;
}

TWILL_BODY const nn::StateDict& EarlyStopping::best_weights() const {
  if (!best_weights_)
    throw ValueError("early_stopping: no weights were kept; give the network with the number: stop(loss, model)");
  return *best_weights_;
}

TWILL_BODY bool EarlyStopping::is_better(double measured) const {
  if (!state_.has_best()) return !std::isnan(measured);
  return options.larger_is_better ? measured - options.min_delta > state_.best
                                  : measured + options.min_delta < state_.best;
}

}}}} // namespace twill::v0::training::TWILL_ISA
