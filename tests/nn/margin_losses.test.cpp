// SPDX-License-Identifier: Apache-2.0
//
// Margin losses, likelihoods and the focal loss with their gradients, in all reductions, beside PyTorch's.

#include "tests/support/golden.hpp"

#include <twill/compile/function.hpp>
#include <twill/nn/losses/likelihood.hpp>
#include <twill/nn/losses/margin.hpp>
#include <twill/ops/slice.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/create.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::Value;

namespace {

template <class S> Tensor<double, Cpu, S> read(const char* name) {
  return from_values<S>(golden(name).values, S::dims(), Cpu{0});
}

/// The losses of tests/golden/scripts/margins.py, in its order.
struct Table {
  template <int K> static constexpr Value at(Value x, Value y, Value z, Value labels, Value weight) {
    using nn::Reduce;
    const Value signs = graph::where(y > 0, 1.0, -1.0);
    const Value row_signs = graph::select(signs, 1, 0);
    const Value p = graph::sigmoid(y), counts = graph::floor(graph::abs(y) * 3.0), variance = graph::abs(z);
    if constexpr (K == 0) return nn::hinge_embedding(x, signs);
    if constexpr (K == 1) return nn::hinge_embedding(x, signs, {.margin = 0.4, .reduce = Reduce::sum});
    if constexpr (K == 2) return nn::margin_ranking(x, y, graph::sign(z));
    if constexpr (K == 3) return nn::margin_ranking(x, y, graph::sign(z), {.margin = 0.6, .reduce = Reduce::sum});
    if constexpr (K == 4) return nn::cosine_embedding(x, y, row_signs);
    if constexpr (K == 5) return nn::cosine_embedding(x, y, row_signs, {.margin = -0.3, .reduce = Reduce::sum});
    if constexpr (K == 6) return nn::triplet_margin(x, y, z);
    if constexpr (K == 7)
      return nn::triplet_margin(x, y, z, {.margin = 2, .order = 1, .swap = true, .reduce = Reduce::sum});
    if constexpr (K == 8) return nn::triplet_margin(x, y, z, {.order = 3.5});
    if constexpr (K == 9) return nn::multi_margin(x, labels);
    if constexpr (K == 10)
      return nn::multi_margin(x, labels, {.margin = 0.7, .power = 2, .weight = weight, .reduce = Reduce::sum});
    if constexpr (K == 11) return nn::soft_margin(x, signs);
    if constexpr (K == 12) return nn::multilabel_soft_margin(x, p);
    if constexpr (K == 13) return nn::multilabel_soft_margin(x, p, {.weight = weight, .reduce = Reduce::sum});
    if constexpr (K == 14) return nn::poisson_nll(x, counts);
    if constexpr (K == 15) return nn::poisson_nll(x, counts, {.is_full = true, .reduce = Reduce::sum});
    if constexpr (K == 16) return nn::poisson_nll(graph::sigmoid(x), counts, {.log_input = false});
    if constexpr (K == 17) return nn::gaussian_nll(x, y, variance);
    if constexpr (K == 18)
      return nn::gaussian_nll(y, z, graph::relu(x), {.is_full = true, .epsilon = 0.3, .reduce = Reduce::sum});
    if constexpr (K == 19) return nn::gaussian_nll(x, y, graph::select(variance, 1, 0), {.reduce = Reduce::sum});
    if constexpr (K == 20) return nn::focal(x, p);
    if constexpr (K == 21) return nn::focal(x, p, {.alpha = -1, .gamma = 1.5, .reduce = Reduce::sum});
    if constexpr (K == 22) return graph::sum(nn::triplet_margin(x, y, z, {.reduce = Reduce::none}) * row_signs);
    if constexpr (K == 23) return graph::sum(nn::multi_margin(x, labels, {.reduce = Reduce::none}) * row_signs);
    if constexpr (K == 24) return graph::sum(nn::multilabel_soft_margin(x, p, {.reduce = Reduce::none}) * row_signs);
    if constexpr (K == 25) return graph::sum(nn::hinge_embedding(x, signs, {.reduce = Reduce::none}) * z);
    if constexpr (K == 26) return graph::sum(nn::margin_ranking(x, y, graph::sign(z), {.reduce = Reduce::none}) * z);
    if constexpr (K == 27)
      return graph::sum(nn::cosine_embedding(x, y, row_signs, {.reduce = Reduce::none}) * graph::select(z, 1, 0));
    if constexpr (K == 28) return graph::sum(nn::soft_margin(x, signs, {.reduce = Reduce::none}) * z);
    if constexpr (K == 29) return graph::sum(nn::poisson_nll(x, counts, {.is_full = true, .reduce = Reduce::none}) * y);
    if constexpr (K == 30) return graph::sum(nn::gaussian_nll(x, y, variance, {.reduce = Reduce::none}) * y);
    if constexpr (K == 31) return graph::sum(nn::focal(x, p, {.reduce = Reduce::none}) * z);
    const Value place = graph::iota(x.graph(), x.shape());
    const Value several = graph::where(place % 5 < 3, place % 7 % 5, -1);
    if constexpr (K == 32) return nn::multilabel_margin(x, several);
    if constexpr (K == 33) return nn::multilabel_margin(x, several, {.reduce = Reduce::sum});
    if constexpr (K == 34) return graph::sum(nn::multilabel_margin(x, several, {.reduce = Reduce::none}) * row_signs);
  }
};
constexpr int table_size = 35;

/// Losses from number `First` on, then their gradients by x.
template <int First, int Count> struct LossesAndGradients {
  constexpr auto operator()(Value x, Value y, Value z, Value labels, Value weight) const {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      const std::array<Value, Count> losses{Table::at<First + int(K)>(x, y, z, labels, weight)...};
      return std::array<Value, 2 * Count>{losses[K]..., graph::gradient(losses[K], x)...};
    }
    (std::make_index_sequence<Count>{});
  }
};

