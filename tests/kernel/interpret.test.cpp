// SPDX-License-Identifier: Apache-2.0
//
// Interpreted programs beside compiled ones, bit for bit: every shape, type, access and primitive, operands that lie in memory
// in any way, rows of all lengths, teams of several threads, and programs drawn at random.

#include "gpu/layouts.hpp"

#include <twill/kernel/interpret.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

using namespace gpu_test;

namespace {

using enum twill::kernel::Primitive;

/// Whether all bytes are the same; one NaN is as good as another.
bool same_elements(DType type, const std::byte* mine, const std::byte* theirs, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += size_of(type))
    if (std::memcmp(mine + at, theirs + at, size_of(type)) != 0 &&
        !(is_floating(type) && std::isnan(as_double(type, mine + at)) && std::isnan(as_double(type, theirs + at))))
      return false;
  return true;
}

template <class P> const InterpretedProgram& interpreted() {
  static const InterpretedProgram program{summary_of<P>.lines};
  return program;
}

/// Whether both give the same bits on operands that lie as the harness binds them.
template <class P> bool agrees(const Grid& grid, int threads = 1, unsigned seed = 1) {
  const Bound<P> mine{grid, seed}, theirs{grid, seed};
  run(interpreted<P>(), AnyTeam{Threads{threads}}, grid, mine.operands.data());
  run(P{}, Threads{threads}, grid, theirs.operands.data());
  std::size_t next = 0;
  for (const Line& line : summary_of<P>.lines) {
    if (line.operand < 0 || line.kind == LineKind::immediate || line.kind == LineKind::iota) continue;
    const Memory& own = mine.memory[next];
    if (!same_elements(line.type, own.data(), theirs.memory[next++].data(), own.bytes())) return false;
  }
  return true;
}

/// The same on operands that lie in any way.
template <class P> bool agrees_anyhow(const Grid& grid, unsigned seed) {
  const Laid<P> mine{grid, seed, Layouts::any}, theirs{grid, seed, Layouts::any};
  run(interpreted<P>(), AnyTeam{Threads{1}}, grid, mine.operands.data());
  run(P{}, Threads{1}, grid, theirs.operands.data());
  for (std::size_t i = 0; i < mine.held.size(); ++i)
    if (!same_elements(mine.held[i].type, mine.held[i].bytes.get(), theirs.held[i].bytes.get(), mine.held[i].size))
      return false;
  return true;
}

/// At sizes around a pack and a block, in rows and columns.
template <class P> void check_program() {
  unsigned seed = 0;
  for (const std::int64_t n : {0, 1, 2, 7, 8, 9, 16, 17, 31, 33, 64, 65, 127, 257, 1009, 1024, 2051}) {
    CAPTURE(n);
    CHECK(agrees<P>(Dims(n), 1, ++seed));
    CHECK(agrees<P>(Dims(3, n), 1, ++seed));
    CHECK(agrees<P>(Dims(19, n), 2, ++seed));
  }
  CHECK(agrees<P>(Dims{}));
  CHECK(agrees<P>(Dims(0, 5)));
  CHECK(agrees<P>(Dims(2, 3, 65)));
  CHECK(agrees<P>(Dims(2, 5003), 3));
  for (const Grid& grid : {Dims(1), Dims(1009), Dims(37, 64), Dims(61, 13), Dims(3, 5, 7, 9), Dims(2, 1, 4, 2, 3, 8)})
    for (int layout = 0; layout < 4; ++layout) {
      CAPTURE(to_string(grid), ++seed);
      CHECK(agrees_anyhow<P>(grid, seed));
    }
}
template <class... P> void check_programs() { (check_program<P>(), ...); }

using Chain = Program<Along<float>, Along<float>, Along<float>, Along<float>, Step<multiply, 0, 1>, Step<add, 4, 2>,
                      Step<Primitive::tanh, 5>, Step<multiply, 6, 3>, Immediate<float>, Step<multiply, 8, 0>,
                      Step<subtract, 7, 9>, Out<float, 10>>;
using Mixed = Program<Along<float>, Apart<float>, Shared<float>, Immediate<float>, Step<add, 0, 1>,
                      Step<multiply, 4, 2>, Step<maximum, 5, 3>, Out<float, 6>, Out<float, 4>>;
