// SPDX-License-Identifier: Apache-2.0
//
// The elementwise kernel of GPUs, run on the host: every kind of line, element type and layout, beside the reference, bit
// for bit; and grids cut into launches when offsets would not fit.

#include "layouts.hpp"

#include <twill/kernel/gpu/elementwise.hpp>

#include <catch2/catch.hpp>

using namespace gpu_test;

namespace {

using enum twill::kernel::Primitive;

/// The largest difference of any output from the reference's.
template <class P> double difference_on_blocks(const Grid& grid, unsigned seed, Layouts layouts) {
  const Laid<P> ours{grid, seed, layouts}, expected{grid, seed, layouts};
  kernel::gpu::run_elementwise<P>(BlockQueue{}, grid, ours.operands.data());
  reference::run(P{}, grid, expected.operands.data());
  return difference_of(ours, expected);
}

template <class P> void check_everywhere() {
  // around chunks of 2, 4 and 8, around a block's worth of them, and primes
  for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 127, 1009, 2048, 2049}) {
    CAPTURE(n);
    for (const Layouts layouts : {Layouts::plain, Layouts::aligned, Layouts::any}) {
      CAPTURE(layouts);
      const auto seed = static_cast<unsigned>(3 * n) + static_cast<unsigned>(layouts);
      CHECK(difference_on_blocks<P>(Dims(n), seed, layouts) == 0);
      CHECK(difference_on_blocks<P>(Dims(3, n), seed + 1, layouts) == 0);
      CHECK(difference_on_blocks<P>(Dims(n, 5), seed + 2, layouts) == 0);
    }
  }
  const Grid grids[] = {Dims{},
                        Dims(1, 1, 1),
                        Dims(2, 3, 5, 7),
                        Dims(4, 1, 8, 16),
                        Dims(2, 1, 3, 1, 2, 3, 1, 5),
                        Dims(2, 2, 2, 2, 2, 2, 2, 3),
                        Dims(3, 64, 32),
                        Dims(5, 0, 3)};
  for (const Grid& grid : grids)
    for (unsigned seed = 0; seed < 12; ++seed) {
      CAPTURE(to_string(grid), seed);
      CHECK(difference_on_blocks<P>(grid, seed, static_cast<Layouts>(seed % 3)) == 0);
    }
}

using Chain = Program<Apart<float>, Apart<float>, Apart<float>, Apart<float>, Step<multiply, 0, 1>, Step<add, 4, 2>,
                      Step<tanh, 5>, Step<multiply, 6, 3>, Immediate<float>, Step<multiply, 8, 0>, Step<subtract, 7, 9>,
                      Out<float, 10>>;
using Promised = Program<Along<float>, Shared<float>, Step<multiply, 0, 1>, Step<exp, 1>, Step<add, 2, 3>,
                         Out<float, 4>, Out<float, 3>>;
using Narrow = Program<Apart<half>, Along<bfloat16>, Cast<float, 0>, Cast<float, 1>, Step<add, 2, 3>, Cast<half, 4>,
                       Cast<bfloat16, 4>, Step<multiply, 0, 0>, Out<half, 5>, Out<bfloat16, 6>, Out<half, 7>>;
using Bytes = Program<Apart<bool>, Along<std::uint8_t>, Shared<bool>, Step<logical_xor, 0, 2>, Step<add, 1, 1>,
                      Step<where, 3, 1, 4>, Out<std::uint8_t, 5>, Out<bool, 3>>;
using Mixed = Program<Apart<bool>, Apart<half>, Apart<std::int32_t>, Apart<double>, Cast<double, 1>, Cast<double, 2>,
                      Step<where, 0, 4, 5>, Step<add, 6, 3>, Cast<std::int64_t, 7>, Out<std::int64_t, 8>, Cast<bool, 7>,
                      Out<bool, 10>, Out<double, 7>>;
