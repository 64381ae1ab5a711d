// SPDX-License-Identifier: Apache-2.0
//
// A matrix convolved by a vector in a model.
// expect: fftconvolve_takes_operands_of_one_rank
// expect: left_rank<2>
// expect: right_rank<1>

#include <twill/compile/function.hpp>
#include <twill/fft/value_convolve.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();
const auto window = zeros<float, Shape<2>>();

#ifdef MISUSE
const auto y = compiled([](auto v, auto w) { return fft::fftconvolve<1>(v, w); })(x, window);
#else
const auto y = compiled([](auto v, auto w) { return fft::fftconvolve<1>(v, graph::unsqueeze(w, 0)); })(x, window);
#endif
