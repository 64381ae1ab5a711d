// SPDX-License-Identifier: Apache-2.0
//
// Constexpr functions for use at run time in the compiled library, which headers define with TWILL_CONSTEXPR. Models are traced
// by them in milliseconds: cmake/compiled_library.cmake has this file compiled at -O1.

#define TWILL_BUILDS_CONSTEXPR
#include <twill/linalg.hpp>
#include <twill/twill.hpp>
