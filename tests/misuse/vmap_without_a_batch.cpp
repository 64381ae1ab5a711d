// SPDX-License-Identifier: Apache-2.0
//
// A batched function none of whose arguments is a batch.
// nvcc
// expect: twill: vmap: at least one argument has to be batched; give it an axis

#include <twill/compile/vmap.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<4, 2>>();

#ifdef MISUSE
const auto y = vmap<unbatched>([](auto a) { return sum(a); })(x);
#else
const auto y = vmap<0>([](auto a) { return sum(a); })(x);
#endif
