// SPDX-License-Identifier: Apache-2.0
//
// Bodies of graph/ in the compiled library.

#include <twill/graph/extent.ipp>
#include <twill/graph/frozen.ipp>