using Gathered = Program<Apart<std::int64_t>, Gather<float, 0>, Iota, Gather<float, 0, Access::contiguous>,
                         Gather<half, 0, Access::strided>, Cast<float, 4>, Step<add, 1, 3>, Step<add, 6, 5>,
                         Cast<float, 2>, Step<add, 7, 8>, Out<float, 9>>;
using Drawn = Program<Apart<float>, Immediate<std::int64_t>, Immediate<std::int64_t>, Immediate<std::int64_t>, Iota,
                      Step<random_uniform, 1, 2, 3, 4>, Immediate<float>, Step<less, 5, 6>, Immediate<float>,
                      Step<where, 7, 0, 8>, Immediate<std::int64_t>, Step<random_integer, 1, 2, 10, 4>, Out<float, 9>,
                      Out<float, 5>, Out<std::int64_t, 11>>;
using Fill = Program<Immediate<half>, Out<half, 0>>;
using Copy = Program<Apart<double>, Out<double, 0>>;

} // namespace

TEST_CASE("chains of floats equal the reference in every layout", "[kernel][gpu]") {
  check_everywhere<Chain>();
  check_everywhere<Promised>();
}

TEST_CASE("16-bit floats compute in float and round once", "[kernel][gpu]") { check_everywhere<Narrow>(); }

TEST_CASE("bytes and truth values move four at a time", "[kernel][gpu]") { check_everywhere<Bytes>(); }

TEST_CASE("all element types meet in one kernel", "[kernel][gpu]") {
  check_everywhere<Mixed>();
  check_everywhere<Copy>();
  check_everywhere<Fill>();
}

TEST_CASE("gathered leaves and counters find their elements", "[kernel][gpu]") { check_everywhere<Gathered>(); }

TEST_CASE("random draws are the host's, bit for bit", "[kernel][gpu]") { check_everywhere<Drawn>(); }

TEST_CASE("grids too large for 31 bits are cut into launches", "[kernel][gpu]") {
  for (const std::int64_t most : {70, 200, 1500})
    for (const Grid& grid : {Dims(1009), Dims(3, 333), Dims(129, 7), Dims(2, 3, 4, 5, 6)})
      for (unsigned seed = 0; seed < 6; ++seed) {
        CAPTURE(most, to_string(grid), seed);
        std::vector<twill::gpu::LaunchShape> launches{};
        const Laid<Gathered> ours{grid, seed, Layouts::any}, expected{grid, seed, Layouts::any};
        kernel::gpu::run_elementwise<Gathered>(BlockQueue{.launches = &launches}, grid, ours.operands.data(), most);
        reference::run(Gathered{}, grid, expected.operands.data());
        CHECK(difference_of(ours, expected) == 0);
        CHECK(launches.size() >= static_cast<std::size_t>(grid.elements() / most));
      }
}

TEST_CASE("an output of a GPU's kernel may lie where an input lies", "[kernel][gpu]") {
  const Grid grid(3, 1009);
  const Laid<Chain> ours{grid, 1, Layouts::plain}, expected{grid, 1, Layouts::plain};
  std::vector<Operand> operands = ours.operands;
  operands.back() = operands[0];
  for (int i = 0; i < 4; ++i) { // the first input's own gaps stay
    operands[static_cast<std::size_t>(i)].strides = {1009, 1};
    operands[static_cast<std::size_t>(i)].data =
        i == 0 ? ours.held.back().bytes.get() : operands[static_cast<std::size_t>(i)].data;
  }
  operands.back() = operands[0];
  std::memcpy(ours.held.back().bytes.get(), ours.held[0].bytes.get(), ours.held.back().size);
  std::vector<Operand> apart = expected.operands;
  for (int i = 0; i < 4; ++i) apart[static_cast<std::size_t>(i)].strides = {1009, 1};
  kernel::gpu::run_elementwise<Chain>(BlockQueue{}, grid, operands.data());
  reference::run(Chain{}, grid, apart.data());
  CHECK(std::memcmp(ours.held.back().bytes.get(), expected.held.back().bytes.get(), ours.held.back().size) == 0);
}
