// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <twill/device/cuda/missing_kernel.hpp>

using namespace twill;

TEST_CASE("a GPU without kernels is named with its capability and with the variable that adds it", "[cuda]") {
  CHECK(nvidia::missing_kernel_text(8, 6, {900}) ==
        "the device has compute capability 8.6 and the program was compiled for 9.0; configure with "
        "-DCMAKE_CUDA_ARCHITECTURES=86, or `native` for the GPUs of the machine that compiles");
  CHECK(
      nvidia::missing_kernel_text(12, 1, {750, 800, 1000})
          .starts_with(
              "the device has compute capability 12.1 and the program was compiled for 7.5, 8.0, 10.0; configure with "
              "-DCMAKE_CUDA_ARCHITECTURES=121,"));
}
