// SPDX-License-Identifier: Apache-2.0
//
// Launches that are resolved once give the bits of general launches, and touch nothing else.

#include <twill/kernel/common_programs.hpp>
#include <twill/kernel/product.hpp>
#include <twill/kernel/run.hpp>
#include <twill/kernel/small_launch.hpp>

#include <catch2/catch.hpp>

#include <cstring>
#include <random>
#include <vector>

using namespace twill;
using namespace twill::kernel;

namespace {

constexpr std::size_t room = 1024; // elements of each operand, most of which no launch touches

/// Operands on numbers of their own.
struct Numbers {
  std::vector<std::vector<float>> memory;
  std::vector<Operand> operands;

  /// strides: for each operand, down and along; a negative one makes it a number.
  explicit Numbers(const std::vector<std::array<std::int64_t, 2>>& strides, int rank) {
    std::mt19937 random{7};
    std::uniform_real_distribution<float> between{-2.0F, 2.0F};
    memory.reserve(strides.size());
    for (const auto& stride : strides) {
      std::vector<float>& own = memory.emplace_back(room);
      for (float& x : own) x = between(random);
      Operand operand{};
      operand.data = own.data() + 100;
      const float number = 0.25F;
      if (stride[0] < 0) std::memcpy(&operand.bits, &number, sizeof number);
      operand.strides[0] = rank == 1 ? stride[1] : stride[0];
      operand.strides[1] = rank == 1 ? 0 : stride[1];
      operands.push_back(operand);
    }
  }
};

/// Runs both ways on equal numbers; `in_place` is an output that has the memory of an input.
template <class P>
bool agrees(const Grid& grid, const std::vector<std::array<std::int64_t, 2>>& strides, int output = -1,
            int input = -1) {
  Numbers general{strides, grid.rank};
  Numbers small{strides, grid.rank};
  for (Numbers* numbers : {&general, &small})
    if (output >= 0)
      numbers->operands[static_cast<std::size_t>(output)].data =
          numbers->operands[static_cast<std::size_t>(input)].data;
  const SmallLaunch launch = small_launch(table_of<P>, grid, small.operands.data());
  if (launch.run == nullptr) return false;
  launch.run(launch, small.operands.data());
  run_table(table_of<P>, AnyTeam{}, grid, general.operands.data());
  for (std::size_t o = 0; o < strides.size(); ++o)
    CHECK(std::memcmp(general.memory[o].data(), small.memory[o].data(), room * sizeof(float)) == 0);
  return true;
}

using Each = In<float, Access::contiguous>;
using Softmax = Program<Each, Reduce<Reduction::max, 0>, Step<Primitive::subtract, 0, 1>, Step<Primitive::exp, 2>,
                        Reduce<Reduction::sum, 3>, Step<Primitive::divide, 3, 4>, Out<float, 5>, Out<float, 4>>;
using NarrowTypes =
    Program<In<bfloat16, Access::contiguous>, Each, Cast<float, 0>, Step<Primitive::add, 1, 2>, Out<float, 3>>;

template <class T> std::vector<T> some(std::size_t count, unsigned seed) {
  std::mt19937 random{seed};
  std::vector<T> all(count);
  for (T& x : all) x = std::uniform_real_distribution<T>{T{-1}, T{1}}(random);
  return all;
}

template <class T> void check_products() {
  for (const std::int64_t m : {1, 2, 3, 4, 5, 8, 9})
    for (const std::int64_t n : {1, 2, 3, 4, 7, 8, 16, 17})
      for (const std::int64_t k : {1, 2, 5, 8, 16, 19})
        for (const bool turns_a : {false, true})
          for (const bool turns_b : {false, true}) {
            const std::vector<T> a = some<T>(static_cast<std::size_t>(m * k), 1);
            const std::vector<T> b = some<T>(static_cast<std::size_t>(n * k), 2);
            const std::int64_t lda = turns_a ? m : k;
            const std::int64_t ldb = turns_b ? k : n;
            const SmallLaunch launch = resolve_product<T>(turns_a, turns_b, m, n, k, lda, ldb);
            if (launch.run == nullptr) continue;
            std::vector<T> expected(static_cast<std::size_t>(m * n) + 64, T{3});
            std::vector<T> result = expected;
            product<T>(Team::serial(), turns_a, turns_b, m, n, k, T{1}, a.data(), lda, b.data(), ldb, T{0},
                       expected.data(), n);
            Operand operands[3]{};
            operands[0].data = const_cast<T*>(a.data());
            operands[1].data = const_cast<T*>(b.data());
            operands[2].data = result.data();
            launch.run(launch, operands);
            CAPTURE(m, n, k, turns_a, turns_b);
            CHECK(result == expected);
          }
}

} // namespace

