// SPDX-License-Identifier: Apache-2.0
//
// ResNet-50 against torchvision's.

#include "examples/models/resnet.hpp"
#include "tests/pytorch/compare.hpp"

#include <twill/nn/losses.hpp>

using namespace twill;

int main(int, char** arguments) {
  return test::compare_with_pytorch<double, models::ResNet50<64>, Tensor<double, Cpu, Shape<dyn, 3, 64, 64>>,
                                    Tensor<std::int64_t, Cpu, Shape<dyn>>>(arguments[1], nn::cross_entropy);
}
