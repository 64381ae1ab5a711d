#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Error text for a program without kernels for a GPU: the device's compute capability, the architectures that nvcc was
// given (its macro `__CUDA_ARCH_LIST__`), and the CMake variable that adds one. Plain text, tested without CUDA. Not in
// the umbrella. Read next: device/cuda/runtime.cuh.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>

#include <initializer_list>
#include <string>

namespace twill { inline namespace v0 { namespace nvidia {

/// "the device has compute capability 8.6 and the program was compiled for 9.0; ...". Architectures are nvcc's numbers:
/// 900 is 9.0.
[[nodiscard]] TWILL_COLD inline std::string missing_kernel_text(int major, int minor,
                                                                std::initializer_list<int> compiled) {
  std::string text =
      join_text({"the device has compute capability ", major, ".", minor, " and the program was compiled for "});
  const char* separator = "";
  for (const int architecture : compiled) {
    text += join_text({separator, architecture / 100, ".", architecture / 10 % 10});
    separator = ", ";
  }
  return text + join_text({"; configure with -DCMAKE_CUDA_ARCHITECTURES=", major, minor,
                           ", or `native` for the GPUs of the machine that compiles"});
}

}}} // namespace twill::v0::nvidia
