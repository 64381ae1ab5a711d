// SPDX-License-Identifier: Apache-2.0
//
// One source for hosts and GPUs: `05_gpu cpu:1`, `05_gpu cuda`, `05_gpu cuda:1`. Without an argument it takes a GPU where
// there is one, and then adds up batches that are copied beside the additions. Only `main` names a kind of device.
// prints: accuracy: 1.00
// prints: the same numbers as on the host: yes

#include "examples/support/staged_copies.hpp"

#include <twill/cuda.cuh>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

using namespace twill;

struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, 2> point) {
    const auto hidden = tanh(nn::linear(point, 16, "hidden"));
    return nn::linear(hidden, 2, "output");
  }
};

namespace {

/// Points of the plane, and on which side of a line they lie.
// region: generic
template <Device D> double accuracy_on(D device) {
  manual_seed_all(7);
  const auto points = uniform<float, Shape<dyn, 2>>(-1, 1, Dims(512, 2), device);
  const Tensor labels = cast<std::int64_t>(points(twill::all, 0) + 2 * points(twill::all, 1) > 0.1);
  nn::Network<Classifier, D> model{device};
  auto step = train_step(model, nn::cross_entropy, optim::Adam{{.rate = 0.05}});
  for (int epoch = 0; epoch < 200; ++epoch) step(points, labels); // on a GPU: one captured graph, replayed
  const Tensor accuracy = mean(argmax<1>(model.infer(points)) == labels);
  return static_cast<double>(accuracy.item()); // the first time that anybody waits
}
// end region

/// Random numbers are functions of seed and position, so every kind of device draws the same.
template <Device D> bool draws_as_host(D device) {
  manual_seed_all(1);
  const auto here = rand<float, Shape<1000>>(device).to(Cpu{0});
  manual_seed_all(1);
  const auto there = rand<float, Shape<1000>>(Cpu{0});
  return static_cast<bool>(mean(here == there).item() == 1);
}

} // namespace

int main(int count, char** arguments) {
  try {
    // region: options
    set_library_options({.is_deterministic = true}); // before the first step
    // end region
    // region: choice
    const char* name = count > 1 ? arguments[1] : is_available<Cuda>() ? "cuda" : "cpu";
    const double accuracy = with_device(name, [](auto device) { return accuracy_on(device); });
    // end region
    const bool same = with_device(name, [](auto device) { return draws_as_host(device); });
    std::printf("device: %s\naccuracy: %.2f\nthe same numbers as on the host: %s\n", name, accuracy,
                same ? "yes" : "no");
    if (is_available<Cuda>()) {
      const Tensor batch = ones<float, Shape<dyn>>(Dims(100'000));
      std::printf("sum of eight batches: %.0f\n", examples::sum_of(std::vector(8, batch), Cuda{0}));
    }
    return accuracy > 0.99 && same ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
