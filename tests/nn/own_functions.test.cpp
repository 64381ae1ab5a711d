// SPDX-License-Identifier: Apache-2.0
//
// Elementwise functions of one's own, as docs/how_to_add_an_operation.md adds them: a composition that serves tensors and
// models alike and fuses by itself, and one whose gradient is not that of its formula.

#include <catch2/catch.hpp>
#include <twill/compile.hpp>
#include <twill/expr.hpp>
#include <twill/graph.hpp>
#include <twill/nn.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace {

using namespace twill;

// region: composition
/// x tanh(log(1 + e^x)) (Misra, 2019), of tensors and of values in models.
constexpr auto mish(const auto& x) { return x * tanh(log1p(exp(x))); }
// end region

// region: own_gradient
/// Gradients go through as if nothing had been rounded (Bengio et al., 2013).
constexpr void rounded_vjp(graph::Graph&, int, const graph::Cotangents& cotangents, graph::InputGradients& gradients) {
  gradients.ids[1] = cotangents[0]; // input 0 is the value itself, operands follow
}
inline constexpr graph::Operation rounded_rule{.name = "rounded", .vjp = &rounded_vjp};

/// x to the nearest integer, with the gradient of x.
constexpr graph::Value rounded(graph::Value x) { return graph::with_rule(round(x), rounded_rule, {x}); }
// end region

double mish_of(double x) { return x * std::tanh(std::log1p(std::exp(x))); }

TEST_CASE("a function of one's own is one kernel, of tensors and in models, with the gradient of its formula",
          "[nn][LIB-3][TRAIN-1]") {
  manual_seed_all(11);
  const auto x = uniform<double, Shape<13>>(-2, 2, Cpu{0});
  static_assert(plan<decltype(mish(x))>().kernels == 1);
  const Tensor of_tensors = mish(x);
  const std::vector<double> at = to_vector(x);
  const std::vector<double> values = to_vector(of_tensors);
  const auto sums = grad([](graph::Value v) { return graph::sum(mish(v)); })(x);
  const std::vector<double> slopes = to_vector(sums);
  for (std::size_t i = 0; i < at.size(); ++i) {
    CHECK(values[i] == Approx(mish_of(at[i])));
    CHECK(slopes[i] == Approx((mish_of(at[i] + 1e-6) - mish_of(at[i] - 1e-6)) / 2e-6).epsilon(1e-5));
  }
}

TEST_CASE("a function's gradient can be a rule of one's own", "[nn][TRAIN-1]") {
  manual_seed_all(12);
  const auto x = uniform<double, Shape<7>>(-3, 3, Cpu{0});
  constexpr auto loss = [](graph::Value v) {
    const graph::Value y = rounded(v);
    return graph::sum(y * y);
  };
  const std::vector<double> at = to_vector(x);
  const std::vector<double> slopes = to_vector(grad(loss)(x));
  for (std::size_t i = 0; i < at.size(); ++i) CHECK(slopes[i] == 2 * std::nearbyint(at[i]));
}

} // namespace
