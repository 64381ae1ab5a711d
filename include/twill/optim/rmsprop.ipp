#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of optim/rmsprop.hpp.

#include <twill/optim/rmsprop.hpp>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

TWILL_BODY void Adagrad::list_options(OptionList& list) {
  list.settle("rule", "adagrad");
  list.add("rate", options.rate, Allowed::not_negative);
  list.add("rate_decay", options.rate_decay, Allowed::not_negative);
  list.add("weight_decay", options.weight_decay, Allowed::not_negative);
  list.add("initial_accumulator", options.initial_accumulator, Allowed::not_negative);
  list.add("epsilon", options.epsilon, Allowed::not_negative);
}

}}}} // namespace twill::v0::optim::TWILL_ISA
