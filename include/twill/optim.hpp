#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of optim/.

#include <twill/optim/adam.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/groups.hpp>
#include <twill/optim/loss_scale.hpp>
#include <twill/optim/options.hpp>
#include <twill/optim/rmsprop.hpp>
#include <twill/optim/schedules.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/optim/update.hpp>
