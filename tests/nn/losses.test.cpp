// SPDX-License-Identifier: Apache-2.0
//
// Every loss and its gradient beside PyTorch's, and what a label that is no class and an empty batch give. Derivatives against
// finite differences are in tests/compile/gradients_of_losses.test.cpp.

#include "tests/support/golden.hpp"

#include <twill/compile/function.hpp>
#include <twill/nn/losses.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/create.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

template <class S> Tensor<double, Cpu, S> read(const char* name) {
  return from_values<S>(golden(name).values, S::dims(), Cpu{0});
}

using Matrix = Shape<7, 5>;

/// The losses of tests/golden/scripts/losses.py, in its order, on (x, y, labels, weight).
struct Table {
  template <int K>
  static constexpr graph::Value at(graph::Value x, graph::Value y, graph::Value labels, graph::Value weight) {
    const graph::Value p = graph::sigmoid(y);
    if constexpr (K == 0) return nn::cross_entropy(x, graph::maximum(labels, 0));
    if constexpr (K == 1) return nn::cross_entropy(x, labels, {.ignore_index = -100});
    if constexpr (K == 2) return nn::cross_entropy(x, labels, {.ignore_index = -100, .weight = weight});
    if constexpr (K == 3) return nn::cross_entropy(x, graph::maximum(labels, 0), {.label_smoothing = 0.1});
    const nn::CrossEntropyOptions smoothed{.label_smoothing = 0.3, .ignore_index = -100, .weight = weight};
    if constexpr (K == 4) return nn::cross_entropy(x, labels, smoothed);
    nn::CrossEntropyOptions summed = smoothed;
    summed.reduce = nn::Reduce::sum;
    if constexpr (K == 5) return nn::cross_entropy(x, labels, summed);
    if constexpr (K == 6) return nn::nll(graph::log_softmax(x), labels, {.ignore_index = -100, .weight = weight});
    if constexpr (K == 7) return nn::mse(x, y);
    if constexpr (K == 8) return nn::l1(x, y, {.reduce = nn::Reduce::sum});
    if constexpr (K == 9) return nn::smooth_l1(x, y, {.beta = 0.6});
    if constexpr (K == 10) return nn::huber(x, y, {.delta = 0.6});
    if constexpr (K == 11) return nn::bce_with_logits(x, p);
    if constexpr (K == 12) return nn::bce_with_logits(x, p, {.pos_weight = weight, .weight = graph::abs(y)});
    if constexpr (K == 13) return nn::bce(graph::sigmoid(x), p);
    if constexpr (K == 14) return nn::kl_divergence(graph::log_softmax(x), p);
    if constexpr (K == 15)
      return nn::kl_divergence(graph::log_softmax(x), graph::log(p),
                               {.log_target = true, .reduce = nn::KlReduce::batch_mean});
    if constexpr (K == 16) return nn::cross_entropy(x, graph::softmax(y), {.label_smoothing = 0.3, .weight = weight});
    nn::CrossEntropyOptions of_rows{.label_smoothing = 0.2, .weight = weight};
    of_rows.reduce = nn::Reduce::none;
    if constexpr (K == 17) return graph::sum(nn::cross_entropy(x, graph::softmax(y), of_rows) * graph::select(y, 1, 0));
    if constexpr (K == 18) return nn::nll(graph::log_softmax(x), graph::softmax(y), {.weight = weight});
    if constexpr (K == 19)
      return nn::nll(graph::log_softmax(x), graph::softmax(y), {.axis = 1, .reduce = nn::Reduce::sum});
  }
};
constexpr int table_size = 20;

/// All losses, then their gradients by x.
struct LossesAndGradients {
  constexpr auto operator()(graph::Value x, graph::Value y, graph::Value labels, graph::Value weight) const {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      const std::array<graph::Value, table_size> losses{Table::at<int(K)>(x, y, labels, weight)...};
      return std::array<graph::Value, 2 * table_size>{losses[K]..., graph::gradient(losses[K], x)...};
    }
    (std::make_index_sequence<table_size>{});
  }
};

} // namespace

