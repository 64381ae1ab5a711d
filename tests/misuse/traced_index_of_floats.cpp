// SPDX-License-Identifier: Apache-2.0
//
// Rows chosen by floats.
// expect: indices_are_not_integers

#include <twill/compile/function.hpp>
#include <twill/ops/gather.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](auto v) { return graph::take(v, v); })(x);
#else
const auto y = compiled([](auto v) { return graph::take(v, graph::cast(v, DType::int64)); })(x);
#endif
