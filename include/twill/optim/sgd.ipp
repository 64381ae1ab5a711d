#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of optim/sgd.hpp.

#include <twill/optim/sgd.hpp>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

TWILL_BODY void MomentumSgd::list_options(OptionList& list) {
  ListedRule::list_options(list);
  list.add("nesterov", options.nesterov);
  if (options.nesterov && (options.momentum <= 0 || options.dampening != 0))
    list.refuse("nesterov",
                join_text({"needs momentum above 0 and no dampening, got momentum ", number_text(options.momentum),
                           " and dampening ", number_text(options.dampening)}));
}

}}}} // namespace twill::v0::optim::TWILL_ISA
