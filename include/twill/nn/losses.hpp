#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All losses.

#include <twill/nn/losses/classification.hpp>
#include <twill/nn/losses/loss.hpp>
#include <twill/nn/losses/regression.hpp>
