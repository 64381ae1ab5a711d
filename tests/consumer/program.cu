// SPDX-License-Identifier: Apache-2.0
//
// The same for nvcc: a kernel for a GPU, which runs where there is one, and the host's where there is none.

#include <twill/expr.cuh>

#include <cstdio>

namespace {

template <class D> float anywhere(D device) {
  using namespace twill;
  const Tensor x = full<float, Shape<64>>(0.5F, device);
  const Tensor y = x * 2 + 1;
  return y.to(Cpu{0})(3).item();
}

} // namespace

int main() {
  const bool has_gpu = twill::is_available<twill::Cuda>();
  std::printf("twill %s, %s\n", TWILL_VERSION, has_gpu ? "a GPU" : "no GPU");
  return (has_gpu ? anywhere(twill::Cuda{0}) : anywhere(twill::Cpu{0})) == 2 ? 0 : 1;
}