template <class T>
using Softmax = Program<Along<T>, Reduce<Reduction::max, 0>, Step<subtract, 0, 1>, Step<Primitive::exp, 2>,
                        Reduce<Reduction::sum, 3>, Step<divide, 3, 4>, Out<T, 5>>;
using SoftmaxAndTerms =
    Program<Along<float>, Reduce<Reduction::max, 0>, Step<subtract, 0, 1>, Step<Primitive::exp, 2>,
            Reduce<Reduction::sum, 3>, Step<divide, 3, 4>, Out<float, 5>, Out<float, 3>, Out<float, 0>, Out<float, 4>>;
template <class T>
using LayerNorm =
    Program<Along<T>, Immediate<T>, Immediate<T>, Along<T>, Along<T>, Reduce<Reduction::sum, 0>, Step<multiply, 5, 1>,
            Step<subtract, 0, 6>, Step<square, 7>, Reduce<Reduction::sum, 8>, Step<square, 1>, Step<multiply, 9, 10>,
            Step<square, 2>, Step<add, 11, 12>, Step<Primitive::abs, 13>, Immediate<T>, Step<Primitive::square, 15>,
            Step<add, 14, 16>, Step<Primitive::rsqrt, 17>, Step<multiply, 7, 18>, Step<multiply, 19, 3>,
            Step<add, 20, 4>, Out<T, 21>, Out<T, 6>, Out<T, 18>>;
using ArgMax = Program<Along<float>, Reduce<Reduction::max, 0>, Step<equal, 0, 1>, Iota, Immediate<std::int64_t>,
                       Step<where, 2, 3, 4>, Reduce<Reduction::min, 5>, Out<std::int64_t, 6>, Out<float, 1>>;
using AnyAll = Program<Along<float>, Immediate<float>, Step<greater, 0, 1>, Reduce<Reduction::any, 2>,
                       Reduce<Reduction::all, 2>, Reduce<Reduction::sum, 0>, Out<bool, 3>, Out<bool, 4>, Out<float, 5>>;
template <class T>
using Extremes = Program<Apart<T>, Reduce<Reduction::max, 0>, Reduce<Reduction::min, 0>, Reduce<Reduction::sum, 0>,
                         Reduce<Reduction::product, 0>, Out<T, 1>, Out<T, 2>, Out<T, 3>, Out<T, 4>>;
using SharedSum =
    Program<Shared<float>, Along<float>, Reduce<Reduction::sum, 0>, Step<multiply, 1, 2>, Out<float, 3>, Out<float, 0>>;
using OneHot = Program<Shared<std::int64_t>, Iota, Step<equal, 0, 1>, Along<float>, Immediate<float>,
                       Step<where, 2, 3, 4>, Cast<float, 2>, Step<add, 5, 6>, Out<float, 7>, Out<bool, 2>>;
using Dropout = Program<Along<float>, Immediate<std::int64_t>, Immediate<std::int64_t>, Immediate<std::int64_t>, Iota,
                        Step<Primitive::random_uniform, 1, 2, 3, 4>, Immediate<float>, Step<less, 5, 6>,
                        Immediate<float>, Step<where, 7, 0, 8>, Out<float, 9>, Out<float, 5>>;
using Draws =
    Program<Immediate<std::int64_t>, Along<std::int64_t>, Iota, Iota, Step<Primitive::random_uniform, 0, 1, 2, 3>,
            Immediate<std::int64_t>, Step<Primitive::random_integer, 0, 1, 5, 3>,
            Step<Primitive::random_integer, 0, 0, 5, 3>, Out<float, 4>, Out<std::int64_t, 6>, Out<std::int64_t, 7>>;
using Fill = Program<Immediate<float>, Shared<float>, Step<add, 0, 1>, Out<float, 2>, Out<float, 0>>;
template <class T> using Copy = Program<Along<T>, Out<T, 0>>;
template <class T>
using ColumnSums = Program<Along<T>, Shared<T>, Step<multiply, 0, 1>, ReduceColumns<Reduction::sum, 2>,
                           ReduceColumns<Reduction::max, 0>, Out<T, 2>, Out<T, 3>, Out<T, 4>>;
template <class T> using ColumnTotals = Program<Along<T>, ReduceColumns<Reduction::sum, 0>, Out<T, 1>>;
using ColumnTruth = Program<Along<bool>, ReduceColumns<Reduction::any, 0>, ReduceColumns<Reduction::all, 0>,
                            Out<bool, 1>, Out<bool, 2>>;
