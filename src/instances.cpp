// SPDX-License-Identifier: Apache-2.0
//
// Templates for host devices and common element types in the compiled library: those that headers declare with TWILL_INSTANCE.

#define TWILL_BUILDS_INSTANCES
#include <twill/twill.hpp>
