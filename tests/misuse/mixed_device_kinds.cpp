// SPDX-License-Identifier: Apache-2.0
//
// Operands on different kinds of device.
// nvcc
// expect: the operands live on different kinds of device

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto x = ones<float, Shape<3>>(Cpu{0});
#ifdef MISUSE
const auto other = ones<float, Shape<3>>(Meta{0});
#else
const auto other = ones<float, Shape<3>>(Cpu{0});
#endif
const Tensor y = x + other;
