// SPDX-License-Identifier: Apache-2.0
//
// A Fourier transform along several axes of which one is named twice.
// expect: axis_is_named_twice

#include <twill/fft.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 8>>();

#ifdef MISUSE
const auto y = fft::fftn<1, -1>(x);
#else
const auto y = fft::fftn<0, -1>(x);
#endif