using ColumnsOfAll =
    Program<Apart<half>, Along<double>, Iota, Immediate<std::int64_t>, Step<less, 2, 3>, Cast<double, 0>,
            Step<where, 4, 5, 1>, ReduceColumns<Reduction::sum, 6>, ReduceColumns<Reduction::product, 1>,
            ReduceColumns<Reduction::any, 4>, ReduceColumns<Reduction::min, 3>, Out<double, 7>, Out<double, 8>,
            Out<bool, 9>, Out<std::int64_t, 10>>;
template <class T>
using EachType = Program<Along<T>, Shared<T>, Apart<T>, Step<add, 0, 1>, Step<multiply, 3, 2>, Step<less, 0, 2>,
                         Step<where, 5, 3, 4>, Cast<float, 6>, Cast<double, 4>, Cast<std::int64_t, 0>, Cast<bool, 4>,
                         Cast<std::int32_t, 9>, Out<T, 6>, Out<float, 7>, Out<double, 8>, Out<std::int64_t, 9>,
                         Out<bool, 10>, Out<std::int32_t, 11>, Out<bool, 5>>;
template <class T>
using FromFloats = Program<Along<float>, Along<double>, Along<std::int64_t>, Along<bool>, Cast<T, 0>, Cast<T, 1>,
                           Cast<T, 2>, Cast<T, 3>, Out<T, 4>, Out<T, 5>, Out<T, 6>, Out<T, 7>>;

template <class T>
using Gathered = Program<Along<std::int64_t>, Shared<std::int64_t>, Gather<T, 0>, Gather<T, 1, Access::contiguous>,
                         Gather<T, 0, Access::strided>, Gather<T, 1>, Out<T, 2>, Out<T, 3>, Out<T, 4>, Out<T, 5>>;
using GatheredSums =
    Program<Along<std::int64_t>, Gather<float, 0>, Gather<half, 0, Access::contiguous>, Reduce<Reduction::max, 1>,
            Step<subtract, 1, 3>, Step<Primitive::exp, 4>, Cast<float, 2>, Step<multiply, 5, 6>,
            Reduce<Reduction::sum, 7>, Step<divide, 7, 8>, Out<float, 9>, Out<float, 8>>;
using GatheredColumns = Program<Shared<std::int64_t>, Apart<std::int64_t>, Gather<float, 0, Access::contiguous>,
                                Gather<float, 1>, Step<add, 2, 3>, ReduceColumns<Reduction::sum, 4>,
                                ReduceColumns<Reduction::max, 3>, Out<float, 5>, Out<float, 6>, Out<float, 4>>;

/// Numbers from a seed, while compiling.
struct Dice {
  std::uint64_t state;
  constexpr int roll(int sides) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int>((state >> 33) % static_cast<std::uint64_t>(sides));
  }
};

constexpr int inputs = 4;
constexpr int steps = 8;

/// One step of a random program: which primitive, and of which earlier values.
struct Drawn {
  Primitive primitive{};
  int a = 0;
  int b = 0;
};

/// Steps after `known` values, which start at line `first`.
template <std::uint64_t Seed, int First, int Known, bool Floats> constexpr auto draw_steps() {
  constexpr Primitive choice[] = {add, subtract, multiply, maximum, minimum, Primitive::abs, negate, square,
                                  // of floats
                                  divide, Primitive::exp, Primitive::tanh, Primitive::floor, Primitive::sqrt, sign};
  Dice dice{Seed * 977 + Known};
  for (int i = 0; i < 8; ++i) (void)dice.roll(2);
  std::array<Drawn, steps> result{};
  for (int i = 0; i < steps; ++i)
    result[static_cast<std::size_t>(i)] = {choice[dice.roll(Floats ? 14 : 8)], First + dice.roll(Known - First + i),
                                           Known + i - 1};
  return result;
}
template <Drawn Own> auto step_of() {
  if constexpr (info(Own.primitive).arity == 1)
    return Step<Own.primitive, Own.b>{};
  else
    return Step<Own.primitive, Own.a, Own.b>{};
}
template <std::uint64_t Seed> constexpr Access access_of(int input) {
  Dice dice{Seed * 31 + static_cast<std::uint64_t>(input)};
  for (int i = 0; i < 8; ++i) (void)dice.roll(2);
  return static_cast<Access>(dice.roll(3));
}

