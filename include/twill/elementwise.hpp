#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of elementwise/.

#include <twill/elementwise/activations.hpp>
#include <twill/elementwise/argument.hpp>
#include <twill/elementwise/arithmetic.hpp>
#include <twill/elementwise/comparison.hpp>
#include <twill/elementwise/complex_formulas.hpp>
#include <twill/elementwise/floating.hpp>
#include <twill/elementwise/real.hpp>
#include <twill/elementwise/rows.hpp>
