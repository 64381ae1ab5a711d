// SPDX-License-Identifier: Apache-2.0
//
// Embeddings and attention against PyTorch's numbers (tests/golden/scripts/), values and gradients.

#include "tests/support/golden.hpp"
#include "tests/support/numbers.hpp"

#include <twill/compile/function.hpp>
#include <twill/expr.hpp>
#include <twill/nn/attention.hpp>
#include <twill/nn/embedding.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <tuple>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::Value;

namespace {

template <class S> Tensor<double, Cpu, S> golden_tensor(const std::string& name) {
  return from_values<S>(golden(name).values, S::dims(), Cpu{0});
}

void check(const std::vector<double>& got, const std::string& name) {
  const std::vector<double> expected = golden(name).values;
  INFO(name);
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).epsilon(1e-10).margin(1e-12));
}

template <class... Masks> void check_attention(const auto& attend, const std::string& name, const Masks&... masks) {
  const auto q = golden_tensor<Shape<2, 3, 5, 4>>("attention/q");
  const auto k = golden_tensor<Shape<2, 3, 7, 4>>("attention/k");
  const auto v = golden_tensor<Shape<2, 3, 7, 6>>("attention/v");
  const auto g = golden_tensor<Shape<2, 3, 5, 6>>("attention/g");
  check(numbers(compiled(attend)(q, k, v, masks...)), "attention/" + name + "_y");
  constexpr auto loss = [](Value a, Value b, Value c, Value cotangent, auto... mask) {
    return graph::sum(std::remove_cvref_t<decltype(attend)>{}(a, b, c, mask...) * cotangent);
  };
  const auto gradients = grad(loss)(q, k, v, g, masks...);
  check(numbers(std::get<0>(gradients)), "attention/" + name + "_dq");
  check(numbers(std::get<1>(gradients)), "attention/" + name + "_dk");
  check(numbers(std::get<2>(gradients)), "attention/" + name + "_dv");
}

constexpr auto plain = [](Value q, Value k, Value v) { return nn::composed_attention(q, k, v); };
constexpr auto causal = [](Value q, Value k, Value v) { return nn::composed_attention(q, k, v, {.is_causal = true}); };
constexpr auto masked = [](Value q, Value k, Value v, Value mask) {
  return nn::composed_attention(q, k, v, {.mask = mask});
};

struct SelfAttention {
  static constexpr auto forward(Input<Dim<"batch">, 5, 8> x) { return nn::multi_head_attention(x, x, x, 2, "heads"); }
};
struct CrossAttention {
  static constexpr auto forward(Input<Dim<"batch">, 5, 8> x, Input<Dim<"batch">, 4, 8> memory) {
    return nn::multi_head_attention(x, memory, memory, 2, "heads");
  }
};
constexpr auto sum_of_squares = [](Value y) { return graph::sum(graph::square(y)); };

template <class Model, class... Inputs> void check_heads(const std::string& name, const Inputs&... inputs) {
  nn::Network<Model, Cpu, double> model{Cpu{0}};
  for (auto& view : model.parameters()) {
    std::string key{view.name};
    key.replace(0, 6, "attention/heads_"); // "heads."
    const std::vector<double> values = golden(key).values;
    REQUIRE(static_cast<std::int64_t>(values.size()) == view.shape.elements());
    std::copy(values.begin(), values.end(), static_cast<double*>(view.buffer.data()));
  }
  auto y = model.forward(inputs...);
  check(numbers(y.value()), "attention/heads_" + name + "_y");
  nn::apply(sum_of_squares, y).backward();
  for (auto& view : model.parameters()) {
    const auto* data = static_cast<const double*>(view.gradient.data());
    check({data, data + view.shape.elements()},
          "attention/heads_" + name + "_grad_" + std::string{view.name}.substr(6));
  }
}

template <class Model> std::vector<double> weight_of(const nn::Network<Model, Cpu, double>& model) {
  return numbers(model.template parameter<"table.weight">());
}

} // namespace

TEST_CASE("composed attention and its gradients are PyTorch's", "[nn][TRAIN-1]") {
  check_attention(plain, "plain");
  check_attention(causal, "causal");
  check_attention(masked, "keep", eval(golden_tensor<Shape<5, 7>>("attention/keep") > 0.5));
  check_attention(masked, "bias", golden_tensor<Shape<2, 1, 5, 7>>("attention/bias"));
}

TEST_CASE("multi-head attention, its names and gradients are PyTorch's", "[nn][TRAIN-2]") {
  const auto x = golden_tensor<Shape<3, 5, 8>>("attention/x");
  check_heads<SelfAttention>("self", x);
  check_heads<CrossAttention>("cross", x, golden_tensor<Shape<3, 4, 8>>("attention/memory"));
}

TEST_CASE("embedding and its gradient are PyTorch's", "[nn][TRAIN-1]") {
  const auto weight = golden_tensor<Shape<11, 5>>("embedding/weight");
  const auto g = golden_tensor<Shape<2, 4, 5>>("embedding/g");
  std::vector<std::int64_t> places{};
  for (double place : golden("embedding/index").values) places.push_back(static_cast<std::int64_t>(place));
  const auto index = from_values<Shape<2, 4>>(places, Dims(2, 4), Cpu{0});
  constexpr auto rows = [](Value w, Value i) { return nn::embedding(i, w); };
  constexpr auto padded = [](Value w, Value i) { return nn::embedding(i, w, {.padding = 3}); };
  check(numbers(compiled(rows)(weight, index)), "embedding/plain_rows");
  check(numbers(compiled(padded)(weight, index)), "embedding/padded_rows");
  const auto gradient_of = [&](const auto& f) {
    return numbers(std::get<0>(grad([](Value w, Value i, Value c) {
      return graph::sum(std::remove_cvref_t<decltype(f)>{}(w, i) * c);
    })(weight, index, g)));
  };
  check(gradient_of(rows), "embedding/plain_gradient");
  check(gradient_of(padded), "embedding/padded_gradient");
}

TEST_CASE("an embedding starts from the normal distribution, its padding row from zeros", "[nn][TRAIN-2]") {
  struct Table {
    static constexpr auto forward(InputOf<std::int32_t, Dim<"batch">> index) {
      return nn::embedding(index, 300, 50, "table", {.padding = 7});
    }
  };
  manual_seed(Cpu{0}, 3);
  const nn::Network<Table, Cpu, double> model{Cpu{0}};
  const std::vector<double> weight = weight_of(model);
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (i / 50 == 7) CHECK(weight[i] == 0);
    sum += weight[i];
    squares += weight[i] * weight[i];
  }
  const double count = 299 * 50;
  CHECK(std::abs(sum / count) < 0.05);
  CHECK(squares / count == Approx(1).epsilon(0.05));
}
