// SPDX-License-Identifier: Apache-2.0
//
// Interpreted programs that are drawn at random, that gather, that store over their inputs, or that break the rules.

#include "interpret_harness.hpp"

using namespace interpret_test;

namespace {

using enum twill::kernel::Primitive;

template <class T>
using Softmax = Program<Along<T>, Reduce<Reduction::max, 0>, Step<subtract, 0, 1>, Step<Primitive::exp, 2>,
                        Reduce<Reduction::sum, 3>, Step<divide, 3, 4>, Out<T, 5>>;
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
  run_table(interpreted<P>().table(), AnyTeam{Threads{1}}, Dims(rows, n), operands[0].data());
  run(P{}, Threads{1}, Dims(rows, n), operands[1].data());
  for (std::size_t i = 0; i < memory[0].size(); ++i)
    if (std::memcmp(memory[0][i].data(), memory[1][i].data(), memory[0][i].bytes()) != 0) return false;
  return true;
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
  run_table(interpreted<P>().table(), AnyTeam{Threads{2}}, Dims(rows, n), ours.data());
  run(P{}, Threads{2}, Dims(rows, n), compiled.data());
  return std::memcmp(mine.data(), theirs.data(), first.bytes()) == 0 &&
         std::memcmp(other_mine.data(), other_theirs.data(), first.bytes()) == 0;
}

} // namespace

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
  std::vector<Line> stages{floats}; // each needs the sum of the last
  for (int stage = 0; stage < 17; ++stage) {
    Line step = twill::kernel::detail::line_of(Step<multiply, 0, 0>{}), sum;
    step.arguments = {0, 2 * stage, 0, 0};
    sum.kind = LineKind::reduce;
    sum.arguments = {2 * stage + 1, 0, 0, 0};
    stages.insert(stages.end(), {step, sum});
  }
  CHECK_THROWS_WITH(made(stages), "interpret: a program has 17 stages, 16 at most");
  CHECK_THROWS_AS(made(std::vector<Line>(193, floats)), ValueError);
  CHECK_THROWS_AS(made(std::vector<Line>(129, floats)), ValueError);
  CHECK(interpreted<Softmax<float>>().shape() == KernelShape::row);
}
