// SPDX-License-Identifier: Apache-2.0
//
// A tensor without memory for another library.
// expect: a tensor on a meta device has no memory that could be shared

#include <twill/tensor/create.hpp>
#include <twill/tensor/dlpack.hpp>

using namespace twill;

#ifdef MISUSE
const auto managed = to_dlpack(Tensor<float, Meta, Shape<3>>(Meta{}));
#else
const auto managed = to_dlpack(Tensor<float, Cpu, Shape<3>>(Cpu{}));
#endif
