// SPDX-License-Identifier: Apache-2.0
#include <twill/nn/leaf.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/create.hpp>

#include <catch2/catch.hpp>

#include <vector>

namespace {

using namespace twill;

TEST_CASE("a leaf collects the gradients of all its uses", "[nn][TRAIN-1]") {
  const nn::Leaf x{from_values<Shape<3>>(std::vector<float>{1, -2, 3})};
  const nn::Leaf copy = x;
  CHECK_FALSE(x.has_gradient());
  CHECK_THROWS_WITH(x.gradient(), "gradient: the leaf has none; call backward first");
  const auto weight = from_values<Shape<3>>(std::vector<float>{5, 7, 11});
  nn::sum(x * weight).backward();
  CHECK(to_vector(x.gradient()) == std::vector<float>{5, 7, 11});
  nn::sum(copy * x).backward(); // twice the same: x + x
  CHECK(to_vector(x.gradient()) == std::vector<float>{7, 3, 17});
  CHECK(to_vector(weight) == std::vector<float>{5, 7, 11});
  CHECK(to_vector(copy.gradient()) == to_vector(x.gradient()));
}

TEST_CASE("a leaf gives up its gradient and takes a new one", "[nn][TRAIN-1]") {
  nn::Leaf x{from_values<Shape<2>>(std::vector<double>{1, 4})};
  nn::mean(x - x.value()).backward();
  CHECK(to_vector(x.gradient()) == std::vector<double>{0.5, 0.5});
  x.zero_grad();
  CHECK_FALSE(x.has_gradient());
  nn::sum(x * x).backward();
  CHECK(to_vector(x.gradient()) == std::vector<double>{2, 8});
}

} // namespace
