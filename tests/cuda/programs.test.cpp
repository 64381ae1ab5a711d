// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch.hpp>

#include <tests/cuda/programs.hpp>
#include <tests/support/skip.hpp>

#include <cmath>
#include <random>
#include <vector>

namespace {

std::vector<float> random_values(int count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> draw(-2.0F, 2.0F);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = draw(engine);
  return values;
}

/// mean(square(tanh(x * w) + w)) for x of 5 rows by 7, and its gradient by w, spelled out.
std::vector<double> reference(const std::vector<float>& x, const std::vector<float>& w) {
  double value = 0;
  std::vector<double> by_w(7);
  for (std::size_t i = 0; i < 35; ++i) {
    const double weight = w[i % 7];
    const double t = std::tanh(x[i] * weight);
    value += (t + weight) * (t + weight) / 35;
    by_w[i % 7] += 2 * (t + weight) * ((1 - t * t) * x[i] + 1) / 35;
  }
  by_w.insert(by_w.begin(), value);
  return by_w;
}

} // namespace

TEST_CASE("nvcc compiles host code of a named model, a lambda and a function-local model", "[cuda]") {
  const std::vector<float> x = random_values(35, 1);
  const std::vector<float> w = random_values(7, 2);
  const std::vector<double> expected = reference(x, w);
  for (const Spelling spelling : {Spelling::named, Spelling::lambda, Spelling::local}) {
    const std::vector<float> values = value_and_gradients_on_host(spelling, x, w);
    REQUIRE(values.size() == 1 + 35 + 7);
    CHECK(values[0] == Approx(expected[0]).epsilon(1e-5));
    for (std::size_t i = 0; i < 7; ++i) CHECK(values[36 + i] == Approx(expected[1 + i]).epsilon(1e-4).margin(1e-6));
  }
}

TEST_CASE("the three spellings of a model have the same programs, each also a kernel", "[cuda]") {
  CHECK(kernels_of_model(Spelling::named) >= 2);
  CHECK(kernels_of_model(Spelling::lambda) == kernels_of_model(Spelling::named));
  CHECK(kernels_of_model(Spelling::local) == kernels_of_model(Spelling::named));
}

TEST_CASE("each kind of program computes what it says when nvcc compiles it for the host", "[cuda]") {
  const std::vector<float> x = random_values(35, 3);
  const std::vector<float> scaled = run_on_host(Kind::elementwise, x);
  const std::vector<float> softmax = run_on_host(Kind::row, x);
  const std::vector<float> sums = run_on_host(Kind::column, x);
  REQUIRE(sums.size() == 7);
  for (std::size_t column = 0; column < 7; ++column) {
    double sum = 0;
    for (std::size_t row = 0; row < 5; ++row) sum += x[row * 7 + column];
    CHECK(sums[column] == Approx(sum).margin(1e-5));
  }
  for (std::size_t row = 0; row < 5; ++row) {
    double total = 0;
    for (std::size_t column = 0; column < 7; ++column) total += std::exp(double{x[row * 7 + column]});
    for (std::size_t i = row * 7; i < row * 7 + 7; ++i) {
      CHECK(softmax[i] == Approx(std::exp(double{x[i]}) / total).margin(1e-6));
      CHECK(scaled[i] == Approx(2 * std::tanh(double{x[i]})).margin(1e-5));
    }
  }
}

TEST_CASE("a GPU computes what the host computes", "[cuda]") {
  if (!has_gpu()) return twill::test::skip("no GPU");
  const std::vector<float> x = random_values(35, 4);
  for (const Kind kind : {Kind::elementwise, Kind::row, Kind::column}) {
    const std::vector<float> host = run_on_host(kind, x);
    const std::vector<float> gpu = run_on_gpu(kind, x);
    REQUIRE(gpu.size() == host.size());
    for (std::size_t i = 0; i < host.size(); ++i) CHECK(gpu[i] == Approx(host[i]).margin(1e-5));
  }
}
