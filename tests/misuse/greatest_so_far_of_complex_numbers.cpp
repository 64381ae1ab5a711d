// SPDX-License-Identifier: Apache-2.0
//
// A running maximum of complex numbers.
// expect: twill: cummax, cummin and logcumsumexp: complex numbers have no order; take abs(x), real(x) or imag(x)

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto z = zeros<complex64, Shape<8>>();

#ifdef MISUSE
const auto y = cummax(z);
#else
const auto y = cummax(real(z));
#endif
