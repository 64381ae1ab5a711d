// SPDX-License-Identifier: Apache-2.0
#include <twill/core/shape.hpp>

#include <catch2/catch.hpp>

using namespace twill;

static_assert(Shape<>::rank == 0 && Shape<>::is_static && Shape<>::dims() == Dims{});
static_assert(Shape<2, 3>::rank == 2 && Shape<2, 3>::is_static && Shape<2, 3>::dims() == Dims(2, 3));
static_assert(!Shape<2, dyn>::is_static && Shape<2, dyn>::extent(1) == dyn);
static_assert(Shape<0>::dims().elements() == 0);

static_assert(Shape<2, dyn, 4>::admits(Dims(2, 7, 4)));
static_assert(!Shape<2, dyn, 4>::admits(Dims(2, 7, 5)));
static_assert(!Shape<2, dyn, 4>::admits(Dims(2, 7)));
static_assert(Shape<>::admits(Dims{}) && !Shape<>::admits(Dims(1)));

static_assert(AnyShape<Shape<1, dyn>> && AnyShape<Shape<>>);
static_assert(!AnyShape<Dims> && !AnyShape<int>);

static_assert(Dims{}.elements() == 1 && Dims(5).elements() == 5 && Dims(2, 3, 4).elements() == 24);
static_assert(Dims(2, 3) == Dims(2, 3) && Dims(2, 3) != Dims(3, 2) && Dims(2) != Dims(2, 1));

static_assert(contiguous_strides(Dims(2, 3, 4)) == Dims(12, 4, 1));
static_assert(contiguous_strides(Dims(7)) == Dims(1));
static_assert(contiguous_strides(Dims{}) == Dims{});
static_assert(contiguous_strides(Dims(3, 0, 2)) == Dims(0, 2, 1));

TEST_CASE("shapes print as NumPy prints them", "[core]") {
  REQUIRE(to_string(Dims{}) == "()");
  REQUIRE(to_string(Dims(7)) == "(7,)");
  REQUIRE(to_string(Dims(2, 3)) == "(2, 3)");
  REQUIRE(to_string(Dims(0, 10000000000, 1)) == "(0, 10000000000, 1)");
}

TEST_CASE("an extent of a shape can be changed in place", "[core]") {
  Dims dims(2, 3);
  dims[1] = 5;
  REQUIRE(dims == Dims(2, 5));
  REQUIRE(dims.elements() == 10);
}
