// SPDX-License-Identifier: Apache-2.0

#include <twill/parallel/data/chunk.hpp>
#include <twill/parallel/data/scatter.hpp>
#include <twill/tensor/access.hpp>

#include "tests/support/late_device.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <numeric>
#include <string>

using namespace twill;
using namespace twill::parallel;
using twill::test::Late;

namespace {

template <class S, class D = Cpu> Tensor<float, D, S> counting(const Dims& extents, const D& device = {}) {
  Tensor<float, Cpu, S> host(Cpu{}, extents);
  std::iota(host.data(), host.data() + host.elements(), 0.0F);
  return host.to(device);
}

template <class D> std::vector<D> devices(int count) {
  std::vector<D> result;
  for (int i = 0; i < count; ++i) result.push_back(D{i % D::count()});
  return result;
}

struct Sample {
  Tensor<float, Cpu, Shape<dyn, 2>> x;
  Tensor<float, Cpu, Shape<dyn>> weight;
  int repetitions;
};

using Vector = std::vector<float>;

} // namespace

static_assert(Scatterable<Tensor<float, Cpu, Shape<2>>> && Scatterable<Sample> && !Scatterable<int>);
static_assert(Scatterable<std::map<std::string, std::vector<Tensor<float, Cpu, Shape<2>>>>>);
static_assert(!Scatterable<std::string> && !Scatterable<std::vector<int>> && !Scatterable<std::tuple<int, float>>);

TEST_CASE("rows are cut as chunk cuts them", "[parallel][PAR-1][PAR-2]") {
  CHECK(chunk_rows(16, 2) == std::vector<Rows>{{0, 8}, {8, 8}});
  CHECK(chunk_rows(5, 4) == std::vector<Rows>{{0, 2}, {2, 2}, {4, 1}}); // three replicas only
  CHECK(chunk_rows(13, 2) == std::vector<Rows>{{0, 7}, {7, 6}});
  CHECK(chunk_rows(1, 3) == std::vector<Rows>{{0, 1}});
  CHECK(chunk_rows(0, 3) == std::vector<Rows>{{0, 0}});
  CHECK_THROWS_AS(chunk_rows(5, 0), ValueError);
}

TEMPLATE_TEST_CASE("a tensor is scattered along any axis and gathered again", "[parallel][PAR-1]", Cpu, Late) {
  using D = TestType;
  const auto x = counting<Shape<5, dyn, 3>>(Dims(5, 4, 3), D{0});
  const auto rows = scatter(x, devices<D>(4));
  static_assert(std::same_as<decltype(rows), const std::vector<Tensor<float, D, Shape<dyn, dyn, 3>>>>);
  REQUIRE(rows.size() == 3);
  CHECK(rows[2].shape() == Dims(1, 4, 3));
  CHECK(to_vector(rows[1])[0] == 24);
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(rows[i].device() == devices<D>(4)[i]);
  CHECK(to_vector(gather(rows, D{0})) == to_vector(x));

  // region: scatter
  const auto middle = scatter<1>(x, devices<D>(2));
  CHECK(middle[1].shape() == Dims(5, 2, 3));
  CHECK(to_vector(gather<1>(middle, D{0})) == to_vector(x));
  // end region
  const auto last = scatter<-1>(x, devices<D>(2));
  static_assert(std::same_as<decltype(last), const std::vector<Tensor<float, D, Shape<5, dyn, dyn>>>>);
  CHECK(last[0].shape() == Dims(5, 4, 2));
  CHECK(to_vector(gather<-1>(last, D{0})) == to_vector(x));
}

TEST_CASE("a piece that stays on its device shares the memory", "[parallel][PAR-1]") {
  const auto x = counting<Shape<dyn, 3>>(Dims(4, 3));
  const auto pieces = scatter(x, std::vector<Cpu>{Cpu{0}, Cpu{0}});
  CHECK(pieces[1].data() == x.data() + 6);
}

TEST_CASE("input and devices may be of different kinds", "[parallel][PAR-1][DEV-3]") {
  const auto x = counting<Shape<dyn, 3>>(Dims(7, 3));
  const auto pieces = scatter(x, devices<Late>(3));
  static_assert(std::same_as<decltype(pieces), const std::vector<Tensor<float, Late, Shape<dyn, 3>>>>);
  CHECK(to_vector(gather(pieces, Cpu{0})) == to_vector(x));
}

