// SPDX-License-Identifier: Apache-2.0
//
// Choosing rows by numbers that are no indices.
// expect: index_tensor_must_hold_integers
// expect: left_type
// expect[g++]: float32

#include <twill/expr.hpp>

using namespace twill;

const auto table = zeros<float, Shape<4, 3>>();
const auto rows = tensor({0.F, 2.F});

#ifdef MISUSE
const auto c = eval(take<0>(table, rows));
#else
const auto c = eval(take<0>(table, cast<int>(rows)));
#endif
