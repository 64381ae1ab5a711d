#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Vector functions of twill, one family a file. Errors are in units in the last place (tools/ulp/results.md), measured
// over all of float32 with fused multiply-add. Read next: kernel/math/polynomial.hpp.

#include <twill/kernel/math/division.hpp>
#include <twill/kernel/math/exponential.hpp>
#include <twill/kernel/math/gamma.hpp>
#include <twill/kernel/math/hyperbolic.hpp>
#include <twill/kernel/math/inverse_trigonometric.hpp>
#include <twill/kernel/math/logarithm.hpp>
#include <twill/kernel/math/power.hpp>
#include <twill/kernel/math/sigmoidal.hpp>
#include <twill/kernel/math/trigonometric.hpp>
