// SPDX-License-Identifier: Apache-2.0
//
// What a launch on a GPU looks like, as a table: how dimensions are arranged, which way a grid is walked, how each operand is
// reached, how many blocks of how many threads. No kernel runs here.

#include <twill/kernel/gpu/blocks.hpp>
#include <twill/kernel/gpu/divisor.hpp>
#include <twill/kernel/gpu/elementwise.hpp>
#include <twill/kernel/table.hpp>

#include <catch2/catch.hpp>

#include <random>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::kernel;
using namespace twill::kernel::gpu;

namespace {

/// An operand of floats at an address that is never touched.
struct At {
  std::array<std::int64_t, max_rank> strides{};
  std::uintptr_t address = 4096;
  int bytes = 4;
  Access access = Access::strided;
};

struct Expected {
  const char* sentence;
  Grid grid;
  int lanes;
  std::vector<At> inputs;
  At output;
  Way way;
  std::uint32_t chunks;
  std::string modes; ///< v, b, s, i for each input and the output
};

std::string letters(const OperandParameters* operands, std::size_t count) {
  std::string text;
  for (std::size_t o = 0; o < count; ++o) text += name(operands[o].mode)[0];
  return text;
}

const Expected table[] = {
    {"contiguous tensors are one row of vectors", Dims(3, 5, 8), 4, {{{40, 8, 1}}}, {{40, 8, 1}}, Way::rows, 30, "vv"},
    {"a tail needs no other kernel", Dims(1, 1009), 4, {{{1009, 1}}}, {{1009, 1}}, Way::rows, 253, "vv"},
    {"one misaligned operand demotes no other", Dims(4096), 4, {{{1}}, {{1}, 4100}}, {{1}}, Way::rows, 1024, "vsv"},
    {"when most are misaligned, threads interleave",
     Dims(4096),
     4,
     {{{1}, 4100}, {{1}, 4104}},
     {{1}, 4108},
     Way::interleaved_rows,
     1024,
     "sss"},
    {"a bias is a broadcast down, a vector along",
     Dims(100, 64),
     4,
     {{{64, 1}}, {{0, 1}}},
     {{64, 1}},
     Way::rows,
     1600,
     "vvv"},
    {"a number for each row is broadcast in a register",
     Dims(100, 64),
     4,
     {{{64, 1}}, {{1, 0}}},
     {{64, 1}},
     Way::rows,
     1600,
     "vbv"},
    {"a number for all is broadcast", Dims(100, 64), 4, {{{64, 1}}, {{0, 0}}}, {{64, 1}}, Way::rows, 1600, "vbv"},
    {"short odd rows are flattened, and only the broadcast operand divides",
     Dims(1000, 3),
     4,
     {{{3, 1}}, {{0, 1}}},
     {{3, 1}},
     Way::flattened,
     750,
     "viv"},
    {"rows with gaps stay vectors when they start aligned",
     Dims(10, 60),
     4,
     {{{64, 1}}},
     {{60, 1}},
     Way::rows,
     150,
     "vv"},
    {"rows that start anywhere interleave",
     Dims(10, 61),
     4,
     {{{64, 1}, 4100}},
     {{67, 1}},
     Way::interleaved_rows,
     160,
     "ss"},
    {"a transposed pair is walked the other way round",
     Dims(60, 40),
     4,
     {{{1, 60}}, {{1, 60}}},
     {{1, 60}},
     Way::rows,
     600,
     "vvv"},
    {"strides are gathered one by one", Dims(1000), 4, {{{3}}}, {{1}}, Way::rows, 250, "sv"},
    {"backwards is one by one", Dims(1000), 4, {{{-1}}, {{1}}}, {{1}}, Way::rows, 250, "svv"},
    {"a copy that reverses interleaves", Dims(1000), 4, {{{-1}}}, {{1}}, Way::interleaved_rows, 250, "ss"},
    {"16-bit types move eight at a time", Dims(1000), 8, {{{1}, 4096, 2}}, {{1}, 4096, 2}, Way::rows, 125, "vv"},
    {"beside float, 16-bit types need 8 bytes only", Dims(1000), 4, {{{1}, 4104, 2}}, {{1}}, Way::rows, 250, "vv"},
    {"bytes need 4 bytes only", Dims(1000), 8, {{{1}, 4100, 1}, {{1}, 4096, 2}}, {{1}, 4096, 2}, Way::rows, 125, "vvv"},
    {"a scalar is one chunk", Dims{}, 4, {{}}, {}, Way::rows, 1, "bs"},
};

} // namespace

