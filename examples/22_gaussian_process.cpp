// SPDX-License-Identifier: Apache-2.0
//
// Gaussian process regression: the length scale, the amplitude and the noise of a kernel are trained by the gradient of the
// likelihood, which goes through a Cholesky factor. The process then predicts between the points, with an uncertainty.
//
// prints: the noise is found: yes
// prints: within two deviations: yes

#include <twill/linalg.hpp>
#include <twill/twill.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <tuple>

using namespace twill;
using graph::Value;

namespace {

constexpr double true_noise = 0.1;

// region: likelihood
/// Covariances of the process between all pairs of points; length scale and amplitude are given by their logarithms.
constexpr Value covariances(Value length, Value amplitude, Value a, Value b) {
  const Value distance = (unsqueeze(a, 1) - unsqueeze(b, 0)) * exp(-length);
  return exp(2 * amplitude - 0.5 * distance * distance);
}

/// The Cholesky factor of the covariances of measured values.
constexpr Value factor_of(Value length, Value amplitude, Value noise, Value x) {
  const Value k = covariances(length, amplitude, x, x);
  return linalg::cholesky(k + linalg::identity_like(k) * exp(2 * noise));
}

/// The negative logarithm of the likelihood, without its constant (Rasmussen and Williams, 2006, 2.30).
constexpr auto loss_of = [](Value length, Value amplitude, Value noise, Value x, Value y) {
  const Value l = factor_of(length, amplitude, noise, x);
  const Value whitened = linalg::solve_triangular(l, y);
  return sum(whitened * whitened) / 2 + sum(log(linalg::diagonal_of(l)));
};
// end region

// region: prediction
/// Mean and standard deviation of the process at other points.
constexpr auto predicted = [](Value length, Value amplitude, Value noise, Value x, Value y, Value at) {
  const Value l = factor_of(length, amplitude, noise, x);
  const Value between = linalg::solve_triangular(l, covariances(length, amplitude, x, at));
  const Value mean = sum<0>(between * unsqueeze(linalg::solve_triangular(l, y), 1));
  return std::tuple{mean, sqrt(exp(2 * amplitude) - sum<0>(between * between))};
};
// end region

} // namespace

int main() {
  manual_seed_all(5);
  const Tensor x = rand<double, Shape<60>>() * (2 * std::numbers::pi);
  const Tensor y = sin(x) + randn<double, Shape<60>>() * true_noise;

  // region: training
  Tensor length = zeros<double, Shape<>>();
  Tensor amplitude = zeros<double, Shape<>>();
  Tensor noise = zeros<double, Shape<>>();
  for (int i = 0; i < 300; ++i) {
    const auto slopes = grad(loss_of)(length, amplitude, noise, x, y); // by x and y, too
    out(length) = length - 0.01 * std::get<0>(slopes);
    out(amplitude) = amplitude - 0.01 * std::get<1>(slopes);
    out(noise) = noise - 0.01 * std::get<2>(slopes);
  }
  // end region
  const double found = std::exp(noise.item());
  std::printf("length scale %.2f, amplitude %.2f, noise %.3f\n", std::exp(length.item()), std::exp(amplitude.item()),
              found);

  const Tensor at = linspace(0.5, 5.5, 21);
  const auto [mean, deviation] = compiled(predicted)(length, amplitude, noise, x, y, at);
  const bool is_near = all_of(abs(mean - sin(at)) < 2 * deviation).item();
  std::printf("the noise is found: %s\n", std::abs(found - true_noise) < 0.03 ? "yes" : "no");
  std::printf("within two deviations: %s\n", is_near ? "yes" : "no");
}
