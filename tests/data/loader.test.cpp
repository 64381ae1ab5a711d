// SPDX-License-Identifier: Apache-2.0

#include <twill/data/loader.hpp>
#include <twill/data/tensor_dataset.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/tensor/access.hpp>

#include "tests/support/late_device.hpp"

#include <catch2/catch.hpp>

#include <numeric>
#include <stdexcept>

using namespace twill;
using twill::test::Late;

namespace {

// 1,003 samples: a row of three floats that tell the index, and a label.
auto numbers(std::int64_t size = 1003) {
  return data::generated_dataset(size, [](std::int64_t index) {
    const auto x = static_cast<float>(index);
    return std::tuple{std::array{x, x / 2, -x}, index % 10};
  });
}

struct Unreadable : std::runtime_error {
  explicit Unreadable(std::int64_t at) : std::runtime_error("unreadable"), index{at} {}
  std::int64_t index;
};

} // namespace

TEMPLATE_TEST_CASE("batches come in order with any number of workers on any kind of device", "[data][TRAIN-8][DEV-3]",
                   Cpu, Late) {
  using D = TestType;
  const auto order = data::ShuffledSampler{.seed = 3}.order(1003, 0);
  for (const int workers : {0, 1, 3}) {
    data::DataLoader loader(numbers(), data::ShuffledSampler{.seed = 3}, D{0}, {.batch_size = 128, .workers = workers});
    REQUIRE(loader.batches() == 8);
    std::size_t at = 0;
    std::int64_t batches = 0;
    for (auto [x, label] : loader) {
      static_assert(std::same_as<decltype(x), Tensor<float, D, Shape<dyn, 3>>>);
      static_assert(std::same_as<decltype(label), Tensor<std::int64_t, D, Shape<dyn>>>);
      const bool is_last = ++batches == loader.batches();
      REQUIRE(x.shape() == Dims(is_last ? 107 : 128, 3));
      const auto rows = to_vector(x);
      const auto labels = to_vector(label);
      for (std::size_t row = 0; row < labels.size(); ++row, ++at) {
        REQUIRE(rows[3 * row] == static_cast<float>(order[at]));
        REQUIRE(rows[3 * row + 2] == -static_cast<float>(order[at]));
        REQUIRE(labels[row] == order[at] % 10);
      }
    }
    CHECK(at == 1003);
    CHECK(loader.report().items == 8);
    CHECK(loader.report().elapsed_seconds >= loader.report().waited_seconds);
    CHECK(loader.report().bytes == 1003 * (3 * 4 + 8));
    CHECK(loader.report().workers == workers);
    CHECK((workers > 0 || loader.report().late_items == 8));
  }
}

TEST_CASE("every pass over a loader is the next epoch, and any epoch can be taken up again", "[data][TRAIN-8][IO-5]") {
  data::DataLoader loader(numbers(50), data::ShuffledSampler{.seed = 1}, Cpu{}, {.batch_size = 8, .workers = 1});
  const auto collect = [](auto&& range) {
    std::vector<float> seen;
    for (auto [x, label] : range)
      for (const float value : to_vector(x)) seen.push_back(value);
    return seen;
  };
  const auto first = collect(loader);
  const auto second = collect(loader);
  CHECK(first != second);
  CHECK(loader.next_epoch() == 2);
  loader.set_epoch(0);
  CHECK(collect(loader) == first);
  CHECK(collect(loader.epoch(1)) == second);
  const auto rest = collect(loader.epoch(1, 4)); // four batches of eight rows of three numbers were done
  CHECK(rest == std::vector<float>(second.begin() + 4 * 8 * 3, second.end()));
  loader.set_epoch(1);
  int batches = 0;
  for (auto [x, label] : loader) // with a worker that is ahead of the loop
    if (++batches == 4) break;
  CHECK(loader.position() == data::Position{1, 4});
  data::DataLoader other(numbers(50), data::ShuffledSampler{.seed = 1}, Cpu{}, {.batch_size = 8});
  other.set_position(loader.position());
  CHECK(collect(other) == rest);
  CHECK(other.position() == data::Position{2, 0}); // after the last batch comes the next epoch
  CHECK(other.next_epoch() == 2);
  CHECK_THROWS_WITH(other.set_position({0, -1}), "set_position: epoch and batch are at least 0, got 0 and -1");
}

TEST_CASE("the smaller last batch can be dropped", "[data][TRAIN-8]") {
  data::DataLoader loader(numbers(10), data::SequentialSampler{}, Cpu{},
                          {.batch_size = 4, .last_batch = data::LastBatch::drop});
  std::int64_t rows = 0;
  for (auto [x, label] : loader) rows += x.shape()[0];
  CHECK(rows == 8);
  CHECK(loader.batches() == 2);
}

