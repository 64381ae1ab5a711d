#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of optim/sgd.hpp.

#include <twill/optim/sgd.hpp>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

TWILL_BODY void Sgd::list_options(OptionList& list) {
  list.settle("rule", "sgd");
  list.add("rate", options.rate, Allowed::not_negative);
  list.add("weight_decay", options.weight_decay, Allowed::not_negative);
}

TWILL_BODY void MomentumSgd::list_options(OptionList& list) {
  list.settle("rule", "momentum_sgd");
  list.add("rate", options.rate, Allowed::not_negative);
  list.add("momentum", options.momentum, Allowed::not_negative);
  list.add("dampening", options.dampening);
  list.add("weight_decay", options.weight_decay, Allowed::not_negative);
  list.add("nesterov", options.nesterov);
  if (options.nesterov && (options.momentum <= 0 || options.dampening != 0))
    list.refuse("nesterov",
                join_text({"needs momentum above 0 and no dampening, got momentum ", option_text(options.momentum),
                           " and dampening ", option_text(options.dampening)}));
}

}}}} // namespace twill::v0::optim::TWILL_ISA
