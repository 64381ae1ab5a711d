// SPDX-License-Identifier: Apache-2.0
//
// The five largest of four.
// expect: topk_exceeds_the_axis

#include <twill/compile/function.hpp>
#include <twill/ops/sort.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](auto v) { return graph::topk(v, 5).values; })(x);
#else
const auto y = compiled([](auto v) { return graph::topk(v, 4).values; })(x);
#endif
