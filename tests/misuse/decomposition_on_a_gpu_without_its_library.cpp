// SPDX-License-Identifier: Apache-2.0
//
// A decomposition of matrices that lie on a GPU, in a program that does not include its library.
// expect: twill: linalg: on CUDA devices decompositions are cuSOLVER's; include <twill/linalg/cuda/matrices.cuh> in a program for which CMake found cuSOLVER (TWILL_WITH_CUSOLVER)

#include "tests/support/emulated_device.hpp"

#include <twill/kernel/gpu/launch.hpp>
#include <twill/linalg.hpp>

using namespace twill;

#ifdef MISUSE
auto factor_of_complex(const Tensor<complex64, test::Emulated, Shape<4, 4>>& a) { return linalg::cholesky(a); }
#else
auto factor_of_complex(const Tensor<complex64, test::Emulated, Shape<4, 4>>& a) { return a.to(Cpu{0}); }
#endif
