// SPDX-License-Identifier: Apache-2.0
//
// Rounding of complex numbers.
// expect: twill: complex numbers have no such function here; apply it to abs(x), real(x) or imag(x)

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto z = zeros<complex128, Shape<4>>();

#ifdef MISUSE
const Tensor c = floor(z);
#else
const Tensor c = floor(real(z));
#endif
