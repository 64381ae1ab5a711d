// SPDX-License-Identifier: Apache-2.0
//
// Normalisation layers with weights against plain loops, over axes, groups and halves.

#include "tests/training/models.hpp"

#include <twill/nn/norm_layers.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

struct LastTwo {
  static constexpr auto forward(Input<Dim<"batch">, 3, 7> x) { return nn::layer_norm(x, "norm", {.axes = 2}); }
};
struct WithoutBias {
  static constexpr auto forward(Input<Dim<"batch">, 7> x) {
    return nn::layer_norm(x, "norm", {.epsilon = 0.5, .bias = false});
  }
};
struct Root {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) { return nn::rms_norm(x, "norm"); }
};
struct Groups {
  static constexpr auto forward(Input<Dim<"batch">, 6, Dim<"length">> x) { return nn::group_norm(x, 3, "norm"); }
};

using Values = std::vector<double>;

/// (x - mean) / sqrt(variance + epsilon) of each run of so many elements.
Values normalised(const Values& x, std::size_t run, double epsilon) {
  Values y(x.size());
  for (std::size_t start = 0; start < x.size(); start += run) {
    double mean = 0, variance = 0;
    for (std::size_t i = start; i < start + run; ++i) mean += x[i] / static_cast<double>(run);
    for (std::size_t i = start; i < start + run; ++i)
      variance += (x[i] - mean) * (x[i] - mean) / static_cast<double>(run);
    for (std::size_t i = start; i < start + run; ++i) y[i] = (x[i] - mean) / std::sqrt(variance + epsilon);
  }
  return y;
}

/// Runs a model with random weights; `weighted(y, w, weight, bias)` is the reference after normalisation.
template <class Model, class X>
void check(const X& x, const Values& plain, const std::function<std::size_t(std::size_t)>& weight_of) {
  nn::Network<Model, Cpu, double> model{};
  const auto views = model.parameters();
  std::vector<Values> weights{};
  for (std::size_t i = 0; i < views.size(); ++i) {
    const auto count = static_cast<std::size_t>(views[i].shape.elements());
    for (const double value :
         Values(static_cast<double*>(views[i].buffer.data()), static_cast<double*>(views[i].buffer.data()) + count))
      CHECK(value == (views[i].name == "norm.weight" ? 1 : 0));
    weights.push_back(random_values<double>(static_cast<std::int64_t>(count), i));
    std::copy(weights.back().begin(), weights.back().end(), static_cast<double*>(views[i].buffer.data()));
  }
  const Values y = to_vector(model.forward(x).value());
  REQUIRE(y.size() == plain.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t k = weight_of(i);
    const double expected = plain[i] * weights[0][k] + (weights.size() > 1 ? weights[1][k] : 0);
    REQUIRE(y[i] == Approx(expected).epsilon(1e-10).margin(1e-12));
  }
}

} // namespace

TEST_CASE("layer norm normalises the last axes and scales them", "[nn][TRAIN-2]") {
  for (const std::int64_t batch : {0, 1, 5}) {
    const auto x = from_values<Shape<dyn, 3, 7>>(random_values<double>(batch * 21), Dims(batch, 3, 7), Cpu{});
    check<LastTwo>(x, normalised(to_vector(x), 21, 1e-5), [](std::size_t i) { return i % 21; });
    const auto rows = random_rows<double, 7>(Cpu{}, batch, 9);
    check<WithoutBias>(rows, normalised(to_vector(rows), 7, 0.5), [](std::size_t i) { return i % 7; });
  }
}

TEST_CASE("layer norm of equal elements is zero", "[nn][TRAIN-2]") {
  nn::Network<LastTwo, Cpu, float> model{};
  for (const float value : {0.1F, -3.3F, 777.7F, 1e6F}) {
    CAPTURE(value);
    for (const float y : to_vector(model.forward(full<float, Shape<2, 3, 7>>(value)).value())) CHECK(y == 0);
  }
}

TEST_CASE("rms norm divides by the root of the mean square", "[nn][TRAIN-2]") {
  const auto x = random_rows<double, 5>(Cpu{}, 11);
  Values expected = to_vector(x);
  for (std::size_t start = 0; start < expected.size(); start += 5) {
    double square = 0;
    for (std::size_t i = start; i < start + 5; ++i) square += expected[i] * expected[i] / 5;
    for (std::size_t i = start; i < start + 5; ++i) expected[i] /= std::sqrt(square + 1e-6);
  }
  check<Root>(x, expected, [](std::size_t i) { return i % 5; });
}

TEST_CASE("group norm normalises groups of channels and scales channels", "[nn][TRAIN-2]") {
  for (const std::int64_t length : {1, 4}) {
    const auto x = from_values<Shape<dyn, 6, dyn>>(random_values<double>(3 * 6 * length), Dims(3, 6, length), Cpu{});
    const auto inner = static_cast<std::size_t>(length);
    check<Groups>(x, normalised(to_vector(x), 2 * inner, 1e-5), [inner](std::size_t i) { return i / inner % 6; });
  }
}
