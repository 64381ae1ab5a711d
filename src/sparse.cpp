// SPDX-License-Identifier: Apache-2.0
//
// Bodies of sparse/ in the compiled library.

#include <twill/sparse/csr_matrix.ipp>
#include <twill/sparse/csr_value.ipp>
#include <twill/sparse/entries.ipp>
#include <twill/sparse/structure.ipp>
