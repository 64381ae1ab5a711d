// SPDX-License-Identifier: Apache-2.0
//
// Following one index for each row through a matrix of choices that lost an axis.
// expect: ranks_differ
// expect: left_rank<2>
// expect: right_rank<1>

#include <twill/expr.hpp>

using namespace twill;

const auto scores = zeros<float, Shape<4, 3>>();
const auto labels = zeros<int, Shape<4>>();

#ifdef MISUSE
const auto c = eval(take_along_axis<1>(scores, labels));
#else
const auto c = eval(take_along_axis<1>(scores, expand_dims<1>(labels)));
#endif
