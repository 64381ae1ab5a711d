// SPDX-License-Identifier: Apache-2.0
//
// A rule whose gradients would be divided by two loss scales.
// expect: the gradients are divided by a loss scale already

#include <twill/optim/loss_scale.hpp>
#include <twill/optim/sgd.hpp>

using namespace twill;

#ifdef MISUSE
const auto rule = optim::loss_scaled(optim::loss_scaled(optim::Sgd{}));
#else
const auto rule = optim::loss_scaled(optim::Sgd{});
#endif
