// SPDX-License-Identifier: Apache-2.0
//
// A reflection of more elements than there are beside the edge.
// expect: margin_reaches_beyond_the_axis

#include <twill/compile/function.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](auto v) { return graph::pad_reflect(v, 0, {3, 0}); })(x);
#else
const auto y = compiled([](auto v) { return graph::pad_reflect(v, 0, {2, 0}); })(x);
#endif
