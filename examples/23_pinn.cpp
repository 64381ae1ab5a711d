// SPDX-License-Identifier: Apache-2.0
//
// A differential equation solved by a network (a physics-informed network: Raissi, Perdikaris and Karniadakis, 2019): -u'' = pi^2
// sin(pi x) between 0 and 1, u = 0 at both ends, whose solution is sin(pi x). The model is the residual of the equation, with
// the second derivative by its input; training makes its mean square small, which differentiates a third time, by the weights.
// prints: largest error: 0.0000

#include <twill/twill.hpp>

#include <cstdio>
#include <numbers>

using namespace twill;

namespace {

/// The network, zero at both ends by construction.
constexpr auto solution(const auto& x) {
  const auto first = tanh(nn::linear(x, 16, "first"));
  const auto second = tanh(nn::linear(first, 16, "second"));
  return x * (1 - x) * nn::linear(second, 1, "u");
}

/// The solution u alone, for `infer`.
struct Solution {
  static constexpr auto forward(Input<Dim<"points">, 1> x) { return solution(x); }
};

/// u'' + pi^2 sin(pi x), zero where u solves the equation.
struct Residual {
  static constexpr auto forward(Input<Dim<"points">, 1> x) {
    const auto u = [](auto point) { return solution(point); };
    const auto slope = [u](auto point) { return jvp(u, point, ones_like(point)).second; };
    const auto curvature = jvp(slope, x, ones_like(x)).second; // each u depends on its own x alone
    return curvature + sin(x * std::numbers::pi) * (std::numbers::pi * std::numbers::pi);
  }
};

} // namespace

int main() {
  manual_seed_all(1);
  nn::Network<Residual> residual{};
  auto step = train_step(residual, nn::mse, optim::Adam{{.rate = 0.01}});
  auto schedule = optim::scheduled(step, optim::Cosine{.rate = 0.01, .steps = 2000});
  const auto zero = zeros<float, Shape<64, 1>>();
  for (int i = 0; i < 2000; ++i) {
    const auto x = uniform<float, Shape<64, 1>>(0, 1);
    const auto loss = step(x, zero);
    if (i % 500 == 0) std::printf("step %4d: mean square of the residual %.2e\n", i, static_cast<double>(loss.item()));
    schedule.update();
  }
  nn::Network<Solution> u{};
  nn::load_state_dict(u, nn::state_dict(residual)); // the same weights
  const auto x = linspace(0.0F, 1.0F, 101).reshape<Shape<dyn, 1>>();
  const Tensor error = max(abs(u.infer(x) - sin(x * std::numbers::pi_v<float>)));
  const double largest = static_cast<double>(error.item());
  std::printf("largest error: %.6f\n", largest);
  return largest < 1e-4 ? 0 : 1;
}