TEST_CASE("losses and their gradients are PyTorch's", "[nn][TRAIN-3]") {
  const auto labels = golden("losses/labels").values;
  const auto results = compiled(LossesAndGradients{})(
      read<Matrix>("losses/x"), read<Matrix>("losses/y"),
      from_values<Shape<7>>(std::vector<std::int64_t>(labels.begin(), labels.end()), Dims(7), Cpu{0}),
      read<Shape<5>>("losses/weight"));
  const auto values = golden("losses/values").values;
  const auto gradients = golden("losses/gradients").values;
  REQUIRE(values.size() == table_size);
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    const auto check = [&](std::size_t k, double value, const std::vector<double>& gradient) {
      INFO("loss " << k);
      CHECK(value == Approx(values[k]).epsilon(1e-12));
      REQUIRE(gradient.size() == 35);
      for (std::size_t i = 0; i < 35; ++i) CHECK(gradient[i] == Approx(gradients[35 * k + i]).margin(1e-13));
    };
    (check(K, std::get<K>(results).item(), to_vector(std::get<table_size + K>(results))), ...);
  }
  (std::make_index_sequence<table_size>{});
}

TEST_CASE("a label that is no class is refused; a computed one makes the loss infinite and has no gradient", "[nn]") {
  const auto x = from_values<Shape<3, 2>>(std::vector<float>{1, 2, 3, 4, 5, 6}, Dims(3, 2), Cpu{0});
  constexpr auto of_computed = [](auto logits, auto labels) {
    return nn::cross_entropy(logits, graph::minimum(labels, 5000));
  };
  for (const std::int64_t wrong : {-1, 2, 1000}) {
    const auto labels = from_values<Shape<3>>(std::vector<std::int64_t>{1, wrong, 0}, Dims(3), Cpu{0});
    const auto [loss, gradient] = value_and_grad(of_computed)(x, labels);
    CHECK(std::isinf(loss.item()));
    const auto row = to_vector(gradient);
    CHECK(row[0] == Approx(1 / (1 + std::exp(1.0)) / 3));
    CHECK(row[2] == 0);
    CHECK(row[3] == 0);
    CHECK_THROWS_WITH(value_and_grad(nn::cross_entropy)(x, labels),
                      Catch::Contains("a label has to be between 0 and 1") &&
                          Catch::Contains("element 1 of argument 2 is " + std::to_string(wrong)));
    CHECK_THROWS_AS(compiled(nn::nll)(x, labels), IndexError);
  }
  constexpr auto leaving_out = nn::loss([](auto a, auto b) { return nn::cross_entropy(a, b, {.ignore_index = -100}); });
  const auto some = from_values<Shape<3>>(std::vector<std::int64_t>{1, -100, 0}, Dims(3), Cpu{0});
  CHECK(std::isfinite(compiled(leaving_out)(x, some).item()));
  const auto none = from_values<Shape<3>>(std::vector<std::int64_t>{1, -99, 0}, Dims(3), Cpu{0});
  CHECK_THROWS_WITH(compiled(leaving_out)(x, none), Catch::Contains("or be -100") && Catch::Contains("is -99"));
}

TEST_CASE("means over an empty batch are NaN, sums are zero", "[nn]") {
  const Tensor<float, Cpu, Shape<dyn, 4>> x(Cpu{0}, Dims(0, 4));
  const Tensor<std::int64_t, Cpu, Shape<dyn>> labels(Cpu{0}, Dims(0));
  CHECK(std::isnan(compiled(nn::cross_entropy)(x, labels).item()));
  CHECK(std::isnan(compiled(nn::mse)(x, x).item()));
  constexpr auto total = nn::loss([](auto a, auto b) { return nn::mse(a, b, {.reduce = nn::Reduce::sum}); });
  CHECK(compiled(total)(x, x).item() == 0);
}

TEST_CASE("losses of half precision are computed in float32", "[nn][TRAIN-6]") {
  const std::vector<half> wide{half{300.0f}, half{-300.0f}};
  const auto x = from_values<Shape<2>>(wide, Dims(2), Cpu{0});
  const auto loss = compiled(nn::mse)(x, zeros<half, Shape<2>>(Cpu{0}));
  static_assert(std::is_same_v<decltype(loss.item()), float>);
  CHECK(loss.item() == 90000);
}
