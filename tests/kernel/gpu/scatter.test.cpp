// SPDX-License-Identifier: Apache-2.0
//
// Writing by index by the kernel bodies of GPUs, run on the host, against a loop in row-major order: many writes to one place,
// whole slices, several index tensors, more indices than a block holds.

#include "tests/support/host_blocks.hpp"
#include "tests/support/host_sort.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/kernel/gpu/scatter.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

using namespace twill;
using namespace twill::kernel::gpu;

namespace {

std::mt19937 random_numbers{twill::test::test_seed()};

/// What the kernels need to know: of at most two index tensors.
struct Plan {
  Dims extents{};
  Dims to_strides{};
  Dims from_strides{};
  std::size_t count = 0;
  const std::int64_t* index[2]{};
  Dims index_strides[2]{};
  std::int64_t step[2]{};
};

template <bool Adds> void check(const Plan& plan, std::int64_t lowest, std::int64_t highest) {
  const Dims strides = contiguous_strides(plan.extents);
  std::vector<float> from(static_cast<std::size_t>(plan.extents.elements()));
  for (float& x : from) x = static_cast<float>(random_numbers() % 10007) * 0.37F;
  std::vector<float> found(static_cast<std::size_t>(highest - lowest + 1));
  for (float& x : found) x = static_cast<float>(random_numbers() % 101);
  std::vector<float> expected = found;
  for (std::int64_t i = 0; i < plan.extents.elements(); ++i) {
    std::int64_t to = -lowest, source = 0;
    for (int axis = 0; axis < plan.extents.rank; ++axis) {
      const std::int64_t position = i / strides[axis] % plan.extents[axis];
      to += position * plan.to_strides[axis];
      source += position * plan.from_strides[axis];
    }
    for (std::size_t k = 0; k < plan.count; ++k) {
      std::int64_t place = 0;
      for (int axis = 0; axis < plan.extents.rank; ++axis)
        place += i / strides[axis] % plan.extents[axis] * plan.index_strides[k][axis];
      to += plan.index[k][place] * plan.step[k];
    }
    float& target = expected[static_cast<std::size_t>(to)];
    target = Adds ? target + from[static_cast<std::size_t>(source)] : from[static_cast<std::size_t>(source)];
  }
  scatter_elements<Adds>(Cpu{0}, plan, lowest, highest, found.data() - lowest, static_cast<const float*>(from.data()));
  CHECK(found == expected);
}

std::vector<std::int64_t> some_indices(std::int64_t count, std::int64_t below) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
  for (auto& index : indices) index = static_cast<std::int64_t>(random_numbers()) % below;
  return indices;
}

} // namespace

TEST_CASE("slices are written and added in the order of their indices", "[kernel][gpu]") {
  for (const std::int64_t count : {0, 1, 7, 2048, 2049, 5003})
    for (const std::int64_t rows : {1, 3, 211}) {
      const auto index = some_indices(count, rows);
      const Plan plan{.extents = Dims(count, 5),
                      .to_strides = Dims(0, 1),
                      .from_strides = Dims(5, 1),
                      .count = 1,
                      .index = {index.data()},
                      .index_strides = {Dims(1, 0)},
                      .step = {5}};
      check<true>(plan, 0, rows * 5 - 1);
      check<false>(plan, 0, rows * 5 - 1);
    }
}

TEST_CASE("indices count backwards through a flipped view, and vary along two axes", "[kernel][gpu]") {
  const auto rows = some_indices(37, 11);
  const auto columns = some_indices(19, 13);
  const Plan plan{.extents = Dims(37, 19, 3),
                  .to_strides = Dims(0, 0, 1),
                  .from_strides = Dims(1, 37, 0),
                  .count = 2,
                  .index = {rows.data(), columns.data()},
                  .index_strides = {Dims(1, 0, 0), Dims(0, 1, 0)},
                  .step = {-13 * 3, 3}};
  check<true>(plan, -10 * 39, 12 * 3 + 2);
  check<false>(plan, -10 * 39, 12 * 3 + 2);
}

TEST_CASE("a broadcast place is written by all who mean it", "[kernel][gpu]") {
  const auto index = some_indices(3, 2);
  const Plan plan{.extents = Dims(3, 4),
                  .to_strides = Dims(0, 0),
                  .from_strides = Dims(4, 1),
                  .count = 1,
                  .index = {index.data()},
                  .index_strides = {Dims(1, 0)},
                  .step = {1}};
  check<true>(plan, 0, 1);
  check<false>(plan, 0, 1);
}

TEST_CASE("a block adds a run of many entries, and a thread a short one", "[kernel][gpu]") {
  using kernel::gpu::long_run;
  SortedWrites<float> writes{.entries = 10'000, .slice = 77, .repeats = 3};
  const LongRunParameters<float> wide{writes};
  CHECK((wide.lanes == 32 && wide.tiles == 3 && wide.candidates == 157 && wide.blocks() == 3 * 3 * 157));
  writes.slice = 1;
  const LongRunParameters<float> narrow{writes};
  CHECK((narrow.lanes == 1 && narrow.tiles == 1));

  // runs of 63, 64 and 200 entries, one of which goes nowhere: each kernel leaves the other's alone
  std::vector<Target> keys(63, 0);
  keys.insert(keys.end(), static_cast<std::size_t>(long_run), 1);
  keys.insert(keys.end(), 200, 2);
  keys.insert(keys.end(), 100, 9);
  const std::vector<float> ones(keys.size(), 1.0F);
  std::vector<std::uint32_t> order(keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::vector<float> sums(10);
  writes = {.from = ones.data(),
            .to = sums.data(),
            .keys = keys.data(),
            .order = order.data(),
            .entries = static_cast<std::int64_t>(keys.size()),
            .outside = 9};
  writes.from_entry.append(writes.entries, 1);
  const auto added = [&](auto body, const twill::gpu::LaunchShape& shape, const auto& parameters) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    enqueue(Team::serial(), body, shape, parameters);
    return std::vector<float>(sums.begin(), sums.begin() + 3);
  };
  const RunParameters<float> all{writes, {1, writes.entries}, {writes.entries, writes.entries}};
  const LongRunParameters<float> long_runs{writes};
  CHECK(added(WriteRuns<float, true>{}, one_thread_each(writes.elements()), all) == std::vector<float>{63, 0, 0});
  CHECK(added(AddLongRuns<float>{},
              {static_cast<unsigned>(long_runs.blocks()), tile_threads, AddLongRuns<float>::shared_bytes},
              long_runs) == std::vector<float>{0, 64, 200});
  CHECK(sums[9] == 0);
}
