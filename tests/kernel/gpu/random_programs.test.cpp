// SPDX-License-Identifier: Apache-2.0
//
// Random programs, drawn at compile time, as a GPU's kernel and as a host's: the same values over operands of several types
// that lie in memory in any way. Only arithmetic that is exact to the last place takes part, so nothing may differ.

#include "layouts.hpp"

#include <twill/kernel/gpu/columns.hpp>
#include <twill/kernel/gpu/elementwise.hpp>

#include <catch2/catch.hpp>

using namespace gpu_test;

namespace {

/// Numbers from a seed, while compiling.
struct Dice {
  std::uint64_t state;
  constexpr int roll(int sides) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int>((state >> 33) % static_cast<std::uint64_t>(sides));
  }
};

constexpr int steps = 10;
constexpr int inputs = 4;

/// One step of a program: which primitive, and of which two earlier values.
struct Drawn {
  Primitive primitive{};
  int a = 0;
  int b = 0;
};

template <std::uint64_t Seed>
inline constexpr auto drawn = [] {
  constexpr Primitive choice[] = {Primitive::add,     Primitive::subtract, Primitive::multiply, Primitive::divide,
                                  Primitive::maximum, Primitive::minimum,  Primitive::abs,      Primitive::negate,
                                  Primitive::floor,   Primitive::square};
  Dice dice{Seed * 977 + 5};
  for (int i = 0; i < 8; ++i) (void)dice.roll(2);
  std::array<Drawn, steps> result{};
  for (int i = 0; i < steps; ++i) {
    const int known = 2 * inputs + i; // the inputs, the inputs as floats, and the steps before
    result[static_cast<std::size_t>(i)] = {choice[dice.roll(10)], inputs + dice.roll(known - inputs), known - 1};
  }
  return result;
}();

template <std::uint64_t Seed, std::size_t I> auto step_of() {
  constexpr Drawn own = drawn<Seed>[I];
  if constexpr (info(own.primitive).arity == 1)
    return Step<own.primitive, own.b>{};
  else
    return Step<own.primitive, own.a, own.b>{};
}

template <std::uint64_t Seed> constexpr Access access_of(int input) {
  Dice dice{Seed * 31 + static_cast<std::uint64_t>(input)};
  for (int i = 0; i < 8; ++i) (void)dice.roll(2);
  return static_cast<Access>(dice.roll(3));
}

/// Four inputs of four types, made floats, a chain of steps over them, and results of two types; `Last` lines follow.
template <std::uint64_t Seed, class... Last, std::size_t... I> auto program_of(std::index_sequence<I...>) {
  return Program<In<float, access_of<Seed>(0)>, In<twill::half, access_of<Seed>(1)>, In<bfloat16, access_of<Seed>(2)>,
                 In<std::uint8_t, access_of<Seed>(3)>, Cast<float, 0>, Cast<float, 1>, Cast<float, 2>, Cast<float, 3>,
                 decltype(step_of<Seed, I>())..., Last...>{};
}
constexpr int last = 2 * inputs + steps - 1;
template <std::uint64_t Seed>
using Elementwise =
    decltype(program_of<Seed, Cast<bfloat16, last>, Cast<twill::half, last - 1>, Out<float, last>,
                        Out<bfloat16, last + 1>, Out<twill::half, last + 2>>(std::make_index_sequence<steps>{}));
template <std::uint64_t Seed>
using Extremes = decltype(program_of<Seed, ReduceColumns<Reduction::max, last>, ReduceColumns<Reduction::min, last - 1>,
                                     Out<float, last + 1>, Out<float, last + 2>, Out<float, last>>(
    std::make_index_sequence<steps>{}));

/// Whether all values are the same; the sign of a zero is not a value.
template <class P> bool same_values(const Laid<P>& mine, const Laid<P>& theirs) {
  for (std::size_t i = 0; i < mine.held.size(); ++i)
    for (std::size_t at = 0; at < mine.held[i].size; at += size_of(mine.held[i].type)) {
      const double x = as_double(mine.held[i].type, mine.held[i].bytes.get() + at);
      const double y = as_double(mine.held[i].type, theirs.held[i].bytes.get() + at);
      if (x != y && !(std::isnan(x) && std::isnan(y))) return false;
    }
  return true;
}

template <class P> void check_program() {
  unsigned seed = 0;
  for (const Grid& grid : {Dims(1), Dims(1009), Dims(37, 64), Dims(61, 13), Dims(3, 5, 7, 9), Dims(2, 1, 4, 2, 3, 8)})
    for (const Layouts layouts : {Layouts::plain, Layouts::aligned, Layouts::any, Layouts::any}) {
      CAPTURE(to_string(grid), ++seed);
      const Laid<P> ours{grid, seed, layouts}, hosts{grid, seed, layouts};
      kernel::run(P{}, Threads{1}, grid, hosts.operands.data());
      if constexpr (summary_of<P>.shape == KernelShape::column)
        kernel::gpu::run_columns<P>(BlockQueue{}, grid, ours.operands.data());
      else
        kernel::gpu::run_elementwise<P>(BlockQueue{}, grid, ours.operands.data());
      CHECK(same_values(ours, hosts));
    }
}

} // namespace

TEST_CASE("random elementwise programs give the host's values", "[kernel][gpu]") {
  check_program<Elementwise<1>>();
  check_program<Elementwise<2>>();
  check_program<Elementwise<3>>();
  check_program<Elementwise<4>>();
  check_program<Elementwise<5>>();
}

TEST_CASE("extremes of the columns of random programs are the host's", "[kernel][gpu]") {
  check_program<Extremes<6>>();
  check_program<Extremes<7>>();
}
