// SPDX-License-Identifier: Apache-2.0
//
// What the training program of ResNet-50 costs to compile.

#include "examples/models/resnet.hpp"

#include <twill/twill.hpp>

using namespace twill;

int main() {
  nn::Network<models::ResNet50<224>, Cpu> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  const auto images = rand<float, Shape<dyn, 3, 224, 224>>(Dims(8, 3, 224, 224));
  const auto labels = zeros<std::int64_t, Shape<dyn>>(Dims(8));
  for (int i = 0; i < 10; ++i) step(images, labels);
}
