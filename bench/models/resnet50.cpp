// SPDX-License-Identifier: Apache-2.0
//
// ResNet-50 on eight images of 128 x 128, for bench/models/compare.py.

#include "bench/models/step_server.hpp"
#include "examples/models/resnet.hpp"

#include <twill/nn/losses.hpp>

namespace {

template <class D> using Images = twill::Tensor<float, D, twill::Shape<twill::dyn, 3, 128, 128>>;
template <class D> using Labels = twill::Tensor<std::int64_t, D, twill::Shape<twill::dyn>>;

} // namespace

int main(int count, char** arguments) {
  return bench::serve<models::ResNet50<128>, Images, Labels>(count, arguments, twill::nn::cross_entropy);
}
