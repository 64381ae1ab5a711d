// SPDX-License-Identifier: Apache-2.0
//
// The statistics of fresh weights, and that a seed gives the same weights everywhere.

#include "tests/support/late_device.hpp"
#include "tests/training/models.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

constexpr std::int64_t rows = 200;
constexpr std::int64_t columns = 300;

/// One weight for each initialiser.
struct Everything {
  static constexpr auto forward(Input<Dim<"batch">, columns> x) {
    using namespace nn::initialise;
    const auto weight = [&](const char* name, nn::Initialiser how) {
      return nn::parameter(x.graph(), name, {rows, columns}, how);
    };
    auto sum = weight("zeros", zeros()) + weight("ones", ones()) + weight("constant", constant(-0.5));
    sum = sum + weight("uniform", uniform(-1, 3)) + weight("normal", normal(2, 0.5));
    sum = sum + weight("fan_in", fan_in_uniform(columns)) + weight("kaiming_uniform", kaiming_uniform());
    sum = sum + weight("kaiming_normal", kaiming_normal()) + weight("xavier_uniform", xavier_uniform());
    sum = sum + weight("xavier_normal", xavier_normal()) + weight("trunc_normal", trunc_normal(1, 2, -1, 2));
    sum = sum + weight("fan_out", kaiming_normal({.fan = Fan::out, .nonlinearity = Nonlinearity::tanh}));
    sum = sum + weight("slope", kaiming_uniform({.slope = 2})) + weight("gain", xavier_normal(3));
    sum = sum + weight("rows", orthogonal(2)) + weight("eye", eye());
    return nn::linear(x, sum);
  }
};

struct Statistics {
  double mean = 0, deviation = 0, least = 0, most = 0;
};

template <class T> Statistics statistics_of(const std::vector<T>& values) {
  Statistics s{0, 0, double(values[0]), double(values[0])};
  for (const T value : values) {
    s.mean += double(value) / double(values.size());
    s.least = std::min(s.least, double(value));
    s.most = std::max(s.most, double(value));
  }
  for (const T value : values)
    s.deviation += (double(value) - s.mean) * (double(value) - s.mean) / double(values.size());
  s.deviation = std::sqrt(s.deviation);
  return s;
}

/// Five standard errors of 60,000 draws of deviation one.
constexpr double error = 0.02;

void check_uniform(const Statistics& s, double low, double high) {
  const double deviation = (high - low) / std::sqrt(12.0);
  CHECK(s.mean == Approx((low + high) / 2).margin(error * deviation));
  CHECK(s.deviation == Approx(deviation).epsilon(error));
  CHECK(s.least >= low);
  CHECK(s.most <= high);
  CHECK(s.least < low + 0.001 * (high - low));
  CHECK(s.most > high - 0.001 * (high - low));
}

void check_normal(const Statistics& s, double mean, double deviation) {
  CHECK(s.mean == Approx(mean).margin(error * deviation));
  CHECK(s.deviation == Approx(deviation).epsilon(error));
  CHECK(s.most > mean + 3.5 * deviation);
  CHECK(s.least < mean - 3.5 * deviation);
}

} // namespace

TEST_CASE("fresh weights have the statistics of their initialisers", "[nn][TRAIN-2]") {
  manual_seed(Cpu{0}, 1);
  nn::Network<Everything> model{Cpu{0}};
  CHECK(statistics_of(to_vector(model.parameter<"zeros">())).most == 0);
  CHECK(statistics_of(to_vector(model.parameter<"ones">())).least == 1);
  CHECK(statistics_of(to_vector(model.parameter<"constant">())).most == -0.5);
  check_uniform(statistics_of(to_vector(model.parameter<"uniform">())), -1, 3);
  check_normal(statistics_of(to_vector(model.parameter<"normal">())), 2, 0.5);
  const double fan_in = columns;
  const double both = columns + rows;
  const auto uniform_of = [](const auto& weight, double bound) {
    check_uniform(statistics_of(to_vector(weight)), -bound, bound);
  };
  uniform_of(model.parameter<"fan_in">(), 1 / std::sqrt(fan_in));
  uniform_of(model.parameter<"kaiming_uniform">(), std::sqrt(6 / fan_in));
  uniform_of(model.parameter<"xavier_uniform">(), std::sqrt(6 / both));
  check_normal(statistics_of(to_vector(model.parameter<"kaiming_normal">())), 0, std::sqrt(2 / fan_in));
  check_normal(statistics_of(to_vector(model.parameter<"xavier_normal">())), 0, std::sqrt(2 / both));
  check_normal(statistics_of(to_vector(model.parameter<"gain">())), 0, 3 * std::sqrt(2 / both));
  check_normal(statistics_of(to_vector(model.parameter<"fan_out">())), 0, 5.0 / 3 / std::sqrt(double(rows)));
  uniform_of(model.parameter<"slope">(), std::sqrt(3 * 2 / 5.0 / fan_in));
}

TEST_CASE("a truncated normal has the mean and deviation of what is left", "[nn][TRAIN-2]") {
  nn::Network<Everything> model{Cpu{0}};
  const Statistics s = statistics_of(to_vector(model.parameter<"trunc_normal">()));
  // Of a normal distribution between a = -1 and b = 1/2 deviations: mean (p(a) - p(b)) / Z, and so on.
  const auto density = [](double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0)); };
  const double z = (std::erf(0.5 / std::sqrt(2.0)) + std::erf(1 / std::sqrt(2.0))) / 2;
  const double mean = (density(-1) - density(0.5)) / z;
  const double variance = 1 + (-1 * density(-1) - 0.5 * density(0.5)) / z - mean * mean;
  CHECK(s.mean == Approx(1 + 2 * mean).margin(error));
  CHECK(s.deviation == Approx(2 * std::sqrt(variance)).epsilon(error));
  CHECK(s.least >= -1);
  CHECK(s.least < -0.99);
  CHECK(s.most <= 2);
  CHECK(s.most > 1.99);
}

