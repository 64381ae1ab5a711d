// SPDX-License-Identifier: Apache-2.0
//
// Values of three and of two rows side by side.
// expect: joined_values_have_different_extents

#include <twill/compile/function.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](auto v) { return graph::concatenate({v, graph::narrow(v, 0, 0, 2)}, 1); })(x);
#else
const auto y = compiled([](auto v) { return graph::concatenate({v, graph::narrow(v, 0, 0, 2)}, 0); })(x);
#endif
