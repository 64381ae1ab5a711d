// SPDX-License-Identifier: Apache-2.0
//
// Choosing rows of a matrix by a mask of its columns.
// expect: mask_shape_differs_from_the_tensors
// expect: axis<0>
// expect: left<4>
// expect: right<3>

#include <twill/expr.hpp>

using namespace twill;

const auto table = zeros<float, Shape<4, 3>>();
const auto columns = tensor({true, false, true});

#ifdef MISUSE
const auto c = eval(table[columns]);
#else
const auto c = eval(table.transpose()[columns]);
#endif
