// SPDX-License-Identifier: Apache-2.0
//
// A comparison by size of complex numbers.
// expect: twill: complex numbers have no order; compare abs(x), real(x) or imag(x)

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto z = zeros<complex64, Shape<4>>();

#ifdef MISUSE
const Tensor c = z < 1.0;
#else
const Tensor c = abs(z) < 1.0;
#endif