TEST_CASE("tuples, arrays, vectors, maps and structs are scattered member by member", "[parallel][PAR-2]") {
  const auto x = counting<Shape<dyn, 2>>(Dims(3, 2));
  const auto w = counting<Shape<dyn>>(Dims(3));
  const auto two = std::vector<Cpu>(2);

  const auto tuples = scatter(std::tuple{x, std::string("shared"), std::pair{w, 7}}, two);
  REQUIRE(tuples.size() == 2);
  CHECK(to_vector(std::get<0>(tuples[1])) == Vector{4, 5});
  CHECK(std::get<1>(tuples[1]) == "shared");
  CHECK(to_vector(std::get<2>(tuples[0]).first) == Vector{0, 1});
  const auto tuple = gather(tuples, Cpu{});
  CHECK(to_vector(std::get<0>(tuple)) == to_vector(x));
  CHECK(std::get<1>(tuple) == std::vector<std::string>{"shared", "shared"});
  CHECK(to_vector(std::get<2>(tuple).first) == to_vector(w));

  const auto arrays = scatter(std::array{w, w}, two);
  CHECK(to_vector(arrays[1][1]) == Vector{2});
  CHECK(to_vector(gather(arrays, Cpu{})[1]) == to_vector(w));

  const auto lists = scatter(std::vector{x, x, x}, two);
  CHECK(lists[0].size() == 3);
  CHECK(to_vector(gather(lists, Cpu{})[2]) == to_vector(x));

  const auto maps = scatter(std::map<std::string, Tensor<float, Cpu, Shape<dyn>>>{{"a", w}, {"b", w}}, two);
  CHECK(to_vector(maps[0].at("b")) == Vector{0, 1});
  CHECK(to_vector(gather(maps, Cpu{}).at("a")) == to_vector(w));

  const auto structs = scatter(Sample{x, w, 4}, two);
  CHECK(to_vector(structs[0].x) == Vector{0, 1, 2, 3});
  CHECK(to_vector(structs[1].weight) == Vector{2});
  CHECK(structs[1].repetitions == 4);
}

TEST_CASE("scalars are gathered to a vector with one element for each replica", "[parallel][PAR-2]") {
  std::vector<Tensor<float, Cpu, Shape<>>> losses;
  for (int replica = 0; replica < 3; ++replica) {
    losses.emplace_back(Cpu{}, Dims{});
    *losses.back().data() = static_cast<float>(replica);
  }
  const auto joined = gather(losses, Cpu{});
  static_assert(std::same_as<decltype(joined), const Tensor<float, Cpu, Shape<dyn>>>);
  CHECK(to_vector(joined) == Vector{0, 1, 2});
  CHECK(gather(std::vector<double>{1, 2}, Cpu{}) == std::vector<double>{1, 2});
}

TEST_CASE("what has no tensors is shared by reference", "[parallel][PAR-2]") {
  const std::vector<int> options{1, 2, 3};
  decltype(auto) same = scattered(options, Rows{0, 1}, Cpu{});
  static_assert(std::same_as<decltype(same), const std::vector<int>&>);
  CHECK(&same == &options);
}

TEST_CASE("tensors of different numbers of rows are refused", "[parallel][PAR-2]") {
  const auto x = counting<Shape<dyn, 2>>(Dims(3, 2));
  const auto w = counting<Shape<dyn>>(Dims(4));
  CHECK_THROWS_WITH(scatter(std::tuple{x, w}, std::vector<Cpu>(2)),
                    "scatter: all tensors have equally many rows along axis 0, got shapes (3, 2) and (4,)");
  CHECK(common_rows(5, std::string("none")) == std::nullopt);
  CHECK_THROWS_AS(scatter(x, std::vector<Cpu>{}), ValueError);
  CHECK_THROWS_AS(gather(std::vector<Tensor<float, Cpu, Shape<dyn>>>{}, Cpu{}), ValueError);
  std::vector<Tensor<float, Cpu, Shape<dyn, dyn>>> pieces{counting<Shape<dyn, dyn>>(Dims(2, 3)),
                                                          counting<Shape<dyn, dyn>>(Dims(2, 4))};
  CHECK_THROWS_WITH(gather(pieces, Cpu{}), "concatenate: piece 0 has shape (2, 3), piece 1 has shape (2, 4); they may "
                                           "differ along axis 0 only");
}

TEST_CASE("an empty batch is one empty piece", "[parallel][PAR-2]") {
  const auto x = counting<Shape<dyn, 3>>(Dims(0, 3));
  const auto pieces = scatter(x, std::vector<Cpu>(2));
  REQUIRE(pieces.size() == 1);
  CHECK(gather(pieces, Cpu{}).shape() == Dims(0, 3));
}
