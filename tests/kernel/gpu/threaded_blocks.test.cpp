// SPDX-License-Identifier: Apache-2.0
//
// Kernel bodies of GPUs with a thread of the host for each thread of a block, in small sizes: under ThreadSanitizer a barrier
// that is missing is a data race. Values are compared as well, though other tests do so in more shapes.

#include <tests/kernel/gpu/row_programs.hpp>
#include <tests/support/host_sort.hpp>
#include <tests/support/threaded_block.hpp>

#include <twill/kernel/gpu/attention.hpp>
#include <twill/kernel/gpu/columns.hpp>
#include <twill/kernel/gpu/product.hpp>
#include <twill/kernel/gpu/queue_sort.hpp>
#include <twill/kernel/gpu/rows.hpp>
#include <twill/kernel/gpu/scan.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

using namespace kernel_test;
using twill::test::ThreadedQueue;
namespace on_gpu = twill::kernel::gpu;

namespace {

template <class P> double threaded_rows(const Grid& grid, const std::optional<RowLaunch>& launch = {}) {
  const ThreadedQueue queue{};
  const Bound<P> ours{grid, 1}, expected{grid, 1};
  if (launch) {
    typename on_gpu::RowProgram<P>::Parameters parameters{};
    on_gpu::bind_rows<P>(grid, ours.operands.data(), parameters);
    on_gpu::launch_rows<P>(queue, *launch, parameters);
  } else {
    on_gpu::run_row_program(P{}, queue, grid, ours.operands.data());
  }
  reference::run(P{}, grid, expected.operands.data());
  return difference_of(ours, expected);
}

/// Numbers between -1 and 1 that repeat late.
std::vector<float> some_numbers(std::int64_t count) {
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<float>(i * i % 1009));
  return numbers;
}

} // namespace

TEST_CASE("threads of a block share rows without a race", "[kernel][gpu]") {
  CHECK(threaded_rows<Softmax<float>>(Dims(3, 19)) <= 1e-5);
  CHECK(threaded_rows<Softmax<float>>(Dims(2, 700)) <= 1e-5);
  CHECK(threaded_rows<LayerNormGradient<float>>(Dims(2, 701)) <= 1e-3);
  constexpr RowTraits traits = row_plan_of<Softmax<float>>.traits;
  RowLaunch launch{.mode = RowMode::again, .threads = 96, .width = 96};
  launch.shared_bytes = on_gpu::detail::exchange_room(traits);
  CHECK(threaded_rows<Softmax<float>>(Dims(2, 900), launch) <= 1e-5);
  launch.shared_elements = 912;
  launch.shared_bytes += 912 * static_cast<std::size_t>(traits.kept_bytes);
  CHECK(threaded_rows<Softmax<float>>(Dims(2, 900), launch) <= 1e-5);
  RowLaunch chunks{.mode = RowMode::again, .threads = 64, .width = 64, .chunks = 3, .chunk_elements = 512};
  chunks.shared_bytes = on_gpu::detail::exchange_room(traits);
  CHECK(threaded_rows<Softmax<float>>(Dims(2, 1200), chunks) <= 1e-5);
}

TEST_CASE("threads of a block share columns without a race", "[kernel][gpu]") {
  using Sums = Program<Along<float>, ReduceColumns<Reduction::sum, 0>, ReduceColumns<Reduction::max, 0>, Out<float, 1>,
                       Out<float, 2>>;
  for (const Grid& grid : {Grid(Dims(37, 5)), Grid(Dims(3000, 3))}) {
    const Bound<Sums> ours{grid, 1}, expected{grid, 1};
    on_gpu::run_columns<Sums>(ThreadedQueue{}, grid, ours.operands.data());
    reference::run(Sums{}, grid, expected.operands.data());
    CHECK(difference_of(ours, expected) <= 1e-4);
  }
}

