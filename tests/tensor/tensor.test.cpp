// SPDX-License-Identifier: Apache-2.0
//
// The handle: sharing, cloning, releasing, reading one element, converting, moving between devices.

#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/tensor.hpp>

#include "../support/late_device.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace twill;
using twill::test::Late;
using twill::test::message_of;
using twill::test::numbers;

namespace {
} // namespace

static_assert(FitsShape<Shape<2, dyn>, Shape<dyn, 3>> && !FitsShape<Shape<2>, Shape<3>>);
static_assert(ProvesShape<Shape<2, 3>, Shape<dyn, 3>> && !ProvesShape<Shape<dyn, 3>, Shape<2, 3>>);
static_assert(std::is_convertible_v<Tensor<float, Cpu, Shape<2>>, Tensor<float, Cpu, Shape<dyn>>>);
static_assert(!std::is_convertible_v<Tensor<float, Cpu, Shape<dyn>>, Tensor<float, Cpu, Shape<2>>>);
static_assert(!std::is_constructible_v<Tensor<float, Cpu, Shape<3>>, Tensor<float, Cpu, Shape<2>>>);
static_assert(AnyTensor<const Tensor<bool, Meta, Shape<>>&> && !AnyTensor<int>);
static_assert(std::is_same_v<broadcast_t<Shape<4, 1, dyn>, Shape<3, 5>>, Shape<4, 3, 5>>);

TEST_CASE("a copied handle shares memory, a clone does not", "[tensor]") {
  const auto x = tensor({1.F, 2.F, 3.F});
  const auto same = x;
  const auto other = x.clone();
  same.fill(7.F);
  CHECK(numbers(x) == std::vector<double>{7, 7, 7});
  CHECK(numbers(other) == std::vector<double>{1, 2, 3});
  CHECK(x.storage().use_count() == 2);
}

TEST_CASE("memory is freed with its last owner, or earlier on request", "[tensor][MEM-4]") {
  const Cpu device{0};
  const auto before = memory_allocated(device);
  {
    auto x = zeros<float, Shape<1000>>(device);
    CHECK(memory_allocated(device) == before + 4096);
    auto view = x[slice{0, 10}];
    x.reset();
    CHECK(memory_allocated(device) == before + 4096);
    CHECK_FALSE(x.holds_elements());
    view.reset();
    CHECK(memory_allocated(device) == before);
    auto y = zeros<float, Shape<1>>(device);
    const auto moved = std::move(y);
    CHECK(memory_allocated(device) == before + 512);
  }
  CHECK(memory_allocated(device) == before);
}

TEST_CASE("item reads the only element and refuses any other number of them", "[tensor]") {
  CHECK(scalar(2.5).item() == 2.5);
  CHECK(tensor({3}).item() == 3);
  CHECK(arange(5)[-1].item() == 4);
  CHECK(message_of([] { (void)arange(3).item(); }) ==
        "item: shape (3,) has 3 elements; item reads a tensor of exactly one");
  CHECK_THROWS_AS((zeros<float, Shape<>>(Meta{}).item()), DeviceError);
  CHECK_THROWS_AS((Tensor<float, Cpu, Shape<>>{}.item()), ValueError);
}

TEMPLATE_TEST_CASE("element types convert as static_cast does", "[tensor][DEV-2]", bool, std::uint8_t, std::int32_t,
                   std::int64_t, half, bfloat16, float, double) {
  const auto x = tensor({0.0, 1.0, 2.75, 100.0}).to<TestType>();
  const auto back = x.template to<double>();
  const double values[] = {0.0, 1.0, 2.75, 100.0};
  for (int i = 0; i < 4; ++i) CHECK(back[i].item() == static_cast<double>(static_cast<TestType>(values[i])));
  const auto same = x.template to<TestType>();
  CHECK(same.data() == x.data());
}

