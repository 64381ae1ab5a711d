// SPDX-License-Identifier: Apache-2.0
//
// A convolution of matrices by the function of vectors.
// expect: convolve_takes_two_vectors_with_elements

#include <twill/compile/function.hpp>
#include <twill/ops/value_windows.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
const auto y = compiled([](auto v) { return graph::convolve(v, v); })(x);
#else
const auto y = compiled([](auto v) { return graph::convolve(v.flatten(), v.flatten()); })(x);
#endif
