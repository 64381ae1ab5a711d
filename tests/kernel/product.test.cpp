// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of every class of shape, transposed or not, beside three plain loops.

#include "harness.hpp"

#include <twill/kernel/product.hpp>

#include <catch2/catch.hpp>

using namespace kernel_test;

namespace {

/// The largest relative difference from plain loops in double.
template <class T>
double product_difference(bool ta, bool tb, std::int64_t m, std::int64_t n, std::int64_t k, double beta) {
  std::mt19937 random{7};
  const std::int64_t lda = (ta ? m : k) + 2, ldb = (tb ? k : n) + 1, ldc = n + 3;
  const auto room = [](std::int64_t rows, std::int64_t columns, std::int64_t stride) {
    return rows * columns == 0 ? 0 : (rows - 1) * stride + columns;
  };
  const Memory a{dtype_of<T>, ta ? room(k, m, lda) : room(m, k, lda), random};
  const Memory b{dtype_of<T>, tb ? room(n, k, ldb) : room(k, n, ldb), random};
  const Memory c{dtype_of<T>, room(m, n, ldc), random};
  const auto at = [](const Memory& memory, std::int64_t i) {
    return as_double(dtype_of<T>, memory.data() + static_cast<std::size_t>(i) * sizeof(T));
  };
  std::vector<double> expected;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < k; ++p)
        sum += at(a, ta ? p * lda + i : i * lda + p) * at(b, tb ? j * ldb + p : p * ldb + j);
      expected.push_back(2 * sum + (beta != 0 ? beta * at(c, i * ldc + j) : 0));
    }
  const auto data = [](const Memory& memory) { return reinterpret_cast<T*>(memory.data()); };
  using C = kernel::compute_t<T>;
  product<T>(Threads{2}, ta, tb, m, n, k, C{2}, data(a), lda, data(b), ldb, static_cast<C>(beta), data(c), ldc);
  double worst = 0;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const double e = expected[static_cast<std::size_t>(i * n + j)];
      worst = std::max(worst, std::abs(at(c, i * ldc + j) - e) / std::max(1.0, std::abs(e)));
    }
  return worst;
}

template <class T> void check_all(double tolerance) {
  const std::int64_t shapes[][3] = {{4, 8, 2},     {4, 8, 8},     {4, 1, 8},    {1, 10, 16}, {3, 17, 5},
                                    {1, 256, 784}, {5, 33, 31},   {0, 3, 2},    {2, 3, 0},   {67, 35, 9},
                                    {130, 70, 80}, {40, 200, 70}, {2, 2, 3000}, {67, 70, 1}, {130, 81, 2},
                                    {1, 300, 10},  {5, 201, 9},   {4, 64, 13},  {300, 3, 8}, {3, 130, 17}};
  for (const auto& [m, n, k] : shapes)
    for (const bool ta : {false, true})
      for (const bool tb : {false, true})
        for (const double beta : {0.0, 1.0}) {
          CAPTURE(m, n, k, ta, tb, beta);
          CHECK(product_difference<T>(ta, tb, m, n, k, beta) <= tolerance);
        }
}

} // namespace

TEST_CASE("products of every shape equal plain loops", "[kernel]") {
  check_all<float>(1e-4);
  check_all<double>(1e-12);
}

TEST_CASE("products of 16-bit floats are summed in float, of integers in their own type", "[kernel]") {
  check_all<half>(2e-3);
  check_all<bfloat16>(1e-2);
  check_all<std::int64_t>(0);
}

TEST_CASE("a single column that lies dense is computed as a row", "[kernel]") {
  std::mt19937 random{3};
  std::uniform_int_distribution<int> digit{-4, 4}; // sums are exact
  const std::int64_t m = 37, k = 53;
  std::vector<float> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(3 * k)),
      c(static_cast<std::size_t>(m));
  for (auto* values : {&a, &b})
    for (float& value : *values) value = static_cast<float>(digit(random));
  for (const bool ta : {false, true})
    for (const std::int64_t stride : {1, 3}) {
      product<float>(Threads{1}, ta, false, m, 1, k, 1.0F, a.data(), ta ? m : k, b.data(), stride, 0.0F, c.data(), 1);
      for (std::int64_t i = 0; i < m; ++i) {
        float sum = 0;
        for (std::int64_t p = 0; p < k; ++p)
          sum += a[static_cast<std::size_t>(ta ? p * m + i : i * k + p)] * b[static_cast<std::size_t>(p * stride)];
        CHECK(c[static_cast<std::size_t>(i)] == sum);
      }
    }
}

TEST_CASE("a product without a starting value does not read its result", "[kernel]") {
  float c[] = {NAN, NAN}, a[] = {1, 2}, b[] = {3, 4};
  product<float>(Threads{1}, false, false, 1, 2, 1, 1.0F, a, 2, b, 2, 0.0F, c, 2);
  CHECK(c[0] == 3);
  CHECK(c[1] == 4);
}
