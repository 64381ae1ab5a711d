// SPDX-License-Identifier: Apache-2.0
//
// Operands of row programs on a GPU, wherever they lie: strided, broadcast, misaligned from row to row, in place, gathered,
// counted, drawn; results once for a row and all along it; grids of every rank.

#include <tests/kernel/gpu/row_programs.hpp>

using namespace kernel_test;

namespace {

/// The rows of a tensor, its own row vector and a column beside it.
using Mixed = Program<Along<float>, Apart<float>, Along<float>, Shared<float>, Step<Primitive::multiply, 0, 1>,
                      Reduce<Reduction::sum, 4>, Step<Primitive::add, 5, 3>, Step<Primitive::subtract, 2, 6>,
                      Step<Primitive::tanh, 7>, Reduce<Reduction::max, 8>, Step<Primitive::multiply, 8, 9>,
                      Out<float, 10>, Out<float, 9>>;

/// Where an element lies among those of a grid.
using Numbered = Program<Along<double>, Iota, Cast<double, 1>, Step<Primitive::multiply, 0, 2>,
                         Reduce<Reduction::sum, 3>, Step<Primitive::divide, 3, 4>, Out<double, 5>>;

/// Draws that a row adds up.
using Drawn = Program<Immediate<std::int64_t>, Immediate<std::int64_t>, Immediate<std::int64_t>, Iota,
                      Step<Primitive::random_uniform, 0, 1, 2, 3>, Reduce<Reduction::sum, 4>,
                      Step<Primitive::divide, 4, 5>, Out<float, 6>, Out<float, 5>>;

/// Elements that others point at, and one that a label of the row points at.
using Picked =
    Program<Along<std::int64_t>, Gather<float, 0>, Shared<std::int64_t>, Gather<float, 2>, Reduce<Reduction::max, 1>,
            Step<Primitive::subtract, 1, 4>, Step<Primitive::exp, 5>, Reduce<Reduction::sum, 6>,
            Step<Primitive::multiply, 6, 3>, Step<Primitive::divide, 8, 7>, Out<float, 9>, Out<float, 3>>;

template <class T> Operand operand(const std::vector<T>& values, std::initializer_list<std::int64_t> strides) {
  Operand result;
  result.data = const_cast<T*>(values.data());
  std::copy(strides.begin(), strides.end(), result.strides.begin());
  return result;
}

std::vector<float> draws(std::int64_t count, unsigned seed) {
  std::mt19937 random{seed};
  std::uniform_real_distribution<float> real{-2, 2};
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(real(random));
  return values;
}

double worst_of(const std::vector<float>& ours, const std::vector<float>& theirs) {
  REQUIRE(ours.size() == theirs.size());
  double worst = 0;
  for (std::size_t i = 0; i < ours.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(ours[i]) - static_cast<double>(theirs[i])));
  return worst;
}

} // namespace

