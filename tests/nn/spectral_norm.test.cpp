// SPDX-License-Identifier: Apache-2.0
//
// Spectral norm beside PyTorch's over three passes, and that repeated passes find the largest singular value.

#include "tests/support/golden.hpp"

#include <twill/nn/network.hpp>
#include <twill/nn/spectral_norm.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/create.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

struct Normed {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
    return nn::linear(x, nn::spectral_norm(x.graph(), "weight", {5, 4}, nn::initialise::fan_in_uniform(4)));
  }
};

template <class X> void set(const X& tensor, const std::vector<double>& values) {
  REQUIRE(static_cast<std::size_t>(tensor.elements()) == values.size());
  copy_bytes(Cpu{0}, tensor.data(), Cpu{0}, values.data(), values.size() * sizeof(double), CopyOptions{});
}

void check(const std::vector<double>& got, const double* expected) {
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).margin(1e-13));
}

} // namespace

TEST_CASE("spectral norm is PyTorch's", "[nn][TRAIN-2]") {
  nn::Network<Normed, Cpu, double> model{Cpu{0}};
  set(model.parameter<"weight_orig">(), golden("spectral_norm/weight").values);
  set(model.parameter<"weight_u">(), golden("spectral_norm/u").values);
  const auto x = from_values<Shape<3, 4>>(golden("spectral_norm/x").values, Dims(3, 4), Cpu{0});
  const std::vector<double> outputs = golden("spectral_norm/outputs").values;
  for (std::size_t step = 0; step < 3; ++step) {
    const auto y = model.forward(x);
    check(to_vector(y.value()), outputs.data() + 15 * step);
    if (step < 2) continue;
    auto gradient = y.value().clone(); // of the sum of squares: 2 y
    const std::vector<double> values = to_vector(y.value());
    std::vector<double> twice{};
    for (const double value : values) twice.push_back(2 * value);
    set(gradient, twice);
    y.backward_from(gradient);
  }
  check(to_vector(model.gradient<"weight_orig">()), golden("spectral_norm/gradient").values.data());
  const std::vector<double> u = to_vector(model.parameter<"weight_u">());
  check(u, golden("spectral_norm/later_u").values.data());
  model.eval();
  check(to_vector(model.forward(x).value()), outputs.data() + 45);
  check(to_vector(model.infer(x)), outputs.data() + 45);
  CHECK(to_vector(model.parameter<"weight_u">()) == u); // evaluation improves nothing
}

TEST_CASE("passes in training find the largest singular value", "[nn][TRAIN-2]") {
  nn::Network<Normed, Cpu, double> model{Cpu{0}};
  std::vector<double> weight(20, 0);
  for (std::size_t i = 0; i < 4; ++i) weight[i * 4 + i] = 1 + double(i); // singular values 1 to 4
  set(model.parameter<"weight_orig">(), weight);
  auto x = Tensor<double, Cpu, Shape<1, 4>>(Cpu{0}, Dims(1, 4));
  x.fill(1);
  for (int i = 0; i < 60; ++i) static_cast<void>(model.forward(x));
  const std::vector<double> y = to_vector(model.infer(x));
  for (std::size_t i = 0; i < 4; ++i) CHECK(y[i] == Approx(weight[i * 4 + i] / 4));
}
