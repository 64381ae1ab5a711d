// SPDX-License-Identifier: Apache-2.0
//
// Bodies of core/ in the compiled library.

#include <twill/core/list.ipp>
#include <twill/core/run_recorder.ipp>
#include <twill/core/shape.ipp>
#include <twill/core/text.ipp>
#include <twill/core/type_name.ipp>
