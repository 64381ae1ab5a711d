// SPDX-License-Identifier: Apache-2.0
//
// More values than the shape takes.
// expect: number_of_values_differs_from_the_shape
// expect: count<3>
// expect: elements<4>

#include <twill/tensor/create.hpp>

using namespace twill;

#ifdef MISUSE
const auto y = tensor<Shape<2, 2>>({1.0F, 2.0F, 3.0F});
#else
const auto y = tensor<Shape<2, 2>>({1.0F, 2.0F, 3.0F, 4.0F});
#endif
