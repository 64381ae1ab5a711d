// SPDX-License-Identifier: Apache-2.0
//
// The column kernel of GPUs, run on the host, beside the reference: every reduction and element type, one row and many, one
// column and many, outputs beside the sums, rows shared by several blocks, layouts of any kind.

#include "layouts.hpp"

#include <twill/kernel/gpu/columns.hpp>

#include <catch2/catch.hpp>

using namespace gpu_test;

namespace {

using enum twill::kernel::Primitive;

/// A queue with working memory, which has to be found as it is left.
class WorkingQueue {
public:
  explicit WorkingQueue(std::size_t bytes = std::size_t{1} << 22, int counters = 64)
      : memory_(bytes / sizeof(double)),
        counters_(static_cast<std::size_t>(counters)),
        working_{memory_.data(), counters_.data(), {bytes, counters}} {
    queue.working = &working_;
    queue.launches = &launches;
  }
  [[nodiscard]] bool is_clean() const {
    return std::all_of(counters_.begin(), counters_.end(), [](unsigned counter) { return counter == 0; });
  }
  BlockQueue queue{};
  std::vector<twill::gpu::LaunchShape> launches{};

private:
  std::vector<double> memory_;
  std::vector<unsigned> counters_;
  twill::gpu::WorkingSpace working_;
};

template <class P>
double difference_on_blocks(const Grid& grid, unsigned seed, Layouts layouts, WorkingQueue& working,
                            std::int64_t most = kernel::gpu::most_elements) {
  const Laid<P> ours{grid, seed, layouts}, expected{grid, seed, layouts};
  kernel::gpu::run_columns<P>(working.queue, grid, ours.operands.data(), most);
  reference::run(P{}, grid, expected.operands.data());
  return working.is_clean() ? difference_of(ours, expected) : std::numeric_limits<double>::infinity();
}

template <class P> void check_everywhere(double tolerance) {
  WorkingQueue working{};
  unsigned seed = 0;
  for (const std::int64_t rows : {0, 1, 2, 7, 63, 1009})
    for (const std::int64_t columns : {0, 1, 2, 3, 5, 8, 31, 129})
      for (const Layouts layouts : {Layouts::plain, Layouts::aligned, Layouts::any}) {
        CAPTURE(rows, columns, layouts);
        CHECK(difference_on_blocks<P>(Dims(rows, columns), ++seed, layouts, working) <= tolerance);
      }
  for (const Grid& grid :
       {Dims{}, Dims(19), Dims(0), Dims(5, 3, 7, 2), Dims(40, 1, 16, 8), Dims(3, 2, 1, 2, 3, 2, 1, 2)})
    for (unsigned i = 0; i < 9; ++i) {
      CAPTURE(to_string(grid), i);
      CHECK(difference_on_blocks<P>(grid, ++seed, static_cast<Layouts>(i % 3), working) <= tolerance);
    }
}

using Sums = Program<Apart<float>, Shared<float>, Step<multiply, 0, 1>, ReduceColumns<Reduction::sum, 2>,
                     ReduceColumns<Reduction::max, 0>, Out<float, 2>, Out<float, 3>, Out<float, 4>, Out<float, 3>>;
using Halves = Program<Along<half>, Cast<float, 0>, ReduceColumns<Reduction::sum, 1>, ReduceColumns<Reduction::sum, 0>,
                       ReduceColumns<Reduction::min, 0>, Out<float, 2>, Out<half, 3>, Out<half, 4>>;
using Truth = Program<Apart<bool>, ReduceColumns<Reduction::any, 0>, ReduceColumns<Reduction::all, 0>, Out<bool, 1>,
                      Out<bool, 2>>;
using Whole = Program<Apart<std::int32_t>, Apart<std::uint8_t>, Cast<std::int64_t, 1>, Iota, Step<add, 2, 3>,
                      ReduceColumns<Reduction::sum, 0>, ReduceColumns<Reduction::product, 0>,
                      ReduceColumns<Reduction::max, 4>, ReduceColumns<Reduction::sum, 1>, Out<std::int32_t, 5>,
                      Out<std::int32_t, 6>, Out<std::int64_t, 7>, Out<std::uint8_t, 8>, Out<std::int64_t, 4>>;
using Doubles = Program<Apart<double>, Step<square, 0>, ReduceColumns<Reduction::sum, 1>, Out<double, 2>>;
using Gathered =
    Program<Apart<std::int64_t>, Gather<float, 0>, ReduceColumns<Reduction::min, 1>, Out<float, 2>, Out<float, 1>>;

} // namespace

