// SPDX-License-Identifier: Apache-2.0
//
// Sums of many numbers: their error stays near that of a single rounding, and their bits do not depend on how many threads
// took part, whether a row is long, the rows are many, or sums run down columns.

#include "tests/kernel/harness.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/kernel.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

using namespace kernel_test;

namespace {

using Total = Program<Along<float>, Reduce<Reduction::sum, 0>, Out<float, 1>>;
using Totals =
    Program<Apart<float>, Along<float>, Step<Primitive::multiply, 0, 1>, Reduce<Reduction::sum, 2>, Out<float, 3>>;
using Spread = Program<Along<float>, Reduce<Reduction::sum, 0>, Step<Primitive::subtract, 0, 1>,
                       Step<Primitive::square, 2>, Reduce<Reduction::sum, 3>, Out<float, 4>>;
using InOrder = Program<Along<float>, ReduceInOrder<Reduction::sum, 0>, Out<float, 1>>;
using InOrderBesideWork =
    Program<Along<float>, ReduceInOrder<Reduction::sum, 0>, Step<Primitive::tanh, 0>, ReduceInOrder<Reduction::sum, 2>,
            Step<Primitive::divide, 0, 1>, Out<float, 1>, Out<float, 3>, Out<float, 4>>;
using Columns = Program<Along<float>, ReduceColumns<Reduction::sum, 0>, Out<float, 1>>;

float total_of(const std::vector<float>& values, int threads) {
  float result = 0;
  const Operand operands[] = {{const_cast<float*>(values.data()), 0, {1}}, {&result, 0, {0}}};
  run(Total{}, Threads{threads}, Dims(static_cast<std::int64_t>(values.size())), operands);
  return result;
}
/// One value for each column of rows of `width`.
std::vector<float> columns_of(const std::vector<float>& values, std::int64_t width, int threads) {
  std::vector<float> result(static_cast<std::size_t>(width));
  const Operand operands[] = {{const_cast<float*>(values.data()), 0, {width, 1}}, {result.data(), 0, {0, 1}}};
  run(Columns{}, Threads{threads}, Dims(static_cast<std::int64_t>(values.size()) / width, width), operands);
  return result;
}

double relative_error(double found, const std::vector<float>& values) {
  double expected = 0;
  for (const float x : values) expected += static_cast<double>(x);
  return std::abs(found - expected) / std::abs(expected);
}
double running_sum_error(const std::vector<float>& values) {
  volatile float sum = 0; // one rounding for each addition
  for (const float x : values) sum = sum + x;
  return relative_error(static_cast<double>(sum), values);
}
std::vector<float> draws(std::size_t count, float low, float high) {
  std::mt19937 random{twill::test::test_seed()};
  std::uniform_real_distribution<float> uniform{low, high};
  std::vector<float> values(count);
  for (float& x : values) x = uniform(random);
  return values;
}

} // namespace

TEST_CASE("the sum of ten million numbers is right to six digits, where a running sum is not", "[kernel]") {
  const std::size_t count = 10'000'000;
  for (const std::vector<float>& values : {draws(count, 0, 1), std::vector<float>(count, 0.1F), draws(count, 0.9F, 1)})
    CHECK(relative_error(static_cast<double>(total_of(values, 1)), values) < 1e-6);
  CHECK(running_sum_error(std::vector<float>(count, 0.1F)) > 1e-6); // of draws it may be right by chance
  const std::vector<float> tall(2'000'000, 0.1F);
  for (const float sum : columns_of(tall, 2, 1))
    CHECK(static_cast<double>(sum) == Approx(1e6 * static_cast<double>(0.1F)).epsilon(1e-6));
}

TEST_CASE("the bits of a sum are the same for one, two and three threads", "[kernel]") {
  for (const std::size_t count : {std::size_t{1}, std::size_t{16'384}, std::size_t{16'385}, std::size_t{3'000'017}}) {
    const std::vector<float> values = draws(count, -1, 1);
    const float one = total_of(values, 1);
    for (const int threads : {2, 3}) {
      const float many = total_of(values, threads);
      CHECK(std::memcmp(&one, &many, sizeof(float)) == 0);
    }
  }
  for (const int threads : {2, 3}) {
    CHECK(same_bits<Totals>(Dims(3, 200'003), threads));
    CHECK(same_bits<Totals>(Dims(1009, 1001), threads));
    CHECK(same_bits<Spread>(Dims(2, 300'007), threads));
    CHECK(same_bits<Spread>(Dims(997, 513), threads));
    CHECK(same_bits<Columns>(Dims(100'003, 7), threads));
    CHECK(same_bits<Columns>(Dims(3, 400'001), threads));
  }
}

TEST_CASE("a sum in order has bits that do not depend on what else its program computes", "[kernel]") {
  for (const std::size_t count : {1, 5, 37, 1000, 40'000}) {
    const std::vector<float> values = draws(count, -1, 3);
    float alone = 0, beside = 0, other = 0;
    std::vector<float> shares(count);
    auto* const data = const_cast<float*>(values.data());
    const Dims grid(static_cast<std::int64_t>(count));
    const Operand operands[] = {{data, 0, {1}}, {&alone, 0, {0}}};
    const Operand more[] = {{data, 0, {1}}, {&beside, 0, {0}}, {&other, 0, {0}}, {shares.data(), 0, {1}}};
    run(InOrder{}, Threads{1}, grid, operands);
    for (const int threads : {1, 3}) {
      run(InOrderBesideWork{}, Threads{threads}, grid, more);
      CHECK(std::memcmp(&alone, &beside, sizeof(float)) == 0);
      std::size_t exact = 0; // no division is a product with the reciprocal
      for (std::size_t i = 0; i < count; ++i) exact += shares[i] == values[i] / alone ? 1 : 0;
      CHECK(exact == count);
    }
    CHECK(relative_error(static_cast<double>(alone), values) < 1e-4);
  }
}
