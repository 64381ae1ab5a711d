#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of optim/.

#include <twill/optim/adam.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/optim/update.hpp>
