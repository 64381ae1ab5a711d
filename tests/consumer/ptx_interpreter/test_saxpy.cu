// SPDX-License-Identifier: Apache-2.0
//
// A program with a kernel of its own and a test of it, which uses nothing of twill but the PTX interpreter.

#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

// region: kernel
__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
#ifdef FORGETS_THE_BOUND
  static_cast<void>(n);
#else
  if (i >= n) return;
#endif
  y[i] = a * x[i] + y[i];
}
// end region

int main() {
  constexpr int n = 1001;
  std::vector<float> x(n, 2), y(n, 1);
  float *x_there = nullptr, *y_there = nullptr;
  constexpr std::size_t bytes = n * sizeof(float);
  if (cudaMalloc(&x_there, bytes) != cudaSuccess || cudaMalloc(&y_there, bytes) != cudaSuccess) return 1;
  cudaMemcpy(x_there, x.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(y_there, y.data(), bytes, cudaMemcpyHostToDevice);
  saxpy<<<(n + 255) / 256, 256>>>(n, 3, x_there, y_there);
  cudaMemcpy(y.data(), y_there, bytes, cudaMemcpyDeviceToHost);
  cudaFree(x_there);
  cudaFree(y_there);
  for (const float value : y)
    if (value != 7) return 1;
  std::printf("saxpy of %d numbers is right\n", n);
  return 0;
}
