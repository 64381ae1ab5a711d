// SPDX-License-Identifier: Apache-2.0
//
// The kernel of a model's decomposition of complex matrices, on the queue of a GPU.
// expect: twill: linalg: in models complex matrices are decomposed on hosts; move their parts there with to(Cpu{0})

#include "tests/support/emulated_device.hpp"

#include <twill/device/gpu/queue.hpp>
#include <twill/linalg.hpp>

using namespace twill;

#ifdef MISUSE
void factorise(const gpu::Queue<test::Emulated::Runtime>& queue, const kernel::Launch& launch) {
  KernelOf<&linalg::detail::complex_cholesky_operation>::run<float>(queue, launch);
}
#else
void factorise(const gpu::Queue<test::Emulated::Runtime>&, const kernel::Launch&);
#endif
