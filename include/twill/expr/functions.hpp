#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All elementwise functions by NumPy's names, over tensors, expressions and numbers, one family a file. Each makes a node;
// nothing is computed before the statement ends. Functions of real numbers turn integers into float32, rounding keeps
// integers. Read next: expr/activations.hpp.

#include <twill/expr/functions/arithmetic.hpp>
#include <twill/expr/functions/choice.hpp>
#include <twill/expr/functions/comparison.hpp>
#include <twill/expr/functions/exponential.hpp>
#include <twill/expr/functions/floating.hpp>
#include <twill/expr/functions/rounding.hpp>
#include <twill/expr/functions/special.hpp>
#include <twill/expr/functions/trigonometric.hpp>
