// SPDX-License-Identifier: Apache-2.0
//
// Who owns a row: the table of choices, and every possible launch of one program on the same operands, which all have to agree;
// and the same bits from devices of any size.

#include <tests/kernel/gpu/row_programs.hpp>

using namespace kernel_test;
namespace rows_of = twill::kernel::gpu::detail;

namespace {

constexpr std::size_t room = 227 << 10;
constexpr RowTraits softmax_traits = row_plan_of<Softmax<float>>.traits;
constexpr RowTraits sum_traits = row_plan_of<Sum<float>>.traits;

constexpr RowLaunch softmax_launch(std::int64_t rows, std::int64_t length, bool is_aligned = true) {
  return choose_row_launch(softmax_traits, {rows, length, is_aligned}, room);
}
constexpr RowLaunch sum_launch(std::int64_t rows, std::int64_t length) {
  return choose_row_launch(sum_traits, {rows, length, true}, room);
}

// four vectors of four floats: sixteen elements a thread
static_assert(softmax_traits.vector == 4 && softmax_traits.vectors == 4 && softmax_traits.stages == 3);
static_assert(softmax_traits.most_threads == 1024 && softmax_traits.revisits && softmax_traits.kept_bytes == 4);
static_assert(sum_traits.stages == 1 && !sum_traits.revisits && sum_traits.pass_vectors == 4);
static_assert(row_plan_of<Softmax<bfloat16>>.traits.vector == 8 && row_plan_of<Softmax<bfloat16>>.traits.vectors == 2);
static_assert(row_plan_of<Softmax<double>>.traits.vector == 2 &&
              row_plan_of<MaskedSoftmax<bfloat16>>.traits.vector == 4);
// three inputs at once: fewer threads, so that each has registers
static_assert(row_plan_of<LayerNormGradient<float>>.traits.most_threads == 512);

// parts of a warp, a warp, a block
static_assert(softmax_launch(100'000, 1).width == 1 && softmax_launch(100'000, 8).width == 1);
static_assert(softmax_launch(100'000, 16).width == 2 && softmax_launch(100'000, 128).width == 16);
static_assert(softmax_launch(100'000, 256).width == 32 && softmax_launch(100'000, 512).width == 32);
static_assert(softmax_launch(100'000, 512).teams() == 4 && softmax_launch(100, 512).teams() == 1);
static_assert(softmax_launch(1024, 1024).width == 64 && softmax_launch(1024, 1024).mode == RowMode::once);
static_assert(softmax_launch(1024, 1024, false).width == 96); // a misaligned row has one vector more
static_assert(softmax_launch(1024, 5000).width == 320 && softmax_launch(1024, 16384).width == 1024);
static_assert(softmax_launch(1024, 16384).mode == RowMode::once && softmax_launch(1024, 16385).mode == RowMode::again);
// then shared memory, then each stage anew
static_assert(softmax_launch(1024, 50'000).shared_elements == 50'000 && softmax_launch(1024, 50'000).chunks == 1);
static_assert(softmax_launch(1024, 60'000).shared_elements == 0 && softmax_launch(1024, 60'000).chunks == 1);
// few long rows are shared out
static_assert(softmax_launch(1, 10'000'000).chunks > 1000 && softmax_launch(1, 16'384).chunks == 1);
static_assert(sum_launch(1, 100'000'000).chunks > 1000 && sum_launch(1, 100'000'000).chunks <= 2048);
static_assert(sum_launch(1, 1'000'000).chunks == 245 && sum_launch(1, 16'383).chunks == 1);
static_assert(sum_launch(2000, 100'000).chunks == 1 && sum_launch(2000, 100'000).width == 512);
static_assert(sum_launch(3, std::int64_t{3} << 30).chunks > 1);
// a row is counted in 32 bits, however many there are
static_assert(sum_launch(1'000'000, std::int64_t{1} << 31).chunk_elements <= std::int64_t{1} << 30);

/// Every kind of launch that suits these rows.
template <class P> std::vector<RowLaunch> launches_of(std::int64_t length) {
  constexpr RowTraits traits = row_plan_of<P>.traits;
  std::vector<RowLaunch> all;
  const auto exchange = rows_of::exchange_room(traits);
  const std::int64_t vectors = (length + 2 * traits.vector - 2) / traits.vector;
  for (int width = 1; width <= traits.most_threads; width = width < 32 ? 2 * width : width + (width < 128 ? 32 : 128)) {
    RowLaunch launch{.mode = RowMode::once, .threads = width < 32 ? 32 : width, .width = width};
    launch.shared_bytes = width > 32 ? exchange : 0;
    if (traits.stages > 1 && std::int64_t{width} * traits.vectors >= vectors) all.push_back(launch);
    launch.mode = RowMode::again;
    if (width == 1 || width == 8 || width == 32 || width == 96 || width == 512) all.push_back(launch);
    const std::int64_t elements = rows_of::whole(vectors * traits.vector, 16);
    const std::size_t needed = exchange + static_cast<std::size_t>(elements * traits.kept_bytes);
    if (traits.revisits && needed <= room && (width == 32 || width == 256)) {
      launch.shared_elements = elements;
      launch.shared_bytes = needed;
      all.push_back(launch);
    }
  }
  for (const int threads : {32, 64, 256}) {
    const std::int64_t tile = std::int64_t{threads} * traits.pass_vectors * traits.vector;
    for (const std::int64_t tiles : {1, 3}) {
      RowLaunch launch{.mode = RowMode::again, .threads = threads, .width = threads};
      launch.chunk_elements = tiles * tile;
      launch.chunks = (length + launch.chunk_elements - 1) / launch.chunk_elements;
      launch.shared_bytes = exchange;
      if (launch.chunks > 1) all.push_back(launch);
    }
  }
  return all;
}

template <template <class> class Make> void check_launches(double tolerance) {
  unsigned seed = 10;
  for (const std::int64_t length : {1, 30, 257, 1001, 4100})
    for (const RowLaunch& launch : launches_of<Make<float>>(length)) {
      CAPTURE(length, static_cast<int>(launch.mode), launch.threads, launch.width, launch.shared_elements,
              launch.chunks);
      CHECK(error_of<Make, float>(Dims(3, length), launch, ++seed) < tolerance);
    }
}

template <class P> std::vector<std::byte> bytes_on(const twill::gpu::Properties& device, const Grid& grid) {
  const Bound<P> bound{grid, 7};
  run_rows_on<P>(RowQueue{device}, grid, bound.operands.data());
  std::vector<std::byte> all;
  for (const Memory& memory : bound.memory) all.insert(all.end(), memory.data(), memory.data() + memory.bytes());
  return all;
}

} // namespace

TEST_CASE("every launch of a softmax gives the same result", "[kernel][gpu]") { check_launches<Softmax>(1e-6); }
TEST_CASE("every launch of a cross entropy gives the same results", "[kernel][gpu]") {
  check_launches<CrossEntropy>(1e-5);
}
TEST_CASE("every launch of five statistics gives the same results", "[kernel][gpu]") {
  check_launches<Statistics>(5e-5);
}
TEST_CASE("every launch of a norm over two tensors gives the same result", "[kernel][gpu]") {
  check_launches<RmsNorm>(1e-6);
}

TEST_CASE("row programs give the same bits on devices with any number of processors", "[kernel][gpu]") {
  twill::gpu::Properties small = RowQueue::h200();
  small.processors = 4;
  for (const Grid& grid : {Grid(1, 300'000), Grid(40, 1000), Grid(3, 70'000)}) {
    CHECK(bytes_on<Sum<float>>(RowQueue::h200(), grid) == bytes_on<Sum<float>>(small, grid));
    CHECK(bytes_on<Softmax<float>>(RowQueue::h200(), grid) == bytes_on<Softmax<float>>(small, grid));
  }
}

TEST_CASE("more long rows than there is working memory for take several launches", "[kernel][gpu]") {
  const Grid grid{300, 2500};
  RowLaunch launch{.mode = RowMode::again, .threads = 32, .width = 32};
  launch.chunk_elements = row_plan_of<Statistics<float>>.traits.pass_vectors * 4 * 32;
  launch.chunks = (2500 + launch.chunk_elements - 1) / launch.chunk_elements;
  launch.shared_bytes = rows_of::exchange_room(row_plan_of<Statistics<float>>.traits);
  const Bound<Statistics<float>> ours{grid, 5}, expected{grid, 5};
  const RowQueue queue{RowQueue::h200(), std::size_t{40} << 10};
  run_rows_on<Statistics<float>>(queue, grid, ours.operands.data(), launch);
  run_rows_on<Statistics<float>>(RowQueue{}, grid, expected.operands.data());
  CHECK(queue.launches.size() > 1);
  CHECK(difference_of(ours, expected) < 5e-5);
}