template <int First, int Count> void check() {
  using Matrix = Shape<7, 5>;
  const auto labels = golden("margins/labels").values;
  const auto results = compiled(LossesAndGradients<First, Count>{})(
      read<Matrix>("margins/x"), read<Matrix>("margins/y"), read<Matrix>("margins/z"),
      from_values<Shape<7>>(std::vector<std::int64_t>(labels.begin(), labels.end()), Dims(7), Cpu{0}),
      read<Shape<5>>("margins/weight"));
  const auto values = golden("margins/values").values;
  const auto gradients = golden("margins/gradients").values;
  REQUIRE(values.size() == table_size);
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    const auto check_one = [&](std::size_t k, double value, const std::vector<double>& gradient) {
      INFO("loss " << k);
      CHECK(value == Approx(values[k]).epsilon(1e-12));
      REQUIRE(gradient.size() == 35);
      for (std::size_t i = 0; i < 35; ++i) CHECK(gradient[i] == Approx(gradients[35 * k + i]).margin(1e-13));
    };
    (check_one(First + K, std::get<K>(results).item(), to_vector(std::get<Count + K>(results))), ...);
  }
  (std::make_index_sequence<Count>{});
}

/// Gradients by x where one margin of each loss is just reached.
struct GradientsAtMargins {
  constexpr auto operator()(Value x, Value ones, Value across, Value label) const {
    const std::array<Value, 4> losses{nn::hinge_embedding(x, -ones), nn::margin_ranking(x, ones, ones),
                                      nn::multi_margin(x, label), nn::cosine_embedding(x, across, sum(-across, {1}))};
    std::array<Value, 4> gradients{};
    for (std::size_t k = 0; k < 4; ++k) gradients[k] = graph::gradient(losses[k], x);
    return gradients;
  }
};

} // namespace

TEST_CASE("margin losses have no slope where a margin is just reached, as in PyTorch", "[nn][TRAIN-3]") {
  const auto row = [](double a, double b, double c) {
    return from_values<Shape<1, 3>>(std::vector<double>{a, b, c}, Dims(1, 3), Cpu{0});
  };
  const auto label = from_values<Shape<1>>(std::vector<std::int64_t>{0}, Dims(1), Cpu{0});
  const auto gradients = compiled(GradientsAtMargins{})(row(1, 0, 3), row(1, 1, 1), row(0, 1, 0), label);
  CHECK(to_vector(std::get<0>(gradients)) == std::vector<double>{0, -1.0 / 3, 0});
  CHECK(to_vector(std::get<1>(gradients)) == std::vector<double>{0, -1.0 / 3, 0});
  CHECK(to_vector(std::get<2>(gradients)) == std::vector<double>{-1.0 / 3, 0, 1.0 / 3});
  CHECK(to_vector(std::get<3>(gradients)) == std::vector<double>{0, 0, 0});
}

TEST_CASE("margin losses and their gradients are PyTorch's", "[nn][TRAIN-3]") { check<0, 14>(); }

TEST_CASE("likelihoods, the focal loss and losses of each row are PyTorch's", "[nn][TRAIN-3]") { check<14, 12>(); }

TEST_CASE("further losses of each element and the hinge of several labels are PyTorch's", "[nn][TRAIN-3]") {
  check<26, 9>();
}

TEST_CASE("a class exactly at the margin has no slope in losses over classes, as in PyTorch", "[nn][TRAIN-3]") {
  const auto x = from_values<Shape<1, 3>>(std::vector<double>{1, 0, 3}, Dims(1, 3), Cpu{0});
  const auto label = from_values<Shape<1>>(std::vector<std::int64_t>{0}, Dims(1), Cpu{0});
  const auto labels = from_values<Shape<1, 3>>(std::vector<std::int64_t>{0, -1, -1}, Dims(1, 3), Cpu{0});
  const std::vector<double> slopes{-1.0 / 3, 0, 1.0 / 3};
  CHECK(to_vector(grad([](Value v, Value l) { return nn::multi_margin(v, l); })(x, label)) == slopes);
  CHECK(to_vector(grad([](Value v, Value l) { return nn::multilabel_margin(v, l); })(x, labels)) == slopes);
}

TEST_CASE("labels of several classes are refused below -1 and past the last class, computed ones are infinite",
          "[nn]") {
  using Row = Shape<1, 3>;
  const auto loss = compiled([](Value values, Value labels) { return nn::multilabel_margin(values, labels); });
  const auto x = from_values<Row>(std::vector<double>{0.5, -0.25, 1.0}, Row::dims(), Cpu{0});
  const auto of = [&](const std::vector<std::int64_t>& labels) {
    return loss(x, from_values<Row>(labels, Row::dims(), Cpu{0})).item();
  };
  CHECK(of({-1, -1, -1}) == 0);
  CHECK(of({2, -1, 0}) == Approx(0.5 / 3)); // 1 - 1 + 0.5, and nothing below the margin
  CHECK_THROWS_AS(of({3, -1, -1}), IndexError);
  CHECK_THROWS_AS(of({-2, -1, -1}), IndexError);
  const auto computed = compiled([](Value values, Value labels) { return nn::multilabel_margin(values, labels + 1); });
  const auto of_computed = [&](const std::vector<std::int64_t>& labels) {
    return computed(x, from_values<Row>(labels, Row::dims(), Cpu{0})).item();
  };
  CHECK(std::isinf(of_computed({2, -2, -2})));
  CHECK(of_computed({1, -2, 2}) == Approx(0.5 / 3));
}
