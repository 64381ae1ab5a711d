// SPDX-License-Identifier: Apache-2.0
//
// Templates for host devices and common element types in the compiled library, which headers declare with TWILL_INSTANCE, and
// constexpr functions for use at run time, which they define with TWILL_CONSTEXPR.

#define TWILL_BUILDS_INSTANCES
#include <twill/twill.hpp>
