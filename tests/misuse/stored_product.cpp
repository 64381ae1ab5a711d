// SPDX-License-Identifier: Apache-2.0
//
// A product that was given a name and is used later, when its operands may be gone.
// expect: a stored expression refers to tensors that may be gone

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<float, Shape<3, 4>>();

#ifdef MISUSE
auto product = matmul(a, zeros<float, Shape<4, 2>>());
#else
auto product = lazy(matmul(a, zeros<float, Shape<4, 2>>()));
#endif
const Tensor c = relu(product);
