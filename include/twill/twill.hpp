#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tensors, models and training on hosts. Each layer has an umbrella of its own, and every header can be included
// alone.

#include <twill/algorithms.hpp>
#include <twill/compile.hpp>
#include <twill/core.hpp>
#include <twill/device.hpp>
#include <twill/elementwise.hpp>
#include <twill/expr.hpp>
#include <twill/graph.hpp>
#include <twill/kernel.hpp>
#include <twill/memory.hpp>
#include <twill/nn.hpp>
#include <twill/ops.hpp>
#include <twill/optim.hpp>
#include <twill/tensor.hpp>
#include <twill/training.hpp>