/// Inputs of four types in the type T, steps, what comes between, more steps, and the last lines.
template <class T, std::uint64_t Seed, class... Between, class... Last, std::size_t... I>
auto random_program(std::index_sequence<I...>, Program<Between...>, Program<Last...>) {
  constexpr bool floats = std::is_floating_point_v<T>;
  constexpr int known = 2 * inputs + steps + static_cast<int>(sizeof...(Between));
  constexpr auto before = draw_steps<Seed, inputs, 2 * inputs, floats>();
  constexpr auto after = draw_steps<Seed + 1, inputs, known, floats>();
  return Program<In<T, access_of<Seed>(0)>, In<half, access_of<Seed>(1)>, In<std::int32_t, access_of<Seed>(2)>,
                 In<std::uint8_t, access_of<Seed>(3)>, Cast<T, 0>, Cast<T, 1>, Cast<T, 2>, Cast<T, 3>,
                 decltype(step_of<before[I]>())..., Between..., decltype(step_of<after[I]>())..., Last...>{};
}
constexpr int middle = 2 * inputs + steps;
template <class T, std::uint64_t Seed>
using RandomMap = decltype(random_program<T, Seed>(
    std::make_index_sequence<steps>{}, Program<>{},
    Program<Step<less, middle + steps - 1, inputs>, Step<where, middle + steps, 5, middle + steps - 2>,
            Out<T, middle + steps + 1>, Out<T, middle + steps - 1>, Out<T, middle - 1>, Out<bool, middle + steps>>{}));
template <class T, std::uint64_t Seed>
using RandomRows = decltype(random_program<T, Seed>(
    std::make_index_sequence<steps>{},
    Program<Reduce<Reduction::sum, middle - 1>, Reduce<Reduction::max, middle - 2>, Step<subtract, middle - 1, middle>,
            Reduce<Reduction::sum, middle + 2>, Step<add, middle + 2, middle + 3>>{},
    Program<Reduce<Reduction::min, middle + steps + 4>, Reduce<Reduction::sum, middle + steps + 3>,
            Out<T, middle + steps + 4>, Out<T, middle + steps + 5>, Out<T, middle + steps + 6>, Out<T, middle + 1>,
            Out<T, middle - 1>>{}));
template <class T, std::uint64_t Seed>
using RandomColumns = decltype(random_program<T, Seed>(
    std::make_index_sequence<steps>{}, Program<>{},
    Program<ReduceColumns<Reduction::sum, middle + steps - 1>, ReduceColumns<Reduction::min, middle - 1>,
            Out<T, middle + steps>, Out<T, middle + steps + 1>, Out<T, middle + steps - 1>>{}));
template <std::uint64_t... Seed> void check_random_programs() {
  (check_programs<RandomMap<float, Seed>, RandomRows<float, Seed + 100>, RandomColumns<float, Seed + 200>,
                  RandomMap<double, Seed + 300>, RandomRows<double, Seed + 400>, RandomRows<std::int64_t, Seed + 500>,
                  RandomColumns<std::int32_t, Seed + 600>, RandomMap<std::int32_t, Seed + 700>>(),
   ...);
}

/// Runs both with operands that are all int64 offsets from 0 to 4, or memory that they choose from.
template <class P> bool gathers_alike(std::int64_t rows, std::int64_t n) {
  std::mt19937 random{static_cast<unsigned>(rows * 1000 + n)};
  std::vector<Memory> memory[2];
  std::vector<Operand> operands[2];
  for (const Line& line : summary_of<P>.lines) {
    if (line.operand < 0) continue;
    const bool is_offset = line.kind == LineKind::input;
    const std::int64_t step = line.access == Access::strided ? 2 : 1;
    const bool moves = line.kind == LineKind::output ? !line.uniform || summary_of<P>.shape != KernelShape::row
                                                     : line.access != Access::uniform;
    const std::int64_t width = line.kind == LineKind::gather ? (moves ? (n > 0 ? (n - 1) * step + 1 : 0) : 1) + 4
                               : moves                       ? n * step
                                                             : 1;
    const bool is_total = line.column;
    const Memory first{line.type, line.kind == LineKind::gather || is_total ? width : rows * width, random};
    if (is_offset)
      for (std::int64_t i = 0; i < rows * width; ++i)
        reinterpret_cast<std::int64_t*>(first.data())[i] = static_cast<std::int64_t>(random() % 5);
    for (int k = 0; k < 2; ++k) {
      memory[k].emplace_back(line.type, static_cast<std::int64_t>(first.bytes() / size_of(line.type)), random);
      std::memcpy(memory[k].back().data(), first.data(), first.bytes());
      Operand operand{};
      operand.data = memory[k].back().data();
      operand.strides = {line.kind == LineKind::gather || is_total ? 0 : width, !moves                          ? 0
                                                                                : line.kind == LineKind::output ? 1
                                                                                                                : step};
      operands[k].push_back(operand);
    }
  }
  run(interpreted<P>(), AnyTeam{Threads{1}}, Dims(rows, n), operands[0].data());
  run(P{}, Threads{1}, Dims(rows, n), operands[1].data());
  for (std::size_t i = 0; i < memory[0].size(); ++i)
    if (std::memcmp(memory[0][i].data(), memory[1][i].data(), memory[0][i].bytes()) != 0) return false;
  return true;
}

