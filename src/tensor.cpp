// SPDX-License-Identifier: Apache-2.0
//
// Bodies of tensor/ in the compiled library.

#include <twill/tensor/copy.ipp>
#include <twill/tensor/create.ipp>
#include <twill/tensor/dlpack.ipp>
#include <twill/tensor/dlpack_types.ipp>
#include <twill/tensor/extents.ipp>
#include <twill/tensor/layout.ipp>
#include <twill/tensor/number_format.ipp>
#include <twill/tensor/print.ipp>
#include <twill/tensor/views.ipp>
