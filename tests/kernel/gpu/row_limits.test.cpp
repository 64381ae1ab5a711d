// SPDX-License-Identifier: Apache-2.0
//
// Rows beside the shared memory that each architecture gives a block: for every length, a plan asks for no more than there is,
// and keeps the row there as long as it fits. A kernel has nothing else in shared memory (tests/cuda/check_ptx.py).

#include <tests/kernel/gpu/row_programs.hpp>

#include <catch2/catch.hpp>

using namespace kernel_test;

namespace {

/// Bytes of shared memory that a block may ask for: sm_75, sm_80, sm_86 with sm_89 and sm_120, sm_90 with sm_100.
constexpr std::size_t limits[] = {64 << 10, 163 << 10, 99 << 10, 227 << 10};

/// The first length whose row does not stay in shared memory though that is asked for, or 0.
template <class P> std::int64_t first_wrong(std::size_t limit, std::int64_t longest) {
  constexpr RowTraits traits = row_plan_of<P>.traits;
  const std::size_t exchange = twill::kernel::gpu::detail::exchange_room(traits);
  for (std::int64_t length = 1; length <= longest; ++length)
    for (const bool is_aligned : {true, false}) {
      const RowLaunch launch =
          choose_row_launch(traits, {.rows = 100'000, .length = length, .is_aligned = is_aligned}, limit);
      const std::int64_t vectors = (length + (is_aligned ? 0 : traits.vector - 1) + traits.vector - 1) / traits.vector;
      const auto elements = static_cast<std::size_t>((vectors * traits.vector + 15) / 16 * 16);
      const bool fits = exchange + elements * static_cast<std::size_t>(traits.kept_bytes) <= limit;
      if (launch.shared_bytes > limit) return length;
      if (launch.mode == RowMode::again && launch.width >= 32 && (launch.shared_elements > 0) != fits) return length;
    }
  return 0;
}

template <class P> void check_limits() {
  for (const std::size_t limit : limits) {
    CAPTURE(limit);
    CHECK(first_wrong<P>(limit, 120'000) == 0);
  }
}

/// The longest aligned row of many that stays in shared memory.
template <class P> constexpr std::int64_t longest_kept(std::size_t limit) {
  std::int64_t length = 131'072;
  while (choose_row_launch(row_plan_of<P>.traits, {.rows = 100'000, .length = length}, limit).shared_elements == 0)
    length -= 16;
  return length;
}

} // namespace

TEST_CASE("rows of every length ask for the shared memory that there is", "[kernel][gpu]") {
  check_limits<Softmax<float>>();
  check_limits<Softmax<bfloat16>>();
  check_limits<LayerNorm<float>>();
  check_limits<LayerNorm<bfloat16>>();
}

TEST_CASE("the longest rows in shared memory fill it", "[kernel][gpu]") {
  CHECK(longest_kept<Softmax<float>>(227 << 10) == 57'984);
  CHECK(longest_kept<Softmax<float>>(99 << 10) == 25'216);
  CHECK(longest_kept<Softmax<float>>(163 << 10) == 41'600);
}