TEST_CASE("threads of a block scan and sort without a race", "[kernel][gpu]") {
  const ThreadedQueue queue{};
  for (const std::int64_t length : {100, 5000}) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(length)), sums(numbers.size()), totals(64);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i * i % 97);
    const on_gpu::ScanPlan plan = on_gpu::plan_scan({1, length, 1});
    REQUIRE(on_gpu::scan_totals({1, length, 1}, plan) <= 64);
    using Sum = twill::kernel::Running<Reduction::sum>;
    on_gpu::enqueue_scan<Sum>(queue, numbers.data(), sums.data(), {1, length, 1}, plan, totals.data());
    std::vector<std::int64_t> expected(numbers.size());
    std::partial_sum(numbers.begin(), numbers.end(), expected.begin());
    CHECK(sums == expected);

    on_gpu::QueueSort<std::uint32_t> sorted{queue, length};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      sorted.keys()[i] = static_cast<std::uint32_t>(numbers[i]);
      sorted.values()[i] = static_cast<std::uint32_t>(i);
    }
    sorted.sort(queue, 7);
    std::vector<std::uint32_t> order(numbers.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return numbers[a] < numbers[b]; });
    CHECK(std::equal(order.begin(), order.end(), sorted.values()));
  }
}

TEST_CASE("threads of a block share the tiles of a product without a race", "[kernel][gpu]") {
  for (const std::int64_t rows : {17, 130}) {
    constexpr std::int64_t columns = 19, inner = 37;
    const std::vector<float> a = some_numbers(rows * inner), b = some_numbers(inner * columns);
    std::vector<float> c(static_cast<std::size_t>(rows * columns));
    twill::kernel::ProductStack<float> stack{.m = rows, .n = columns, .k = inner};
    stack.a = {a.data(), inner, 1, {}};
    stack.b = {b.data(), columns, 1, {}};
    stack.c = c.data();
    stack.c_row_stride = columns;
    on_gpu::tiled_products(ThreadedQueue{}, stack, 1.0F, 0.0F);
    double worst = 0;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < inner; ++k)
          sum += double{a[static_cast<std::size_t>(i * inner + k)]} * b[static_cast<std::size_t>(k * columns + j)];
        worst = std::max(worst, std::abs(sum - c[static_cast<std::size_t>(i * columns + j)]));
      }
    CHECK(worst <= 1e-4);
  }
}

TEST_CASE("threads of a block share the tiles of attention without a race", "[kernel][gpu]") {
  constexpr std::int64_t queries = 11, keys = 45, width = 35;
  const std::vector<float> q = some_numbers(queries * width), k = some_numbers(keys * width), g = q;
  std::vector<float> out(queries * width), sums(queries), dq(queries * width), dk(keys * width), dv(keys * width);
  const std::vector<float> delta = some_numbers(queries);
  on_gpu::AttentionParameters<float> parameters{};
  parameters.in.shape = {.batches = 1, .queries = queries, .keys = keys, .width = width, .value_width = width};
  parameters.in.q = q.data();
  parameters.in.k = parameters.in.v = k.data();
  parameters.out = out.data();
  parameters.logsumexp = sums.data();
  const ThreadedQueue queue{};
  on_gpu::enqueue_attention(queue, on_gpu::AttentionForward<float>{}, parameters, queries);
  double sum = 0;
  for (std::int64_t key = 0; key < keys; ++key) {
    double score = 0;
    for (std::int64_t i = 0; i < width; ++i)
      score += double{q[static_cast<std::size_t>(i)]} * k[static_cast<std::size_t>(key * width + i)];
    sum += std::exp(score);
  }
  CHECK(std::abs(std::log(sum) - sums[0]) <= 1e-4);
  parameters.backward = {delta.data(), sums.data(), g.data(), dq.data(), dk.data(), dv.data()};
  on_gpu::enqueue_attention(queue, on_gpu::AttentionOfQueries<float>{}, parameters, queries);
  on_gpu::enqueue_attention(queue, on_gpu::AttentionOfKeys<float>{}, parameters, keys);
  const auto is_finite = [](float x) { return std::isfinite(x); };
  CHECK(std::all_of(dq.begin(), dq.end(), is_finite));
  CHECK(std::all_of(dk.begin(), dk.end(), is_finite));
  CHECK(std::all_of(dv.begin(), dv.end(), is_finite));
}
