// SPDX-License-Identifier: Apache-2.0
//
// A tour in three pieces: expressions that fuse, gradients of plain functions, a model that learns. The README shows them.
// prints: energy: 0.5800
// prints: gradient by w: [0.0799625 0.0799625 0.0799625 0.0799625]
// prints: along t: 1.2794
// prints: curvature: 1.6487, off the diagonal: 0.5000
// prints: distance of the first and the last point: 10.0

#include <twill/training/peak_bytes.hpp>
#include <twill/twill.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <tuple>

using namespace twill;

// region: model
struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, 2> point) {
    const auto hidden = tanh(nn::linear(point, 16, "hidden"));
    return nn::linear(hidden, 2, "output");
  }
};
// end region

// region: plan
using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;
static_assert(plan<Classifier, nn::cross_entropy, optim::Adam, Labels>().launches == 11);
using Step = training::StepOf<Classifier, nn::cross_entropy, optim::Adam, Labels>;
static_assert(peak_bytes<Step, nn::Size<"batch", 1024>> <= 80_GB);
// end region

namespace {

void expressions() {
  // region: expressions
  const auto a = rand<float, Shape<1000>>();
  const auto b = rand<float, Shape<1000>>();
  const Tensor c = tanh(a * b + 1) - 0.5 * a; // one kernel, one pass over memory; still float32
  const Tensor largest = max(c);
  // end region
  std::printf("largest of the chain: %.3f\n", static_cast<double>(largest.item()));
}

void gradients() {
  // region: gradients
  const auto energy = [](auto x, auto w) { return mean(square(tanh(x * w))); };
  const auto x = full<double, Shape<4>>(0.5);
  const auto w = full<double, Shape<4>>(2.0);
  const auto [value, by_x, by_w] = value_and_grad(energy)(x, w); // derived by the compiler
  // end region
  std::printf("energy: %.4f\n", value.item());
  std::cout << "gradient by w: " << by_w << '\n';
  // region: transforms
  const auto t = ones<double, Shape<4>>();
  const auto [same, slope] = jvp(energy, std::tuple{x, w}, t);                    // forward mode: along t in x
  const auto [total, curved] = hvp([](auto v) { return sum(exp(v)); }, x, t);     // a Hessian times t
  const auto by_element = jacobian([](auto v) { return v * sum(square(v)); })(x); // 4 x 4
  // end region
  std::printf("along t: %.4f\n", slope.item());
  std::printf("curvature: %.4f, off the diagonal: %.4f\n", curved(0).item(), by_element(0, 1).item());
  // region: vmap
  const auto distance = [](auto a, auto b) { return sqrt(sum(square(a - b))); };
  const auto points = tensor({{0.0, 0.0}, {3.0, 4.0}, {6.0, 8.0}});
  const auto pairs = vmap<0, unbatched>(vmap<unbatched, 0>(distance))(points, points); // 3 x 3
  const auto error = [](auto v, auto a) { return square(sum(v * a) - 1); };
  const auto v = ones<double, Shape<2>>();
  const auto each = vmap<unbatched, 0>(grad<1>(error))(v, points); // a gradient for each point
  // end region
  std::printf("distance of the first and the last point: %.1f\n", pairs(0, 2).item());
  std::cout << "gradients of each point: " << each << '\n';
}

/// Points of the unit square: class 1 lies outside a circle.
double learn() {
  manual_seed_all(7);
  const auto points = rand<float, Shape<dyn, 2>>(Dims(256, 2));
  auto labels = zeros<std::int64_t, Shape<dyn>>(Dims(256));
  for (std::int64_t i = 0; i < 256; ++i) {
    const float x = points(i, 0).item();
    const float y = points(i, 1).item();
    labels[i] = x * x + y * y > 0.6F ? 1 : 0;
  }
  // region: training
  nn::Network<Classifier, Cpu> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Adam{{.rate = 0.05}});
  for (int epoch = 0; epoch < 200; ++epoch) step(points, labels); // one planned program, no allocation
  const Tensor accuracy = mean(argmax<1>(model.infer(points)) == labels);
  // end region
  return static_cast<double>(accuracy.item());
}

} // namespace

int main() {
  expressions();
  gradients();
  const double accuracy = learn();
  std::printf("training accuracy: %.1f%%\n", 100 * accuracy);
  return accuracy > 0.95 ? EXIT_SUCCESS : EXIT_FAILURE;
}