TEST_CASE("each layout is walked and reached in the cheapest way", "[kernel][gpu]") {
  for (const Expected& row : table) {
    CAPTURE(row.sentence);
    std::vector<At> all = row.inputs;
    all.push_back(row.output);
    std::vector<OperandFacts> facts;
    std::vector<Operand> operands;
    for (const At& at : all) {
      facts.push_back({facts.size() == row.inputs.size() ? LineKind::output : LineKind::input, at.access, at.bytes});
      operands.push_back({reinterpret_cast<void*>(at.address), 0, at.strides});
    }
    const Bound bound{facts.data(), operands.data(), static_cast<int>(all.size())};
    Grid grid = row.grid;
    arrange(grid, bound, 0, grid.rank, true);
    REQUIRE(too_large_along(grid, bound, 0, most_elements) < 0);
    CHECK(choose_way(grid, bound, 0, row.lanes) == row.way);
    Parameters<4> parameters{};
    plan_walk(grid, bound, 0, row.lanes, row.way, parameters.walk, parameters.operands);
    CHECK(parameters.walk.chunks == row.chunks);
    CHECK(letters(parameters.operands, all.size()) == row.modes);
  }
}

TEST_CASE("division by multiplication is exact below 2^31", "[kernel][gpu]") {
  std::mt19937 random{7};
  std::uniform_int_distribution<std::uint32_t> numbers{0, (1U << 31) - 1}, bits{0, 30};
  for (int i = 0; i < 20000; ++i) {
    const std::uint32_t divisor = (numbers(random) >> bits(random)) + 1;
    const Divisor by{divisor};
    for (const std::uint32_t number :
         {numbers(random), numbers(random) / divisor * divisor, std::uint32_t{0}, (1U << 31) - 1, divisor - 1}) {
      CAPTURE(number, divisor);
      REQUIRE(by.quotient(number) == number / divisor);
    }
  }
  static_assert(Divisor{1}.quotient(2147483647U) == 2147483647U && Divisor{7}.quotient(20) == 2);
}

TEST_CASE("indices are divided by multiplication where their bound allows it, and right everywhere", "[kernel][gpu]") {
  constexpr std::int64_t fast = std::int64_t{1} << 31;
  static_assert(IndexDivisor{7, fast}.is_fast() && !IndexDivisor{7, fast + 1}.is_fast());
  static_assert(IndexDivisor{7, fast}.parts(fast - 1).quotient == (fast - 1) / 7);
  static_assert(IndexDivisor{fast + 5, fast}.parts(fast - 1).rest == fast - 1); // a divisor above all numbers
  std::mt19937_64 random{7};
  for (const std::int64_t bound : {std::int64_t{5}, fast - 1, fast, fast + 1, fast * 1024}) {
    for (int i = 0; i < 2000; ++i) {
      const std::int64_t divisor =
          1 + static_cast<std::int64_t>(random() >> random() % 60 & 0x7fffffffffffffff) % (2 * bound);
      const std::int64_t number = static_cast<std::int64_t>(random() >> 1) % bound;
      CAPTURE(number, divisor, bound);
      const IndexDivisor::Parts parts = IndexDivisor{divisor, bound}.parts(number);
      REQUIRE((parts.quotient == number / divisor && parts.rest == number % divisor));
    }
  }
  constexpr Pixels pixels{3, {5, 7}, 11}; // element (2, 4, 6, 10) is the last
  static_assert(pixels.elements() == 1155 && pixels(1154).image == 2 && pixels(1154).row == 4);
  static_assert(pixels(1154).column == 6 && pixels(1154).channel == 10);
  constexpr BlockIndices many{5, fast, 3}; // too many for 31 bits
  static_assert(many(fast * 14 + 1).outer == 4 && many(fast * 14 + 1).middle == (fast * 2 + 1) / 3);
}

