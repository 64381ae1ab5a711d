// SPDX-License-Identifier: Apache-2.0
//
// What a statement does with an expression: a new value for a name, writing through a view, in-place operators, storing
// for later; overlapping memory; devices; the program that comes of it.

#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/tensor.hpp>

#include "../support/late_device.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

using namespace twill;
using twill::test::Late;
using twill::test::message_of;
using twill::test::numbers;

namespace {
auto scaled(const Tensor<float, Cpu, Shape<3>>& x) { return lazy(x * 2 + tensor({1.F, 1.F, 1.F})); }
} // namespace

TEST_CASE("a statement evaluates and its tensor's type follows from the operands", "[expr]") {
  const auto a = tensor({{1.F, 2.F}, {3.F, 4.F}});
  const auto b = arange(2.0);
  Tensor c = a * b + 1;
  static_assert(std::is_same_v<decltype(c), Tensor<double, Cpu, Shape<2, 2>>>);
  CHECK(numbers(c) == std::vector<double>{1, 3, 1, 5});
  const Tensor<double, Cpu, Shape<dyn, dyn>> open = a * b;
  CHECK(open.shape() == Dims(2, 2));
  const auto evaluated = eval(a + a);
  CHECK(numbers(evaluated) == std::vector<double>{2, 4, 6, 8});
  CHECK((a[0] + 1).shape() == Dims(2));
}

TEST_CASE("a name gets a new value in its own memory if nobody else can see it", "[expr][MEM-4]") {
  const auto a = tensor({1.F, 2.F, 3.F});
  Tensor c = a * 2;
  const auto* const address = c.data();
  const auto allocated = memory_allocated(Cpu{0});
  c = c * a + c;
  CHECK(c.data() == address);
  CHECK(memory_allocated(Cpu{0}) == allocated);
  CHECK(numbers(c) == std::vector<double>{4, 12, 24});
  const auto old = c;
  c = c - 1;
  CHECK(c.data() != address);
  CHECK(numbers(old) == std::vector<double>{4, 12, 24});
  CHECK(numbers(c) == std::vector<double>{3, 11, 23});
}

TEST_CASE("operands that broadcast to more elements than 64 bits can count are refused", "[expr]") {
  const auto one = ones<float, Shape<1, 1>>();
  const auto column = one.expand<Shape<dyn, 1>>(Dims(std::int64_t{1} << 40, 1));
  const auto row = one.expand<Shape<1, dyn>>(Dims(1, std::int64_t{1} << 40));
  CHECK(message_of([&] { Tensor total = sum(column * row); }) ==
        "multiply: shapes (1099511627776, 1) and (1, 1099511627776) broadcast to more elements than 64 bits can count");
}

TEST_CASE("an expression prints as its value, and one of a single truth value decides", "[expr]") {
  const auto x = tensor({1.5, -2.0});
  std::ostringstream text{};
  text << x + 1;
  CHECK(text.str() == "[ 2.5 -1. ]");
  CHECK((allclose(x, x + 1e-12) ? 1 : 2) == 1);
  if (any(x > 2)) FAIL("no element is above 2");
  const Tensor positive = all_of(x > 0);
  CHECK_FALSE(static_cast<bool>(positive));
  CHECK(numbers(eval(pow(x, 2))) == std::vector<double>{2.25, 4});
  CHECK(cat<0>(x, x).numel() == 4);
}

TEST_CASE("a tensor of unknown extents can change its shape", "[expr]") {
  Tensor<float, Cpu, Shape<dyn, dyn>> c = ones<float, Shape<1, 3>>();
  c = c + ones<float, Shape<2, 1>>();
  CHECK(c.shape() == Dims(2, 3));
  CHECK(numbers(c) == std::vector<double>(6, 2));
}

TEST_CASE("assigning to a view writes through it, converting and broadcasting", "[expr]") {
  const auto x = zeros<float, Shape<2, 3>>();
  x[0] = arange(3) + 1;
  x(all, 2) = tensor({10.0, 20.0}) * 0.5;
  CHECK(numbers(x) == std::vector<double>{1, 2, 5, 0, 0, 10});
  x(ellipsis) = x[0] * 1;
  CHECK(numbers(x) == std::vector<double>{1, 2, 5, 1, 2, 5});
  x.transpose()[1] = x[0][slice{0, 2}] - 1;
  CHECK(numbers(x) == std::vector<double>{1, 0, 5, 1, 1, 5});
  const auto open = arange(6.F).reshape(2, 3);
  CHECK(message_of([&] { open[0] = arange(2) * 1; }) == "assign: shape (2,) does not broadcast to (3,)");
}

TEST_CASE("in-place operators write through and keep the element type", "[expr]") {
  auto x = arange(4);
  const auto view = x[slice{.step = 2}];
  x += 1;
  view *= 10;
  x -= tensor({1});
  CHECK(numbers(x) == std::vector<double>{9, 1, 29, 3});
  auto f = tensor({half(1), half(3)});
  (f += 1) /= 2;
  CHECK(numbers(f) == std::vector<double>{1, 2});
  x[slice{0, 2}] += x[slice{2, 4}];
  CHECK(numbers(x) == std::vector<double>{38, 4, 29, 3});
}

