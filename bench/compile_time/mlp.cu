// SPDX-License-Identifier: Apache-2.0
//
// What the training program of a 784-256-256-10 network costs to compile for a GPU.

#include <twill/cuda.cuh>

using namespace twill;

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 784> image) {
    auto hidden = relu(nn::linear(image, 256, "layer1"));
    hidden = relu(nn::linear(hidden, 256, "layer2"));
    return nn::linear(hidden, 10, "layer3");
  }
};

int main() {
  nn::Network<Mlp, Cuda> model{Cuda{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  const auto image = rand<float, Shape<dyn, 784>>(Dims(64, 784), Cuda{0});
  const auto label = zeros<std::int64_t, Shape<dyn>>(Dims(64), Cuda{0});
  for (int i = 0; i < 10; ++i) step(image, label);
}