/// Weights that more than one index decides.
struct Structured {
  static constexpr auto forward(Input<Dim<"batch">, 2> x) {
    using namespace nn::initialise;
    const auto weight = [&](const char* name, std::initializer_list<std::int64_t> shape, nn::Initialiser how) {
      return sum(nn::parameter(x.graph(), name, shape, how));
    };
    return sum(x) + weight("columns", {7, 3}, orthogonal()) + weight("kernels", {3, 2, 2}, orthogonal()) +
           weight("dirac", {4, 2, 3, 3}, dirac(2)) + weight("own", {3}, layers_own()) +
           sum(nn::linear(x, 5, "layer", {.weight = constant(3), .bias = false}));
  }
};

TEST_CASE("orthogonal weights have rows or columns at right angles, and dirac weights copy channels", "[nn][TRAIN-2]") {
  nn::Network<Everything, Cpu, double> wide{Cpu{0}};
  nn::Network<Structured, Cpu, double> model{Cpu{0}};
  // The product of two rows of a matrix, or two columns.
  const auto check = [](const std::vector<double>& m, std::size_t vectors, std::size_t step, std::size_t length,
                        std::size_t stride, double square) {
    for (std::size_t a = 0; a < vectors; ++a)
      for (std::size_t b = 0; b < vectors; ++b) {
        double dot = 0;
        for (std::size_t i = 0; i < length; ++i) dot += m[a * step + i * stride] * m[b * step + i * stride];
        if (std::fabs(dot - (a == b ? square : 0)) > 1e-12) FAIL("rows " << a << " and " << b << ": " << dot);
      }
  };
  check(to_vector(wide.parameter<"rows">()), rows, columns, columns, 1, 4);
  check(to_vector(model.parameter<"columns">()), 3, 1, 7, 3, 1);
  check(to_vector(model.parameter<"kernels">()), 3, 4, 4, 1, 1);
  const std::vector<double> eye = to_vector(wide.parameter<"eye">());
  for (std::size_t i = 0; i < eye.size(); ++i) REQUIRE(eye[i] == (i / columns == i % columns ? 1 : 0));
  const std::vector<double> dirac = to_vector(model.parameter<"dirac">());
  for (std::size_t i = 0; i < dirac.size(); ++i) {
    const std::size_t out = i / 18, in = i / 9 % 2;
    REQUIRE(dirac[i] == (i % 9 == 4 && out % 2 == in ? 1 : 0));
  }
  CHECK(to_vector(model.parameter<"layer.weight">()) == std::vector<double>(10, 3.0));
}

TEST_CASE("gains are those of PyTorch", "[nn][TRAIN-2]") {
  using namespace nn::initialise;
  STATIC_REQUIRE(gain_of(Nonlinearity::linear) == 1);
  STATIC_REQUIRE(gain_of(Nonlinearity::sigmoid) == 1);
  STATIC_REQUIRE(gain_of(Nonlinearity::selu) == 0.75);
  CHECK(gain_of(Nonlinearity::tanh) == Approx(5.0 / 3));
  CHECK(gain_of(Nonlinearity::leaky_relu, std::sqrt(5.0)) == Approx(1 / std::sqrt(3.0)));
}

TEST_CASE("weights of one network differ, and those of one seed are equal on every device", "[nn][DEV-7]") {
  const auto fresh = [](auto device, std::uint64_t seed) {
    manual_seed(device, seed);
    return weights_of(nn::Network<Classifier, decltype(device)>{device});
  };
  const auto weights = fresh(Cpu{0}, 9);
  CHECK(weights == fresh(Cpu{1}, 9));
  CHECK(weights == fresh(Late{2}, 9));
  CHECK(weights != fresh(Cpu{0}, 10));
  std::vector<float> sorted = weights;
  std::sort(sorted.begin(), sorted.end());
  CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
  manual_seed(Cpu{0}, 9);
  static_cast<void>(nn::Network<Classifier>{Cpu{0}});
  CHECK(weights_of(nn::Network<Classifier>{Cpu{0}}) != weights); // the next one draws on
}

TEST_CASE("weights are float unless told otherwise, and of any floating type", "[nn]") {
  const auto worst = [](auto type) {
    using T = decltype(type);
    manual_seed(Cpu{0}, 4);
    const auto exact = weights_of(nn::Network<Classifier, Cpu, double>{Cpu{0}});
    manual_seed(Cpu{0}, 4);
    const auto rounded = weights_of(nn::Network<Classifier, Cpu, T>{Cpu{0}});
    double largest = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
      largest = std::max(largest, std::fabs(exact[i] - double(static_cast<float>(rounded[i]))));
    return largest;
  };
  CHECK(worst(float{}) < 1e-7);
  CHECK(worst(half{}) < 1e-3);
  CHECK(worst(bfloat16{}) < 1e-2);
}

TEST_CASE("a model lists its weights with names and shapes", "[nn][TRAIN-2]") {
  nn::Network<Classifier> model{Cpu{0}};
  std::vector<std::string> listed{};
  for (const auto& view : model.parameters()) listed.push_back(std::string{view.name} + " " + to_string(view.shape));
  CHECK(listed == std::vector<std::string>{"first.weight (7, 5)", "first.bias (7,)", "second.weight (6, 7)",
                                           "second.bias (6,)", "output.weight (3, 6)", "output.bias (3,)"});
  CHECK(model.parameter<"second.weight">().shape() == Dims(6, 7));
}