TEST_CASE("a GPU's columns are summed beside elementwise outputs", "[kernel][gpu]") {
  check_everywhere<Sums>(1e-4); // the reference itself adds a thousand floats one after the other
}

TEST_CASE("a GPU's columns of 16-bit floats are summed in float", "[kernel][gpu]") { check_everywhere<Halves>(1e-3); }

TEST_CASE("a GPU's columns of integers and truth values are exact", "[kernel][gpu]") {
  check_everywhere<Truth>(0);
  check_everywhere<Whole>(0);
  check_everywhere<Gathered>(0);
  check_everywhere<Doubles>(1e-13);
}

TEST_CASE("many rows are shared by blocks, and the bits are the same whenever", "[kernel][gpu]") {
  for (const Grid& grid : {Dims(20011, 3), Dims(5003, 131), Dims(100003)}) {
    CAPTURE(to_string(grid));
    WorkingQueue working{};
    CHECK(difference_on_blocks<Sums>(grid, 5, Layouts::plain, working) <= 1e-4);
    REQUIRE(working.launches.size() == 1);
    CHECK(working.launches[0].blocks > 1);
    const Laid<Sums> first{grid, 9, Layouts::any}, second{grid, 9, Layouts::any};
    working.queue.device.processors = 1;
    kernel::gpu::run_columns<Sums>(working.queue, grid, first.operands.data());
    working.queue.device.processors = 500;
    kernel::gpu::run_columns<Sums>(working.queue, grid, second.operands.data());
    CHECK(difference_of(first, second) == 0);
  }
}

TEST_CASE("columns go without working memory, and in pieces", "[kernel][gpu]") {
  WorkingQueue none{0, 0};
  CHECK(difference_on_blocks<Sums>(Dims(5003, 31), 3, Layouts::plain, none) <= 1e-4);
  CHECK(none.launches[0].blocks == 1);
  WorkingQueue working{};
  CHECK(difference_on_blocks<Whole>(Dims(97, 31, 17), 3, Layouts::any, working, 200) == 0);
  CHECK(working.launches.size() >= 4);
}

TEST_CASE("rows and columns are shared by the shape alone", "[kernel][gpu]") {
  using kernel::gpu::ColumnShares;
  using kernel::gpu::share_columns;
  constexpr std::size_t memory = twill::gpu::allowance_bytes;
  constexpr int counters = twill::gpu::allowance_counters;
  // rows, chunks of four floats
  CHECK(share_columns(1024, 256, 32, memory, counters) ==
        ColumnShares{.groups = 8, .shares = 32, .share_rows = 32, .column_lanes = 32, .row_lanes = 8});
  CHECK(share_columns(1'000'000, 1, 32, memory, counters) ==
        ColumnShares{.groups = 1, .shares = 782, .share_rows = 1280, .column_lanes = 1, .row_lanes = 256});
  CHECK(share_columns(8, 1'000'000, 32, memory, counters) ==
        ColumnShares{.groups = 31250, .shares = 1, .share_rows = 8, .column_lanes = 32, .row_lanes = 8});
  CHECK(share_columns(0, 5, 32, memory, counters) ==
        ColumnShares{.groups = 1, .shares = 1, .share_rows = 1, .column_lanes = 8, .row_lanes = 32});
  // the sums of all shares fit
  for (const std::uint32_t chunks : {1U, 100U, 10'000U, 1'000'000U})
    for (const std::int64_t rows : {1, 1000, 1'000'000}) {
      const ColumnShares shares = share_columns(rows, chunks, 64, memory, counters);
      CAPTURE(rows, chunks);
      CHECK((shares.shares == 1 || std::size_t{shares.shares} * chunks * 64 <= memory));
      CHECK(shares.share_rows * shares.shares >= rows);
      CHECK(shares.share_rows * (shares.shares - 1) < std::max<std::int64_t>(rows, 1));
      CHECK(std::uint64_t{shares.groups} * static_cast<std::uint64_t>(shares.column_lanes) >= chunks);
    }
}
