// SPDX-License-Identifier: Apache-2.0
//
// Source text of tensors: what is pasted here is compiled here, and has to be the text of the tensor that it makes.

#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace twill;

// the text of an expression is the text that the expression's tensor gives
#define CHECK_PASTES(...) CHECK(to_source(__VA_ARGS__) == #__VA_ARGS__)

TEST_CASE("a small tensor prints as source that makes it again", "[tensor]") {
  CHECK_PASTES(tensor({{1.0F, 2.0F}, {3.0F, 4.0F}}));
  CHECK_PASTES(tensor({1, -2, -2147483647 - 1, 2147483647}));
  CHECK_PASTES(tensor({true, false}));
  CHECK_PASTES(tensor({0.1, -0.0, 1e+22, 5e-324, 1.7976931348623157e+308, 0.3333333333333333}));
  CHECK_PASTES(tensor({0.1F, -0.0F, 1.6777216e+07F, 1e-45F, 3.4028235e+38F}));
  CHECK_PASTES(tensor({std::int64_t{-9223372036854775807 - 1}, std::int64_t{7}}));
  CHECK_PASTES(tensor({std::uint8_t{0}, std::uint8_t{255}}));
  CHECK_PASTES(tensor({twill::half(0.1F), twill::half(6.104e-05F), twill::half(-0.0F)}));
  CHECK_PASTES(tensor({twill::bfloat16(0.1F), twill::bfloat16(std::numeric_limits<float>::infinity())}));
  CHECK_PASTES(tensor({std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}));
  CHECK_PASTES(tensor<Shape<2, 1, 2>>({1.5, 2.0, 3.0, 4.0}));
  CHECK_PASTES(scalar(1.5));
  CHECK_PASTES(scalar<int>(3));
  CHECK_PASTES(zeros<float, Shape<0, 3>>());
}

TEST_CASE("source text of random tensors reads back bit by bit", "[tensor]") {
  manual_seed_all(11);
  const auto check = []<class T>(const Tensor<T, Cpu, Shape<97>>& x) {
    const std::string text = to_source(x);
    std::string inner = text.substr(text.find('{') + 1);
    for (const T value : to_vector(x)) {
      CHECK(static_cast<T>(std::stod(inner)) == value);
      const std::size_t comma = inner.find(", ");
      inner = comma == std::string::npos ? "" : inner.substr(comma + 2);
    }
  };
  check((randn<double, Shape<97>>()));
  check((randn<float, Shape<97>>()));
  CHECK(to_source(arange(6).reshape<Shape<2, 3>>().transpose()) == "tensor({{0, 3}, {1, 4}, {2, 5}})");
}
