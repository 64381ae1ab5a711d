// SPDX-License-Identifier: Apache-2.0
//
// Tests of kernels and expressions, compiled for one instruction set: skipped where the processor has another.

#include <tests/support/session.hpp>

#include <twill/kernel/pack.hpp>

#include <cstdio>

int main(int argc, char** argv) {
#if defined(__AVX512F__)
  const bool runs = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#elif defined(__AVX2__)
  const bool runs = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  const bool runs = true;
#endif
  std::printf("vectors of %d bytes\n", twill::kernel::vector_bytes);
  if (!runs) {
    std::puts("skipped: this processor has other instructions");
    return 4;
  }
  return twill::test::run_session(argc, argv);
}
