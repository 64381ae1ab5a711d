// SPDX-License-Identifier: Apache-2.0
//
// An unsigned integer of 16 bits beside a signed one, a pair that PyTorch refuses.
// expect: element_types_have_no_common_one
// expect: uint16
// expect: int32

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

using namespace twill;

const auto a = zeros<std::uint16_t, Shape<4>>();
const auto b = zeros<int, Shape<4>>();

#ifdef MISUSE
const Tensor c = a + b;
#else
const Tensor c = cast<int>(a) + b;
#endif