TEST_CASE("an exception of a data set reaches the loop as its own type", "[data][TRAIN-8]") {
  for (const int workers : {0, 2}) {
    const auto broken = data::generated_dataset(40, [](std::int64_t index) {
      if (index == 21) throw Unreadable(index);
      return std::tuple{static_cast<float>(index)};
    });
    data::DataLoader loader(broken, data::SequentialSampler{}, Cpu{}, {.batch_size = 4, .workers = workers});
    int batches = 0;
    try {
      for (auto [x] : loader) ++batches;
      FAIL("expected Unreadable");
    } catch (const Unreadable& error) {
      CHECK(error.index == 21);
    }
    CHECK(batches == 5);
  }
}

TEST_CASE("a loop may be left anywhere", "[data][TRAIN-8]") {
  const auto before = memory_allocated(Cpu{});
  for (const int workers : {0, 1, 4})
    for (int stop = 1; stop < 10; ++stop) {
      data::DataLoader loader(numbers(100), data::SequentialSampler{}, Cpu{}, {.batch_size = 7, .workers = workers});
      int batches = 0;
      for (auto [x, label] : loader)
        if (++batches == stop) break;
      CHECK(batches == stop);
    }
  CHECK(memory_allocated(Cpu{}) == before);
}

TEST_CASE("a batch belongs to the loop's body alone", "[data][MEM-4]") {
  data::DataLoader loader(numbers(64), data::SequentialSampler{}, Cpu{}, {.batch_size = 16});
  const auto before = memory_allocated(Cpu{});
  for (auto [x, label] : loader) {
    x.reset();
    label.reset();
    CHECK(memory_allocated(Cpu{}) == before);
  }
}

TEST_CASE("a loader runs on a device without memory", "[data][MEM-8]") {
  data::DataLoader loader(numbers(20), data::SequentialSampler{}, Meta{}, {.batch_size = 8, .workers = 1});
  std::vector<std::int64_t> rows;
  for (auto [x, label] : loader) rows.push_back(x.shape()[0]);
  CHECK(rows == std::vector<std::int64_t>{8, 8, 4});
}

TEST_CASE("tensors and vectors are columns of a data set", "[data][TRAIN-8]") {
  Tensor<double, Cpu, Shape<dyn, 2, dyn>> x(Cpu{}, Dims(3, 2, 2));
  std::iota(x.data(), x.data() + 12, 0.0);
  const data::TensorDataset dataset(
      data::column(x), data::column(std::vector<std::uint8_t>{7, 8, 9}, [](std::uint8_t v) { return v * 0.5F; }));
  static_assert(data::Dataset<std::remove_const_t<decltype(dataset)>>);
  data::DataLoader loader(dataset, data::SequentialSampler{}, Cpu{}, {.batch_size = 2});
  std::vector<double> seen;
  std::vector<float> halves;
  for (auto [rows, label] : loader) {
    static_assert(std::same_as<decltype(rows), Tensor<double, Cpu, Shape<dyn, 2, dyn>>>);
    for (const double value : to_vector(rows)) seen.push_back(value);
    for (const float value : to_vector(label)) halves.push_back(value);
  }
  CHECK(seen == std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(halves == std::vector<float>{3.5F, 4, 4.5F});
  const data::TensorDataset by_themselves{x, std::vector<std::uint8_t>{7, 8, 9}, data::column(x)};
  static_assert(
      std::same_as<decltype(data::TensorDataset{by_themselves}), std::remove_const_t<decltype(by_themselves)>>);
  data::DataLoader pairs(by_themselves, data::SequentialSampler{}, Cpu{}, {.batch_size = 3});
  for (auto [rows, label, again] : pairs) {
    CHECK(to_vector(rows) == seen);
    CHECK(to_vector(label) == std::vector<std::uint8_t>{7, 8, 9});
    CHECK(to_vector(again) == seen);
  }
  CHECK_THROWS_WITH(data::TensorDataset(data::column(std::vector<float>(3)), data::column(std::vector<float>(2))),
                    "TensorDataset: column 0 has 3 rows, column 1 has 2");
  CHECK_THROWS_WITH(data::column<Shape<4>>(std::vector<float>(6)), "column: 6 elements do not fill rows of shape (4,)");
}

TEST_CASE("impossible loader options are refused", "[data]") {
  const auto make = [](data::LoaderOptions options) {
    return data::DataLoader(numbers(3), data::SequentialSampler{}, Cpu{}, options);
  };
  CHECK_THROWS_WITH(make({.batch_size = 0}), "batches: a batch has at least 1 sample, got batch size 0");
  CHECK_THROWS_WITH(make({.workers = -2}), "prefetch: workers is at least 0, got -2");
  CHECK_THROWS_WITH(make({.workers = 1, .ahead = 0}), "prefetch: ahead is at least 1, got 0");
}
