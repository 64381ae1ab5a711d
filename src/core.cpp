// SPDX-License-Identifier: Apache-2.0
//
// Bodies of core/ in the compiled library.

#include <twill/core/clock.ipp>
#include <twill/core/error.ipp>
#include <twill/core/run_recorder.ipp>
#include <twill/core/shape.ipp>
#include <twill/core/stable_order.ipp>
#include <twill/core/text.ipp>
#include <twill/core/utf8.ipp>
