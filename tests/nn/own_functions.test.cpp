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
#include <cstdint>
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
inline constexpr graph::Operation rounded_rule{
    .name = "rounded", .vjp = &rounded_vjp, .batching = graph::Batching::stack};

/// x to the nearest integer, with the gradient of x.
constexpr graph::Value rounded(graph::Value x) { return graph::with_rule(round(x), rounded_rule, {x}); }
// end region

// region: own_loss
/// Cross entropy in which samples count less the better they are known (Lin et al., 2017).
constexpr auto focal_loss = nn::loss([](auto logits, auto label) {
  const auto each = nn::cross_entropy(logits, label, {.reduce = nn::Reduce::none});
  return mean(square(1 - exp(-each)) * each);
});
// end region

struct ThreeClasses {
  static constexpr auto forward(Input<Dim<"batch">, 2> x) { return nn::linear(x, 3, "classes"); }
};

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

TEST_CASE("a loss of one's own has the value of its formula on tensors, and its slope", "[nn][TRAIN-3]") {
  manual_seed_all(13);
  nn::Network<ThreeClasses, Cpu, double> model{Cpu{0}};
  const auto x = uniform<double, Shape<5, 2>>(-2, 2, Cpu{0});
  const Tensor label = from_values<Shape<5>>(std::vector<std::int64_t>{0, 2, 1, 1, 0});
  const auto loss = focal_loss(model.forward(x), label);
  const auto value = [&] {
    const Tensor each = cross_entropy(model.infer(x), label);
    return Tensor{mean(square(1 - exp(-each)) * each)}.item();
  };
  CHECK(loss.item() == Approx(value()));
  loss.backward();
  const double slope = model.gradient<"classes.bias">()(1).item();
  model.parameter<"classes.bias">()(1) += 1e-6;
  const double above = value();
  model.parameter<"classes.bias">()(1) -= 2e-6;
  CHECK(slope == Approx((above - value()) / 2e-6).epsilon(1e-6));
}

} // namespace
