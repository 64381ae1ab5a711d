// SPDX-License-Identifier: Apache-2.0
//
// Gradients clipped while they still carry the loss scale.
// expect: gradients are clipped after the loss scale is gone

#include <twill/optim/clip.hpp>
#include <twill/optim/loss_scale.hpp>
#include <twill/optim/sgd.hpp>

using namespace twill;

#ifdef MISUSE
const auto rule = optim::clip_norm(optim::loss_scaled(optim::Sgd{}), 1);
#else
const auto rule = optim::loss_scaled(optim::clip_norm(optim::Sgd{}, 1));
#endif