TEST_CASE("strided, shared and contiguous operands of a row program meet on a GPU", "[kernel][gpu]") {
  unsigned seed = 0;
  for (const Grid& grid : {Grid(5, 1), Grid(40, 7), Grid(3, 64), Grid(7, 257), Grid(2, 1001), Grid(1, 18'001),
                           Grid(2, 3, 129), Grid(2, 3, 2, 33), Grid(1, 2, 1, 3, 1, 31), Grid(70)}) {
    CAPTURE(grid.rank, grid[grid.rank - 1]);
    CHECK(row_difference<Mixed>(grid, {}, ++seed) < 1e-5);
    CHECK(row_difference<Numbered>(grid, {}, ++seed) < 1e-10);
  }
}

TEST_CASE("a row of a scalar and rows of nothing have their sums on a GPU", "[kernel][gpu]") {
  CHECK(row_difference<Softmax<float>>(Grid{}) == 0);
  CHECK(row_difference<Statistics<float>>(Grid{}) < 1e-6);
  CHECK(row_difference<Statistics<float>>(Grid(5, 0)) == 0);
  CHECK(row_difference<Statistics<float>>(Grid(0, 5)) == 0);
  CHECK(row_difference<Softmax<float>>(Grid(3, 0, 4)) == 0);
  const RowQueue queue;
  const Operand operands[6]{};
  run_rows_on<Statistics<float>>(queue, Grid(0, 5), operands);
  CHECK(queue.launches.empty());
}

TEST_CASE("draws in rows are those of the definition on a GPU", "[kernel][gpu]") {
  for (const Grid& grid : {Grid(30, 37), Grid(2, 1000), Grid(1, 20'001)}) CHECK(row_difference<Drawn>(grid) < 2e-5);
}

TEST_CASE("rows may begin anywhere on a GPU, and operands be misaligned differently", "[kernel][gpu]") {
  using P = RmsNorm<float>;
  unsigned seed = 30;
  for (const std::int64_t length : {5, 127, 1001, 1024, 4099, 17'003})
    for (const std::int64_t shift : {0, 1, 3})
      for (const std::int64_t other : {0, 2, 3}) {
        const std::int64_t rows = length > 5000 ? 1 : 5, pitch = length + (other == 2 ? 1 : 0);
        CAPTURE(length, shift, other);
        std::vector<float> x = draws(shift + rows * pitch, ++seed), weight = draws(other + length, ++seed);
        std::vector<float> y(static_cast<std::size_t>(shift + rows * pitch)), expected = y;
        Operand operands[3] = {operand(x, {pitch, 1}), operand(weight, {0, 1}), operand(y, {pitch, 1})};
        operands[0].data = x.data() + shift;
        operands[1].data = weight.data() + other;
        operands[2].data = y.data() + shift;
        run_rows_on<P>(RowQueue{}, Grid(rows, length), operands);
        operands[2].data = expected.data() + shift;
        reference::run(P{}, Grid(rows, length), operands);
        CHECK(worst_of(y, expected) < 1e-6);
      }
}

TEST_CASE("a row program may write over what it reads on a GPU", "[kernel][gpu]") {
  for (const std::int64_t length : {3, 100, 1001, 5000, 20'000, 30'001})
    for (const std::int64_t rows : {1, 4}) {
      std::vector<float> x = draws(rows * length, 9), expected = x;
      const auto run_on = [&](std::vector<float>& values, auto&& run_it) {
        const Operand operands[2] = {operand(values, {length, 1}), operand(values, {length, 1})};
        run_it(operands);
      };
      run_on(x,
             [&](const Operand* operands) { run_rows_on<Softmax<float>>(RowQueue{}, Grid(rows, length), operands); });
      std::vector<float> result = expected;
      const Operand apart[2] = {operand(expected, {length, 1}), operand(result, {length, 1})};
      reference::run(Softmax<float>{}, Grid(rows, length), apart);
      CAPTURE(rows, length);
      CHECK(worst_of(x, result) < 1e-6);
    }
}

TEST_CASE("what a row shares may be stored all along it on a GPU, over the input, too", "[kernel][gpu]") {
  using P = Sum<float>;
  for (const std::int64_t length : {1, 9, 300, 1001, 40'000}) {
    std::vector<float> x = draws(2 * length, 4), expected = x;
    Operand operands[2] = {operand(x, {length, 1}), operand(x, {length, 1})};
    run_rows_on<P>(RowQueue{}, Grid(2, length), operands);
    for (std::int64_t row = 0; row < 2; ++row) {
      double sum = 0;
      for (std::int64_t j = 0; j < length; ++j)
        sum += static_cast<double>(expected[static_cast<std::size_t>(row * length + j)]);
      for (std::int64_t j = 0; j < length; ++j)
        CHECK(std::abs(static_cast<double>(x[static_cast<std::size_t>(row * length + j)]) - sum) < 1e-4);
    }
  }
}

TEST_CASE("rows of gathered elements on a GPU read no others", "[kernel][gpu]") {
  unsigned seed = 70;
  for (const std::int64_t length : {1, 6, 130, 1001, 20'001})
    for (const std::int64_t rows : {1, 3}) {
      const std::vector<float> table = draws(500, ++seed);
      std::mt19937 random{seed};
      std::vector<std::int64_t> places, labels;
      for (std::int64_t i = 0; i < rows * length; ++i) places.push_back(static_cast<std::int64_t>(random() % 500));
      for (std::int64_t i = 0; i < rows; ++i) labels.push_back(static_cast<std::int64_t>(random() % 500));
      std::vector<float> y(static_cast<std::size_t>(rows * length)), picked(static_cast<std::size_t>(rows));
      std::vector<float> expected = y, expected_pick = picked;
      Operand operands[6] = {operand(places, {length, 1}), operand(table, {}),      operand(labels, {1, 0}),
                             operand(table, {}),           operand(y, {length, 1}), operand(picked, {1, 0})};
      run_rows_on<Picked>(RowQueue{}, Grid(rows, length), operands);
      operands[4] = operand(expected, {length, 1});
      operands[5] = operand(expected_pick, {1, 0});
      reference::run(Picked{}, Grid(rows, length), operands);
      CAPTURE(rows, length);
      CHECK(worst_of(y, expected) < 1e-5);
      CHECK(picked == expected_pick);
    }
}

TEST_CASE("rows that are strided or backwards are read as they lie on a GPU", "[kernel][gpu]") {
  using P = Program<Apart<float>, Reduce<Reduction::max, 0>, Step<Primitive::subtract, 0, 1>, Step<Primitive::exp, 2>,
                    Reduce<Reduction::sum, 3>, Step<Primitive::divide, 3, 4>, Out<float, 5>>;
  for (const std::int64_t length : {6, 200, 1001, 20'001}) {
    const std::int64_t rows = 3;
    const std::vector<float> x = draws(rows * length, 5);
    std::vector<float> y(static_cast<std::size_t>(rows * length)), expected = y;
    // the transpose of a matrix, and each row from its end
    for (const bool is_transposed : {true, false}) {
      Operand operands[2] = {operand(x, {is_transposed ? 1 : length, is_transposed ? rows : -1}),
                             operand(y, {length, 1})};
      if (!is_transposed) operands[0].data = const_cast<float*>(x.data()) + length - 1;
      run_rows_on<P>(RowQueue{}, Grid(rows, length), operands);
      operands[1] = operand(expected, {1, rows}); // results may be strided, too
      reference::run(P{}, Grid(rows, length), operands);
      std::vector<float> turned(y.size());
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < length; ++j)
          turned[static_cast<std::size_t>(i + rows * j)] = y[static_cast<std::size_t>(i * length + j)];
      CHECK(worst_of(turned, expected) < 1e-6);
      run_rows_on<P>(RowQueue{}, Grid(rows, length), operands);
      CHECK(worst_of(turned, expected) < 1e-6);
    }
  }
}
