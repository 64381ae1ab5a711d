// SPDX-License-Identifier: Apache-2.0

#include <twill/data/dataset.hpp>
#include <twill/data/sampler.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

namespace data = twill::data;
using Indices = std::vector<std::int64_t>;

static_assert(data::Sampler<data::SequentialSampler> && data::Sampler<data::ShuffledSampler>);
static_assert(data::Sampler<data::ShardedSampler<data::ShuffledSampler>>);
static_assert(!data::Sampler<int>);

TEST_CASE("a shuffled order holds each sample once", "[data][TRAIN-8]") {
  for (const std::int64_t size : {0, 1, 2, 7, 1003}) {
    Indices order = data::ShuffledSampler{.seed = 11}.order(size, 3);
    std::sort(order.begin(), order.end());
    CHECK(order == data::SequentialSampler{}.order(size, 0));
  }
}

TEST_CASE("seed and epoch decide the shuffled order, and nothing else", "[data][TRAIN-8]") {
  const data::ShuffledSampler sampler{.seed = 5};
  CHECK(sampler.order(100, 0) == data::ShuffledSampler{.seed = 5}.order(100, 0));
  CHECK(sampler.order(100, 0) != sampler.order(100, 1));
  CHECK(sampler.order(100, 0) != data::ShuffledSampler{.seed = 6}.order(100, 0));
  CHECK(sampler.order(100, 0) != data::ShuffledSampler{.seed = 5 + (std::uint64_t{1} << 32)}.order(100, 0));
}

TEST_CASE("the shuffled order is the documented one on every machine", "[data][TRAIN-8]") {
  // Computed by an independent implementation of Philox and Durstenfeld's shuffle.
  CHECK(data::ShuffledSampler{.seed = 0}.order(10, 0) == Indices{3, 6, 0, 8, 9, 5, 2, 1, 7, 4});
  CHECK(data::ShuffledSampler{.seed = 42}.order(10, 7) == Indices{5, 0, 1, 2, 7, 3, 4, 6, 9, 8});
}

TEST_CASE("every order of three samples is about equally likely", "[data]") {
  std::map<Indices, int> seen;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) ++seen[data::ShuffledSampler{.seed = seed}.order(3, 0)];
  REQUIRE(seen.size() == 6);
  for (const auto& [order, count] : seen) CHECK(std::abs(count - 1000) < 120); // four standard deviations
}

TEST_CASE("shards of an order cover it", "[data][PAR-4]") {
  using Sharded = data::ShardedSampler<data::SequentialSampler>;
  CHECK(Sharded{.rank = 1, .ranks = 3}.order(7, 0) == Indices{1, 4, 0});
  CHECK(Sharded{.rank = 2, .ranks = 3, .leftover = data::Leftover::repeat}.order(7, 0) == Indices{2, 5, 1});
  CHECK(Sharded{.rank = 0, .ranks = 3, .leftover = data::Leftover::drop}.order(7, 0) == Indices{0, 3});
  CHECK(Sharded{.rank = 0, .ranks = 3, .leftover = data::Leftover::keep}.order(7, 0) == Indices{0, 3, 6});
  CHECK(Sharded{.rank = 2, .ranks = 3, .leftover = data::Leftover::keep}.order(7, 0) == Indices{2, 5});
  CHECK(Sharded{.rank = 3, .ranks = 4}.order(1, 0) == Indices{0}); // fewer samples than ranks
  CHECK(Sharded{.rank = 1, .ranks = 2}.order(0, 0).empty());
  CHECK_THROWS_WITH((Sharded{.rank = 3, .ranks = 3}.order(7, 0)),
                    "ShardedSampler: rank is in [0, ranks), got rank 3 of 3");
}

TEST_CASE("an epoch can be cut short, with other samples each time", "[data][TRAIN-8]") {
  const data::LimitedSampler<data::ShuffledSampler> some{{7}, 10};
  const auto whole = data::ShuffledSampler{7}.order(101, 3);
  CHECK(some.order(101, 3) == Indices(whole.begin(), whole.begin() + 10));
  CHECK(some.order(101, 3) != some.order(101, 4));
  CHECK(some.order(4, 0).size() == 4);
  CHECK_THROWS_WITH((data::LimitedSampler<data::SequentialSampler>{{}, -1}.order(7, 0)),
                    "LimitedSampler: count is at least 0, got -1");
}

TEST_CASE("an order is cut into batches with or without the smaller last one", "[data][TRAIN-8]") {
  const auto order = data::SequentialSampler{}.order(1003, 0);
  const data::Batches kept(order, 128, data::LastBatch::keep);
  REQUIRE(kept.count() == 8);
  CHECK(kept[0].size() == 128);
  CHECK(kept[7].size() == 107);
  CHECK(kept[7].back() == 1002);
  CHECK(data::Batches(order, 128, data::LastBatch::drop).count() == 7);
  CHECK(data::Batches({}, 128, data::LastBatch::keep).count() == 0);
  CHECK(data::Batches({4}, 128, data::LastBatch::keep)[0].size() == 1);
  CHECK_THROWS_AS(data::Batches({}, 0, data::LastBatch::keep), twill::ValueError);
}

TEST_CASE("a function of the index is a data set", "[data][TRAIN-8]") {
  const auto squares = data::generated_dataset(5, [](std::int64_t index) {
    const auto x = static_cast<float>(index);
    return std::tuple{std::array<std::array<float, 2>, 2>{{{x, x * x}, {1, 2}}}, index};
  });
  using Squares = decltype(squares);
  static_assert(data::Dataset<std::remove_const_t<Squares>>);
  static_assert(
      std::same_as<Squares::Fields, data::Fields<data::Field<float, twill::Shape<2, 2>>, data::Field<std::int64_t>>>);
  static_assert(!data::Dataset<std::vector<float>>);
  CHECK(data::row_dims(squares)[0] == twill::Dims(2, 2));
  CHECK(data::row_dims(squares)[1].rank == 0);
  std::array<float, 4> x{};
  std::int64_t label = 0;
  squares.read(3, std::span<float>(x), std::span(&label, 1));
  CHECK(x == std::array<float, 4>{3, 9, 1, 2});
  CHECK(label == 3);
  CHECK_THROWS_AS(data::generated_dataset(-1, [](std::int64_t i) { return std::tuple{i}; }), twill::ValueError);
}