/// One primitive on all arguments that are its own, and on one that the row shares.
template <Primitive P, class T> auto program_of() {
  using Result = std::conditional_t<info(P).boolean_result, bool, T>;
  if constexpr (info(P).arity == 1)
    return Program<Along<T>, Shared<T>, Step<P, 0>, Step<P, 1>, Out<Result, 2>, Out<Result, 3>>{};
  else
    return Program<Along<T>, Shared<T>, Apart<T>, Step<P, 0, 1>, Step<P, 1, 2>, Step<P, 2, 0>, Step<P, 1, 1>,
                   Out<Result, 3>, Out<Result, 4>, Out<Result, 5>, Out<Result, 6>>{};
}
template <class T, Primitive... P> void check_primitives() {
  const auto check = []<Primitive Q>() {
    CAPTURE(info(Q).name);
    using Program = decltype(program_of<Q, T>());
    for (const std::int64_t n : {1, 17, 1031}) CHECK(agrees<Program>(Dims(2, n)));
  };
  (check.template operator()<P>(), ...);
}

} // namespace

TEST_CASE("interpreted elementwise programs give the bits of compiled ones", "[kernel][interpret]") {
  check_programs<Chain, Mixed, OneHot, Dropout, Draws, Fill, Copy<float>, Copy<half>, Copy<bool>>();
}

TEST_CASE("interpreted row programs give the bits of compiled ones", "[kernel][interpret]") {
  check_programs<Softmax<float>, Softmax<double>, Softmax<half>, SoftmaxAndTerms, LayerNorm<float>, LayerNorm<double>,
                 LayerNorm<bfloat16>, ArgMax, AnyAll, SharedSum, Extremes<float>, Extremes<double>, Extremes<half>,
                 Extremes<std::int32_t>, Extremes<std::int64_t>, Extremes<std::uint8_t>>();
}

