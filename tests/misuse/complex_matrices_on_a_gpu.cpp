// SPDX-License-Identifier: Apache-2.0
//
// A decomposition of complex matrices that lie on a GPU.
// expect: twill: linalg: complex matrices are decomposed on hosts; move them there with to(Cpu{0})

#include "tests/support/emulated_device.hpp"

#include <twill/kernel/gpu/launch.hpp>
#include <twill/linalg.hpp>

using namespace twill;

#ifdef MISUSE
auto factor_of_complex(const Tensor<complex64, test::Emulated, Shape<4, 4>>& a) { return linalg::cholesky(a); }
#else
auto factor_of_complex(const Tensor<complex64, test::Emulated, Shape<4, 4>>& a) { return a.to(Cpu{0}); }
#endif
