// SPDX-License-Identifier: Apache-2.0
//
// An axis of four elements in three equal parts.
// expect: sections_do_not_divide_the_axis

#include <twill/compile/function.hpp>
#include <twill/ops/split.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](auto v) { return graph::split<3>(v, 1)[0]; })(x);
#else
const auto y = compiled([](auto v) { return graph::split<2>(v, 1)[0]; })(x);
#endif