TEST_CASE("a tensor moves between devices of one kind and of different kinds", "[tensor][DEV-2][DEV-8]") {
  const auto x = arange(6.F).reshape<Shape<2, 3>>();
  CHECK(x.to(Cpu{0}).data() == x.data());
  const auto there = x.to(Late{1});
  static_assert(std::is_same_v<decltype(there)::device_type, Late>);
  CHECK(there.device() == Late{1});
  CHECK(numbers(there) == numbers(x));
  const auto again = there.transpose().to(Late{2}).cpu();
  CHECK(numbers(again) == std::vector<double>{0, 3, 1, 4, 2, 5});
  CHECK(there(1, 2).item() == 5);
  CHECK(x.to(Meta{}).shape() == x.shape());
  CHECK_THROWS_AS(x.to(Meta{}).cpu(), DeviceError);
}

TEST_CASE("many tensors come and go on a late device without waiting", "[tensor][DEV-8]") {
  auto sum = zeros<float, Shape<3>>(Late{0});
  for (int i = 0; i < 50; ++i) {
    const auto temporary = full<float, Shape<3>>(static_cast<float>(i), Late{0});
    sum = temporary.clone();
  }
  CHECK(numbers(sum) == std::vector<double>{49, 49, 49});
}

TEST_CASE("copy_from converts, broadcasts, crosses devices and survives overlap", "[tensor]") {
  const auto x = zeros<float, Shape<2, 3>>();
  x.copy_from(tensor({1, 2, 3}));
  CHECK(numbers(x) == std::vector<double>{1, 2, 3, 1, 2, 3});
  x.transpose().copy_from(tensor({5.0, 6.0}).to(Late{0}));
  CHECK(numbers(x) == std::vector<double>{5, 5, 5, 6, 6, 6});
  const auto line = arange(5);
  line[slice{1, 5}].copy_from(line[slice{0, 4}]);
  CHECK(numbers(line) == std::vector<double>{0, 0, 1, 2, 3});
  line[slice{.step = -1}] = line;
  CHECK(numbers(line) == std::vector<double>{3, 2, 1, 0, 0});
  CHECK(message_of([&] { line.copy_from(arange(3)); }) == "copy: shape (3,) does not broadcast to (5,)");
}

TEST_CASE("a shape may claim less freely and more only if it is true", "[tensor]") {
  const Tensor<float, Cpu, Shape<dyn>> open = tensor({1.F, 2.F});
  const Tensor<float, Cpu, Shape<2>> known(open);
  CHECK(known.data() == open.data());
  CHECK(message_of([&] { (void)Tensor<float, Cpu, Shape<3>>(open); }) ==
        "tensor: extents (2,) do not fit the type's shape (3,), in which -1 is dyn");
  CHECK_THROWS_AS((zeros<float, Shape<dyn>>(Dims(-2))), ShapeError);
}

TEST_CASE("assigning a tensor to a name gives the name a new value, to a view it writes", "[tensor]") {
  auto x = tensor({1.F, 2.F, 3.F});
  const auto old = x;
  x = tensor({4.F, 5.F, 6.F});
  CHECK(numbers(old) == std::vector<double>{1, 2, 3});
  x[slice{0, 2}] = 9.F;
  x[2] = scalar(7.F);
  CHECK(numbers(x) == std::vector<double>{9, 9, 7});
}

TEST_CASE("host elements are reachable as a span", "[tensor]") {
  const auto x = arange(4.F).reshape<Shape<2, 2>>();
  span_of(x)[3] = 9;
  CHECK(x(1, 1).item() == 9);
  CHECK(message_of([&] { (void)span_of(x.transpose()); }) ==
        "span_of: strides (1, 2) of shape (2, 2) leave gaps; take contiguous() first");
}

TEST_CASE("memory that the caller owns can be a tensor", "[tensor]") {
  std::vector<int> mine{1, 2, 3, 4};
  const Tensor<int, Cpu, Shape<2, 2>> x(memory::Buffer<Cpu>{}, mine.data(), Dims(2, 2), Dims(2, 1));
  x.transpose()[0].fill(8);
  CHECK(mine == std::vector<int>{8, 2, 8, 4});
}