TEST_CASE("interpreted column programs give the bits of compiled ones", "[kernel][interpret]") {
  check_programs<ColumnSums<float>, ColumnSums<double>, ColumnSums<std::int32_t>, ColumnTotals<float>,
                 ColumnTotals<bfloat16>, ColumnTotals<std::uint8_t>, ColumnTruth, ColumnsOfAll>();
  for (const int threads : {1, 3}) {
    CHECK(agrees<ColumnSums<float>>(Dims(2500, 37), threads));
    CHECK(agrees<ColumnSums<float>>(Dims(50'003, 10), threads));
    CHECK(agrees<ColumnTotals<float>>(Dims(301, 3001), threads));
    CHECK(agrees<ColumnsOfAll>(Dims(1301, 101), threads));
  }
}

TEMPLATE_TEST_CASE("interpreted programs take every type", "[kernel][interpret]", std::int32_t, std::int64_t, half,
                   bfloat16, float, double) {
  check_programs<EachType<TestType>, FromFloats<TestType>>();
}

TEMPLATE_TEST_CASE("interpreted programs gather as compiled ones do", "[kernel][interpret]", bool, std::uint8_t,
                   std::int64_t, half, float, double) {
  for (const std::int64_t n : {1, 2, 7, 8, 15, 17, 33, 64, 65, 127, 1009, 2050})
    for (const std::int64_t rows : {1, 5, 19}) {
      CAPTURE(n, rows);
      CHECK(gathers_alike<Gathered<TestType>>(rows, n));
      CHECK(gathers_alike<GatheredSums>(rows, n));
      CHECK(gathers_alike<GatheredColumns>(rows, n));
    }
}

TEST_CASE("random interpreted programs give the bits of compiled ones", "[kernel][interpret]") {
  check_random_programs<1, 2, 3>();
}

/// Inputs and outputs of two programs in the same memory.
template <class P> bool agrees_in_place(std::int64_t rows, std::int64_t n) {
  std::mt19937 random{static_cast<unsigned>(n)};
  const Memory first{DType::float32, rows * n, random};
  std::vector<float> mine(static_cast<std::size_t>(rows * n)), theirs = mine;
  std::memcpy(mine.data(), first.data(), first.bytes());
  std::memcpy(theirs.data(), first.data(), first.bytes());
  std::vector<float> other_mine(mine.size()), other_theirs(mine.size());
  const auto bind = [&](std::vector<float>& x, std::vector<float>& y) {
    std::vector<Operand> operands;
    bool is_first = true;
    for (const Line& line : summary_of<P>.lines) {
      if (line.operand < 0) continue;
      const bool is_over = line.kind != LineKind::output || is_first;
      if (line.kind == LineKind::output) is_first = false;
      operands.push_back({is_over ? x.data() : y.data(), 0, {n, 1}});
    }
    return operands;
  };
  const auto ours = bind(mine, other_mine), compiled = bind(theirs, other_theirs);
  run(interpreted<P>(), AnyTeam{Threads{2}}, Dims(rows, n), ours.data());
  run(P{}, Threads{2}, Dims(rows, n), compiled.data());
  return std::memcmp(mine.data(), theirs.data(), first.bytes()) == 0 &&
         std::memcmp(other_mine.data(), other_theirs.data(), first.bytes()) == 0;
}

TEST_CASE("outputs of interpreted programs may lie where inputs lie", "[kernel][interpret]") {
  using KeptOutput = Program<Along<float>, Step<add, 0, 0>, Out<float, 1>, Out<float, 0>>;
  using LateInput = Program<Along<float>, Step<add, 0, 0>, Along<float>, Step<multiply, 1, 2>, Step<subtract, 3, 0>,
                            Out<float, 3>, Out<float, 4>>;
  using KeptTerms = Program<Along<float>, Reduce<Reduction::max, 0>, Step<subtract, 0, 1>, Step<Primitive::exp, 2>,
                            Reduce<Reduction::sum, 3>, Step<divide, 3, 4>, Out<float, 5>, Out<float, 3>>;
  for (const std::int64_t n : {1, 16, 17, 64, 1009, 1024, 4096, 20'000})
    for (const std::int64_t rows : {1, 3, 33}) {
      CAPTURE(n, rows);
      CHECK(agrees_in_place<KeptOutput>(rows, n));
      CHECK(agrees_in_place<LateInput>(rows, n));
      CHECK(agrees_in_place<Softmax<float>>(rows, n));
      CHECK(agrees_in_place<KeptTerms>(rows, n));
    }
}

TEST_CASE("lines that break the rules of programs are not interpreted", "[kernel][interpret]") {
  const auto made = [](std::vector<Line> lines) { const InterpretedProgram program{lines}; };
  const Line floats = twill::kernel::detail::line_of(Along<float>{});
  CHECK_NOTHROW(made({floats, twill::kernel::detail::line_of(Out<float, 0>{})}));
  CHECK_THROWS_AS(made({floats, twill::kernel::detail::line_of(Step<add, 0, 1>{})}), ValueError);
  CHECK_THROWS_AS(made({floats, twill::kernel::detail::line_of(Out<double, 0>{})}), ValueError);
  CHECK_THROWS_AS(made({floats, twill::kernel::detail::line_of(Gather<float, 0>{})}), ValueError);
  CHECK_THROWS_WITH(made({floats, twill::kernel::detail::line_of(Step<bitwise_and, 0, 0>{})}),
                    "interpret: line 1: bitwise_and does not take float32");
  CHECK_THROWS_WITH(made({floats, twill::kernel::detail::line_of(Reduce<Reduction::any, 0>{})}),
                    "interpret: line 1: any does not take float32; cast first");
  CHECK_THROWS_AS(made({floats, twill::kernel::detail::line_of(Reduce<Reduction::sum, 0>{}),
                        twill::kernel::detail::line_of(ReduceColumns<Reduction::sum, 0>{})}),
                  ValueError);
  CHECK_THROWS_AS(made(std::vector<Line>(193, floats)), ValueError);
  CHECK_THROWS_AS(made(std::vector<Line>(129, floats)), ValueError);
  CHECK(interpreted<Chain>().shape() == KernelShape::elementwise);
}

TEST_CASE("long rows and several threads change no bit of interpreted programs", "[kernel][interpret]") {
  for (const int threads : {1, 2, 3}) {
    CHECK(agrees<Softmax<float>>(Dims(2, 100'003), threads));
    CHECK(agrees<LayerNorm<float>>(Dims(1, 70'001), threads));
    CHECK(agrees<LayerNorm<double>>(Dims(501, 103), threads));
    CHECK(agrees<Chain>(Dims(400'003), threads));
    CHECK(agrees<Extremes<half>>(Dims(2, 40'001), threads));
    CHECK(agrees<ArgMax>(Dims(300'007), threads));
  }
  CHECK(agrees<Mixed>(Dims(3'000'003), 2)); // whose outputs are streamed
}

TEST_CASE("interpreted primitives give the bits of compiled ones", "[kernel][interpret]") {
  check_primitives<float, Primitive::negate, Primitive::abs, Primitive::sign, Primitive::square, Primitive::sqrt,
                   Primitive::rsqrt, Primitive::reciprocal, Primitive::floor, Primitive::ceil, Primitive::round,
                   Primitive::trunc, Primitive::exp, Primitive::expm1, Primitive::exp2, Primitive::log,
                   Primitive::log1p, Primitive::log2, Primitive::log10, Primitive::cbrt, Primitive::sin, Primitive::cos,
                   Primitive::tan, Primitive::asin, Primitive::acos, Primitive::atan, Primitive::sinh, Primitive::cosh,
                   Primitive::tanh, Primitive::asinh, Primitive::acosh, Primitive::atanh, Primitive::erf,
                   Primitive::erfc, Primitive::lgamma, Primitive::digamma, Primitive::tanh_accurate,
                   Primitive::erf_accurate, Primitive::logical_not, Primitive::isnan, Primitive::isinf,
                   Primitive::isfinite, Primitive::add, Primitive::subtract, Primitive::multiply, Primitive::divide,
                   Primitive::floor_divide, Primitive::remainder, Primitive::fmod, Primitive::power, Primitive::maximum,
                   Primitive::minimum, Primitive::atan2, Primitive::hypot, Primitive::copysign, Primitive::nextafter,
                   Primitive::equal, Primitive::not_equal, Primitive::less, Primitive::less_equal, Primitive::greater,
                   Primitive::greater_equal, Primitive::logical_and, Primitive::logical_or, Primitive::logical_xor>();
  check_primitives<double, Primitive::exp, Primitive::log, Primitive::sin, Primitive::tanh, Primitive::erf,
                   Primitive::lgamma, Primitive::divide, Primitive::power, Primitive::remainder, Primitive::maximum,
                   Primitive::less, Primitive::logical_and>();
  check_primitives<std::int32_t, Primitive::negate, Primitive::abs, Primitive::sign, Primitive::square,
                   Primitive::invert, Primitive::add, Primitive::subtract, Primitive::multiply, Primitive::divide,
                   Primitive::floor_divide, Primitive::remainder, Primitive::fmod, Primitive::maximum,
                   Primitive::minimum, Primitive::equal, Primitive::less, Primitive::bitwise_and, Primitive::bitwise_or,
                   Primitive::bitwise_xor, Primitive::left_shift, Primitive::right_shift, Primitive::gcd,
                   Primitive::logical_not, Primitive::isnan>();
  check_primitives<std::int64_t, Primitive::negate, Primitive::multiply, Primitive::floor_divide, Primitive::power,
                   Primitive::maximum, Primitive::less_equal, Primitive::bitwise_xor>();
  check_primitives<std::uint8_t, Primitive::add, Primitive::subtract, Primitive::multiply, Primitive::floor_divide,
                   Primitive::minimum, Primitive::greater, Primitive::bitwise_or>();
  check_primitives<bool, Primitive::logical_not, Primitive::invert, Primitive::add, Primitive::multiply,
                   Primitive::maximum, Primitive::minimum, Primitive::equal, Primitive::not_equal, Primitive::less,
                   Primitive::less_equal, Primitive::greater, Primitive::greater_equal, Primitive::bitwise_and,
                   Primitive::bitwise_or, Primitive::bitwise_xor, Primitive::logical_xor>();
}
