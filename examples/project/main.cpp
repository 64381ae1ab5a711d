// SPDX-License-Identifier: Apache-2.0
//
// A model that learns on which side of a line points lie.
// prints: accuracy: 1.00

#include <twill/twill.hpp>

#include <cstdint>
#include <cstdio>

using namespace twill;

struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, 2> point) {
    const auto hidden = tanh(nn::linear(point, 16, "hidden"));
    return nn::linear(hidden, 2, "output");
  }
};

int main() {
  manual_seed_all(7);
  const auto points = uniform<float, Shape<dyn, 2>>(-1, 1, Dims(512, 2));
  const Tensor labels = cast<std::int64_t>(points(all, 0) + 2 * points(all, 1) > 0.1);

  nn::Network<Classifier, Cpu> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Adam{{.rate = 0.05}});
  for (int epoch = 0; epoch < 200; ++epoch) step(points, labels);

  const Tensor accuracy = mean(argmax<1>(model.infer(points)) == labels);
  std::printf("accuracy: %.2f\n", static_cast<double>(accuracy.item()));
  return accuracy.item() > 0.95F ? 0 : 1;
}