TEST_CASE("what passes 31 bits is cut along what moves farthest", "[kernel][gpu]") {
  OperandFacts facts[] = {{LineKind::input, Access::strided, 4}, {LineKind::output, Access::strided, 4}};
  const std::uintptr_t base = std::uintptr_t{1} << 40; // nothing is read there
  void* const start = reinterpret_cast<void*>(base);
  Operand operands[] = {{start, 0, {}}, {start, 0, {}}};
  const Bound bound{facts, operands, 2};
  const auto bind = [&](std::array<std::int64_t, max_rank> x, std::array<std::int64_t, max_rank> y) {
    operands[0].strides = x;
    operands[1].strides = y;
  };
  const std::int64_t billion = 1'000'000'000;
  bind({1}, {1});
  CHECK(too_large_along(Dims(2 * billion), bound, 0, most_elements) == -1);
  CHECK(too_large_along(Dims(3 * billion), bound, 0, most_elements) == 0);
  bind({0, 1}, {billion, 1});
  CHECK(too_large_along(Dims(5, billion), bound, 0, most_elements) == 0);
  bind({3 * billion, 1}, {1, 2}); // few elements, far apart
  CHECK(too_large_along(Dims(2, 100), bound, 0, most_elements) == 0);
  bind({-3 * billion, 1}, {1, 2});
  CHECK(too_large_along(Dims(2, 100), bound, 0, most_elements) == 0);
  CHECK(too_large_along(Dims(1, 100), bound, 0, most_elements) == -1);
  std::int64_t elements = 0;
  int pieces = 0;
  bind({1}, {1});
  const auto check = [&](const Grid& piece) {
    CHECK(reinterpret_cast<std::uintptr_t>(operands[0].data) == base + static_cast<std::uintptr_t>(4 * elements));
    CHECK(elements % 64 == 0);
    CHECK(piece.elements() < most_elements);
    elements += piece.elements();
    ++pieces;
  };
  const auto call = [](const void* context, const Grid& piece) { (*static_cast<decltype(check)*>(context))(piece); };
  in_pieces(Dims(10 * billion), bound, 0, most_elements, {call, &check});
  CHECK(elements == 10 * billion);
  CHECK(pieces == 8);
  CHECK(operands[0].data == start);
}

TEST_CASE("launches fill a device's processors before their blocks grow", "[kernel][gpu]") {
  CHECK(elementwise_shape(1, 4, 132) == twill::gpu::LaunchShape{.blocks = 1, .threads = 64});
  CHECK(elementwise_shape(64 * 132, 1, 132) == twill::gpu::LaunchShape{.blocks = 132, .threads = 64});
  CHECK(elementwise_shape(256 * 264, 1, 132) == twill::gpu::LaunchShape{.blocks = 264, .threads = 256});
  CHECK(elementwise_shape(25'000'000, 1, 132) == twill::gpu::LaunchShape{.blocks = 97'657, .threads = 256});
  CHECK(elementwise_shape(25'000'000, 4, 132) == twill::gpu::LaunchShape{.blocks = 24'415, .threads = 256});
}

namespace {
template <class T, class... More>
constexpr int lanes = Lines<Program<In<T, Access::strided>, In<More, Access::strided>..., Out<T, 0>>>::lanes;
} // namespace

TEST_CASE("a chunk is 16 bytes of the largest type in memory", "[kernel][gpu]") {
  static_assert(lanes<float> == 4 && lanes<double> == 2 && lanes<half> == 8 && lanes<bfloat16, bool> == 8);
  static_assert(lanes<float, half> == 4 && lanes<std::uint8_t> == 4 && lanes<half, std::int64_t> == 2);
  static_assert(Words<float, 4>::unit_bytes == 16 && Words<half, 8>::unit_bytes == 16 &&
                Words<half, 4>::unit_bytes == 8);
  static_assert(Words<bool, 8>::unit_bytes == 4 && Words<bool, 8>::units == 2 && Words<bool, 2>::unit_bytes == 2);
  // at least 32 bytes on their way for each thread
  using One = Elementwise<Program<In<float, Access::strided>, Out<float, 0>>>;
  using Two = Elementwise<
      Program<In<float, Access::strided>, In<float, Access::strided>, Step<Primitive::add, 0, 1>, Out<float, 2>>>;
  static_assert(One::chunks == 2 && Two::chunks == 1);
  static_assert(sizeof(Parameters<max_operands>) <= most_parameter_bytes);
  SUCCEED();
}
