// SPDX-License-Identifier: Apache-2.0
//
// The greatest of complex numbers.
// expect: twill: complex numbers have no order and no such statistic; reduce abs(x), real(x) or imag(x)

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto z = zeros<complex64, Shape<4>>();

#ifdef MISUSE
const Tensor c = max(z);
#else
const Tensor c = max(abs(z));
#endif
