// SPDX-License-Identifier: Apache-2.0
//
// The program of a user that each consumer builds: an expression and a matrix product, which goes to the libraries that
// the package found.

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <cstdio>

int main() {
  using namespace twill;
  const Tensor a = full<float, Shape<64, 64>>(0.5F);
  const Tensor product = matmul(a, a) * 2 + 1;
  std::printf("twill %s, %s, %s\n", TWILL_VERSION, cpu::has_blas ? "CBLAS" : "no CBLAS",
              cpu::has_onednn ? "oneDNN" : "no oneDNN");
  return product(3, 5).item() == 33 ? 0 : 1;
}
