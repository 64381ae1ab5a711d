// SPDX-License-Identifier: Apache-2.0
//
// Extents that the compiler does not know meet others that it knows, or does not know either.

#include <twill/compile/function.hpp>
#include <twill/compile/plan/arenas.hpp>
#include <twill/device/meta/meta.hpp>
#include <twill/expr.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>

using namespace twill;

namespace {

struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, 3> x) { return nn::linear(x, 2, "only"); }
};

template <class F> std::string message_of(F f) {
  try {
    f();
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "no error";
}

} // namespace

TEST_CASE("an unknown extent that meets a known one has to be that number", "[compile]") {
  const auto energy = [](auto x, auto w) { return sum(square(x * w)); };
  const auto w = full<double, Shape<4>>(2.0);
  const auto fits = full<double, Shape<dyn>>(Dims(4), 0.5);
  const auto [value, by_x, by_w] = value_and_grad(energy)(fits, w);
  REQUIRE(value.item() == 4.0);
  REQUIRE(by_w(3).item() == 1.0);
  const auto longer = full<double, Shape<dyn>>(Dims(5), 0.5);
  const std::string message = message_of([&] { static_cast<void>(value_and_grad(energy)(longer, w)); });
  REQUIRE(message.find("4") != std::string::npos);
  REQUIRE(message.find("5") != std::string::npos);
}

TEST_CASE("labels of a static batch train a model whose batch has a name", "[compile][TRAIN-4]") {
  manual_seed_all(5);
  nn::Network<Classifier, Cpu> fixed{Cpu{0}};
  manual_seed_all(5);
  nn::Network<Classifier, Cpu> free{Cpu{0}};
  auto fixed_step = train_step(fixed, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  auto free_step = train_step(free, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  const auto x = rand<float, Shape<dyn, 3>>(Dims(6, 3));
  const auto static_labels = zeros<std::int64_t, Shape<6>>();
  const auto labels = zeros<std::int64_t, Shape<dyn>>(Dims(6));
  for (int i = 0; i < 3; ++i) REQUIRE(fixed_step(x, static_labels).item() == free_step(x, labels).item());
  const auto five = rand<float, Shape<dyn, 3>>(Dims(5, 3));
  const std::string message = message_of([&] { static_cast<void>(fixed_step(five, static_labels)); });
  REQUIRE(message.find("6") != std::string::npos);
  REQUIRE(message.find("5") != std::string::npos);
}

TEST_CASE("sizes of a program that 64 bits cannot count are refused with their factors", "[compile]") {
  graph::SymbolValues symbols{};
  symbols[1] = std::int64_t{1} << 31;
  const graph::Extent batch = graph::Extent::of_symbol(1);
  CHECK(graph::Extent{3, (batch * batch).symbols}.evaluate({0, 5}) == 75);
  CHECK(message_of([&] {
          static_cast<void>(graph::Extent{4, (batch * batch).symbols}.evaluate(symbols));
        }) == "sizes: 4 * 2147483648 * 2147483648 is more than 64 bits can count");
  graph::Extents square{};
  square.append(batch);
  square.append(batch);
  CHECK(compile::bytes_of(DType::boolean, square, symbols) == std::int64_t{1} << 62);
  CHECK_THROWS_AS(compile::bytes_of(DType::float32, square, symbols), ShapeError);
  // A kernel over more elements, of which none is stored.
  const auto outer = compiled([](graph::Value x) { return graph::sum(x * graph::transpose(x)); });
  const auto column = zeros<float, Shape<dyn, 1>, Meta>(Dims(std::int64_t{1} << 33, 1));
  CHECK_THROWS_AS(outer(column), ShapeError);
}
