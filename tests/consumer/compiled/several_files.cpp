// SPDX-License-Identifier: Apache-2.0
//
// Trains the classifier of another file, and compiles no model.

#include "classifier.hpp"

#include <twill/expr.hpp>

#include <cstdio>

int main() {
  using namespace twill;
  manual_seed_all(7);
  const auto points = uniform<float, Shape<dyn, 2>>(-1, 1, Dims(256, 2));
  const Tensor labels = cast<std::int64_t>(points(all, 0) > points(all, 1));
  Classifier classifier{0.05F};
  for (int i = 0; i < 100; ++i) classifier.train(points, labels);
  const Tensor accuracy = mean(classifier.classes(points) == labels);
  std::printf("accuracy: %.2f\n", static_cast<double>(accuracy.item()));
  return accuracy.item() > 0.9F ? 0 : 1;
}
