#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The vector functions of twill, one family a file.

#include <twill/kernel/math/exponential.hpp>
#include <twill/kernel/math/logarithm.hpp>
#include <twill/kernel/math/sigmoidal.hpp>
#include <twill/kernel/math/trigonometric.hpp>