TEST_CASE("reading and writing the same memory is right", "[expr]") {
  const auto reference = [](auto change) {
    auto x = arange(20.0);
    const auto before = x.clone();
    change(x, before);
    return x;
  };
  const auto shifted = reference([](auto& x, const auto&) { x[slice{1, 20}] = x[slice{0, 19}] + 1; });
  for (int i = 1; i < 20; ++i) CHECK(shifted[i].item() == i);
  const auto back = reference([](auto& x, const auto&) { x[slice{0, 19}] = x[slice{1, 20}] + 1; });
  for (int i = 0; i < 19; ++i) CHECK(back[i].item() == i + 2);
  const auto reversed = reference([](auto& x, const auto&) { x += x[slice{.step = -1}]; });
  for (int i = 0; i < 20; ++i) CHECK(reversed[i].item() == 19);
  auto square = arange(9.0).reshape<Shape<3, 3>>();
  square += square.transpose();
  CHECK(numbers(square) == std::vector<double>{0, 4, 8, 4, 8, 12, 8, 12, 16});
  square = square - square[0];
  CHECK(numbers(square) == std::vector<double>{0, 0, 0, 4, 4, 4, 8, 8, 8});
  auto row = arange(4.0);
  row -= mean(row);
  CHECK(numbers(row) == std::vector<double>{-1.5, -0.5, 0.5, 1.5});
  row = row / sum(row * row);
  CHECK(row[0].item() == Approx(-0.3));
}

TEST_CASE("lazy expressions own their tensors and can be used many times", "[expr]") {
  const auto before = memory_allocated(Cpu{0});
  {
    const auto e = scaled(tensor({1.F, 2.F, 3.F}));
    CHECK(numbers(eval(e)) == std::vector<double>{3, 5, 7});
    Tensor c = e * e;
    CHECK(numbers(c) == std::vector<double>{9, 25, 49});
    Tensor d = e;
    CHECK(numbers(d) == std::vector<double>{3, 5, 7});
    CHECK(eval(sum(lazy(sum<0>(e)))).item() == 15);
  }
  CHECK(memory_allocated(Cpu{0}) == before);
}

TEST_CASE("shapes that do not broadcast are named with their operation", "[expr]") {
  const auto a = zeros<float, Shape<dyn, dyn>>(Dims(2, 3));
  const auto b = zeros<float, Shape<dyn>>(Dims(4));
  CHECK(message_of([&] { (void)eval(exp(a) * b + 1); }) == "multiply: shapes (2, 3) and (4,) do not broadcast");
  CHECK(message_of([&] { (void)eval(where(a > 0, b, 1)); }) == "where: shapes (2, 3) and (4,) do not broadcast");
}

TEST_CASE("results live where their operands do; two devices are refused by name", "[expr][DEV-4]") {
  const auto a = ones<float, Shape<3>>(Late{1});
  const auto b = ones<float, Shape<3>>(Late{2});
  Tensor c = a + 1;
  CHECK(c.device() == Late{1});
  c = b + 1;
  CHECK(c.device() == Late{2});
  CHECK(message_of([&] { (void)eval(a + 2 * b); }) ==
        "add: the operands are on late:1 and late:2; move one of them with to(device)");
  CHECK(message_of([&] {
          a[slice{0, 2}] = b[slice{0, 2}] * 1;
        }) == "assign: the operands are on late:1 and late:2; move one of them with to(device)");
  CHECK(message_of([&] { (void)eval(matmul(a, b)); }) ==
        "matmul: the operands are on late:1 and late:2; move one of them with to(device)");
}

TEST_CASE("the same code gives the same numbers on another kind of device", "[expr][DEV-3]") {
  const auto run = [](auto device) {
    manual_seed_all(3);
    const auto x = randn<float, Shape<7, 33>>(device);
    auto y = eval(tanh(x * 2) - where(x > 0, x, 0.5));
    y[slice{1, 7}] += y[slice{0, 6}];
    Tensor p = exp(y - max<1>(y, keepdims)) / sum<1>(exp(y - max<1>(y, keepdims)), keepdims);
    Tensor m = mean<0>(p.transpose() * 3) + var<1>(y);
    Tensor w = matmul(p, p.transpose()) + m;
    return w;
  };
  const auto here = to_vector(run(Cpu{0}));
  CHECK(to_vector(run(Late{0})) == here);
  CHECK(run(Meta{}).shape() == Dims(7, 7));
}

TEST_CASE("on a device without memory the same statements account for the same bytes", "[expr][MEM-8]") {
  const auto bytes = [](auto device) {
    reset_peak_memory_stats(device);
    const auto before = memory_allocated(device);
    const auto x = ones<float, Shape<100, 50>>(device);
    Tensor y = tanh(x) * 2;
    Tensor z = sum<0>(y / sum<0>(y));
    return std::pair{memory_allocated(device) - before, max_memory_allocated(device) - before};
  };
  CHECK(bytes(Meta{0}) == bytes(Cpu{0}));
}

TEST_CASE("empty tensors and rank 0 go through every statement", "[expr]") {
  const auto none = zeros<float, Shape<0, 3>>();
  CHECK(eval(none * 2 + none).elements() == 0);
  CHECK(eval(none + zeros<float, Shape<3>>()).shape() == Dims(0, 3));
  auto s = scalar(3.F);
  s += 1;
  CHECK(eval(s * s).item() == 16);
  CHECK(numbers(eval(s + arange(2.F))) == std::vector<double>{4, 5});
}