TEST_CASE("a small elementwise launch gives the bits of a general one", "[kernel]") {
  using BiasRelu = CommonPrograms::BiasRelu;
  using Sgd = CommonPrograms::Sgd;
  for (std::int64_t n = 1; n <= 70; ++n) {
    CHECK(agrees<BiasRelu>(Grid{n}, {{0, 1}, {0, 1}, {-1, 0}, {0, 1}}));
    CHECK(agrees<Sgd>(Grid{n}, {{0, 1}, {0, 0}, {0, 1}, {0, 0}, {0, 1}}, 4, 0));
    for (std::int64_t rows = 2; rows <= 9 && rows * n <= 512; ++rows) {
      CAPTURE(rows, n);
      CHECK(agrees<BiasRelu>(Grid{rows, n}, {{n, 1}, {0, 1}, {-1, 0}, {n, 1}}));
    }
  }
}

TEST_CASE("a small launch of rows gives the bits of a general one", "[kernel]") {
  int resolved = 0;
  for (std::int64_t n = 1; n <= 70; ++n) {
    resolved += agrees<Softmax>(Grid{n}, {{0, 1}, {0, 1}, {0, 0}}) ? 1 : 0;
    for (std::int64_t rows = 2; rows <= 9 && rows * n <= 512; ++rows) {
      CAPTURE(rows, n);
      resolved += agrees<Softmax>(Grid{rows, n}, {{n, 1}, {n, 1}, {1, 0}}) ? 1 : 0;
      resolved += agrees<Softmax>(Grid{rows, n}, {{n + 3, 1}, {n + 5, 1}, {2, 0}}) ? 1 : 0;
    }
  }
  CHECK(resolved > 20);
}

TEST_CASE("a small launch down columns gives the bits of a general one", "[kernel]") {
  using BiasReluGradient = CommonPrograms::BiasReluGradient;
  for (std::int64_t n = 1; n <= 60; ++n)
    for (std::int64_t rows = 1; rows <= 8; ++rows) {
      CAPTURE(rows, n);
      CHECK(agrees<BiasReluGradient>(Grid{rows, n}, {{n, 1}, {-1, 0}, {n, 1}, {0, 1}, {n, 1}}));
      CHECK(agrees<BiasReluGradient>(Grid{rows, n}, {{n + 3, 1}, {-1, 0}, {n, 1}, {0, 1}, {n + 2, 1}}, 4, 0));
    }
}

TEST_CASE("launches that are not small, or not contiguous, are not resolved", "[kernel]") {
  using BiasRelu = CommonPrograms::BiasRelu;
  CHECK_FALSE(agrees<BiasRelu>(Grid{600}, {{0, 1}, {0, 1}, {-1, 0}, {0, 1}}));
  CHECK_FALSE(agrees<BiasRelu>(Grid{0}, {{0, 1}, {0, 1}, {-1, 0}, {0, 1}}));
  CHECK_FALSE(agrees<BiasRelu>(Grid{8}, {{0, 2}, {0, 1}, {-1, 0}, {0, 1}}));
  CHECK_FALSE(agrees<BiasRelu>(Grid{8}, {{0, 1}, {0, 1}, {-1, 0}, {0, 2}}));
  CHECK_FALSE(agrees<BiasRelu>(Grid{2, 3, 4}, {{12, 4}, {0, 1}, {-1, 0}, {12, 4}}));
}

TEST_CASE("a small launch may mix widths of elements", "[kernel]") {
  for (std::int64_t n = 1; n <= 40; ++n) static_cast<void>(agrees<NarrowTypes>(Grid{n}, {{0, 1}, {0, 1}, {0, 1}}));
}

TEST_CASE("a resolved matrix product gives the bits of a general one", "[kernel]") {
  check_products<float>();
  check_products<double>();
}
