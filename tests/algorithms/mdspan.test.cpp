// SPDX-License-Identifier: Apache-2.0
//
// Tensors as mdspans and back: extents in the type stay there, strides are kept, memory is shared.

#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <twill/algorithms.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <type_traits>
#include <vector>

#if __has_include(<cuda/std/mdspan>)

using namespace twill;
using twill::test::message_of;
using twill::test::numbers;

TEST_CASE("a tensor is an mdspan over the same elements, whatever its strides", "[algorithms]") {
  const auto x = arange(30).reshape<Shape<5, dyn>>();
  const auto span = mdspan_of(x);
  static_assert(decltype(span)::static_extent(0) == 5);
  static_assert(decltype(span)::static_extent(1) == cuda::std::dynamic_extent);
  REQUIRE(span.extent(1) == 6);
  const auto strided = mdspan_of(x.transpose()(slice{0, 6, 2}));
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 6; ++j) CHECK(&span(i, j) == &x.data()[6 * i + j]);
    for (int j = 0; j < 3; ++j) CHECK(strided(j, i) == 6 * i + 2 * j);
  }
  CHECK(mdspan_of(scalar(3))() == 3);
  CHECK(mdspan_of(x(slice{2, 2})).extent(0) == 0);
  CHECK(message_of([&] { static_cast<void>(mdspan_of(x[slice{.step = -1}])); }) ==
        "mdspan_of: strides (-6, 1) of shape (5, 6) are not positive; take contiguous() first");
  CHECK_THROWS_AS(mdspan_of(x(all, slice{0, 1}).expand<Shape<5, 4>>()), ValueError);
}

TEST_CASE("a contiguous tensor is a row-major mdspan", "[algorithms]") {
  const auto x = arange(12).reshape<Shape<3, 4>>();
  const auto span = contiguous_mdspan_of(x);
  static_assert(std::is_same_v<decltype(span)::layout_type, cuda::std::layout_right>);
  span(1, 2) = 100;
  CHECK(x(1, 2).item() == 100);
  CHECK(message_of([&] { static_cast<void>(contiguous_mdspan_of(x.transpose())); }) ==
        "contiguous_mdspan_of: strides (1, 4) of shape (4, 3) leave gaps; use mdspan_of, or take contiguous() first");
}

TEST_CASE("an mdspan is a tensor over memory of somebody else", "[algorithms]") {
  std::array<double, 12> memory{};
  for (int i = 0; i < 12; ++i) memory[static_cast<std::size_t>(i)] = i;
  using Columns =
      cuda::std::mdspan<double, cuda::std::extents<int, 3, cuda::std::dynamic_extent>, cuda::std::layout_left>;
  const auto x = tensor_of(Columns(memory.data(), 4));
  static_assert(std::is_same_v<decltype(x)::shape_type, Shape<3, dyn>>);
  CHECK(numbers(x[1]) == std::vector<double>{1, 4, 7, 10});
  x[0] = 0.5;
  CHECK(memory[3] == 0.5);
  const auto there_and_back = tensor_of(mdspan_of(x.transpose()));
  CHECK(numbers(there_and_back) == numbers(x.transpose()));
  CHECK(there_and_back.data() == memory.data());
}

#endif
