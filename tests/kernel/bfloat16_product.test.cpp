// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of bfloat16, by oneDNN where it is installed: sums are float32, and the result is rounded once.

#include "tests/support/test_seed.hpp"

#include <twill/device/cpu/cpu.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/kernel/product.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using namespace twill;

namespace {

std::vector<bfloat16> draw(std::int64_t count, std::mt19937_64& random) {
  std::uniform_real_distribution<float> uniform{-1, 1};
  std::vector<bfloat16> values(static_cast<std::size_t>(count));
  for (bfloat16& value : values) value = bfloat16{uniform(random)};
  return values;
}

void check(const Team& team, std::int64_t m, std::int64_t n, std::int64_t k, bool transpose_a, bool transpose_b,
           std::int64_t gap, std::mt19937_64& random) {
  INFO(m << " x " << n << " x " << k << ", transposed " << transpose_a << transpose_b << ", gap " << gap);
  const std::int64_t lda = (transpose_a ? m : k) + gap;
  const std::int64_t ldb = (transpose_b ? k : n) + gap;
  const std::int64_t ldc = n + gap;
  const auto a = draw((transpose_a ? k : m) * lda, random);
  const auto b = draw((transpose_b ? n : k) * ldb, random);
  std::vector<bfloat16> c(static_cast<std::size_t>(m * ldc), bfloat16{7.0F});
  kernel::product<bfloat16>(team, transpose_a, transpose_b, m, n, k, 1, a.data(), lda, b.data(), ldb, 0, c.data(), ldc);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < ldc; ++j) {
      const float got = float{c[static_cast<std::size_t>(i * ldc + j)]};
      if (j >= n) {
        REQUIRE(got == 7.0F); // what lies between the rows stays
        continue;
      }
      double sum = 0;
      for (std::int64_t p = 0; p < k; ++p)
        sum += double(float{a[static_cast<std::size_t>(transpose_a ? p * lda + i : i * lda + p)]}) *
               double(float{b[static_cast<std::size_t>(transpose_b ? j * ldb + p : p * ldb + j)]});
      REQUIRE(std::fabs(double(got) - sum) <= std::fabs(sum) / 256 + 1e-4);
    }
}

} // namespace

TEST_CASE("products of bfloat16 are rounded once", "[kernel][TRAIN-6]") {
  const auto seed = twill::test::test_seed();
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  for (const std::int64_t gap : {0, 3})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        check(Team::serial(), 33, 47, 65, transpose_a, transpose_b, gap, random);
        check(Team::serial(), 64, 1, 513, transpose_a, transpose_b, gap, random);
        check(Team::serial(), 3, 5, 2, transpose_a, transpose_b, gap, random);
      }
  check(Team::serial(), 128, 96, 257, false, true, 0, random);
}
