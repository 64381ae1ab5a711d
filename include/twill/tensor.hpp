#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of tensor/.

#include <twill/tensor/access.hpp>
#include <twill/tensor/borrowed.hpp>
#include <twill/tensor/complex_views.hpp>
#include <twill/tensor/copy.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/dlpack.hpp>
#include <twill/tensor/dlpack_types.hpp>
#include <twill/tensor/extents.hpp>
#include <twill/tensor/first_axis.hpp>
#include <twill/tensor/index.hpp>
#include <twill/tensor/layout.hpp>
#include <twill/tensor/like.hpp>
#include <twill/tensor/number_format.hpp>
#include <twill/tensor/print.hpp>
#include <twill/tensor/random.hpp>
#include <twill/tensor/shapes.hpp>
#include <twill/tensor/tensor.hpp>
#include <twill/tensor/views.hpp>
