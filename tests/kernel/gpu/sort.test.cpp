// SPDX-License-Identifier: Apache-2.0
//
// Sorting by the kernel bodies of GPUs, run on the host, against std::stable_sort: rows that fit into a block and rows that
// do not, every element type, both directions, NaN and zeros of both signs.

#include "tests/support/host_blocks.hpp"
#include "tests/support/host_sort.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/core/dtype.hpp>
#include <twill/kernel/gpu/sort.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

using namespace twill;
using namespace twill::kernel::gpu;

namespace {

std::mt19937_64 random_numbers{twill::test::test_seed()};

/// Any bits at all; many equal ones when asked.
template <class T> T any_number(bool few) {
  const std::uint64_t bits = few ? random_numbers() % 5 : random_numbers();
  if constexpr (std::is_same_v<T, bool>) return bits % 2 == 1;
  if constexpr (is_floating(dtype_of<T>)) {
    if (few) {
      const float values[] = {0.F, -0.F, 1.F, std::numeric_limits<float>::quiet_NaN(),
                              -std::numeric_limits<float>::infinity()};
      return T(values[bits]);
    }
  }
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}

template <bool IsDescending, class T> bool before(T a, T b) {
  if (IsDescending) std::swap(a, b);
  return a < b || (b != b && a == a);
}

template <bool IsDescending, class T> void check_rows(std::int64_t rows, std::int64_t length, bool few) {
  const auto count = static_cast<std::size_t>(rows * length);
  const auto from = std::make_unique<T[]>(count);
  for (std::size_t i = 0; i < count; ++i) from[i] = any_number<T>(few);
  const auto to = std::make_unique<T[]>(count);
  std::vector<std::int64_t> found(count), expected(count);
  sort_rows<IsDescending>(Cpu{0}, from.get(), rows, length, to.get(), found.data());
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* const own = from.get() + row * length;
    const auto first = expected.begin() + row * length;
    for (std::int64_t i = 0; i < length; ++i) first[i] = i;
    std::stable_sort(first, first + length,
                     [&](std::int64_t a, std::int64_t b) { return before<IsDescending>(own[a], own[b]); });
  }
  INFO(rows << " rows of " << length << ", " << name(dtype_of<T>));
  CHECK(found == expected);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = static_cast<std::int64_t>(i) / length * length;
    wrong += std::memcmp(&to[i], &from[static_cast<std::size_t>(row + expected[i])], sizeof(T)) == 0 ? 0 : 1;
  }
  CHECK(wrong == 0);
}

} // namespace

TEMPLATE_TEST_CASE("rows are sorted in one block, whatever they hold", "[kernel][gpu]", bool, std::uint8_t,
                   std::int32_t, std::int64_t, twill::half, bfloat16, float, double) {
  for (const bool few : {false, true}) {
    for (const std::int64_t length : {1, 2, 9, 131, 2048}) check_rows<false, TestType>(3, length, few);
    check_rows<true, TestType>(2, 301, few);
  }
}

TEMPLATE_TEST_CASE("longer rows are sorted together", "[kernel][gpu]", std::uint8_t, std::int64_t, float) {
  for (const bool few : {false, true}) {
    check_rows<false, TestType>(1, 2049, few);
    check_rows<false, TestType>(1, 9001, few);
    check_rows<true, TestType>(3, 5003, few);
  }
}

TEST_CASE("no rows and empty rows are sorted at once", "[kernel][gpu]") {
  check_rows<false, float>(0, 5, false);
  check_rows<false, float>(5, 0, false);
}

TEST_CASE("digits are counted without an index", "[kernel][gpu]") {
  DigitCounts counts{};
  int expected[digits]{};
  for (int i = 0; i < 5000; ++i) {
    const int digit = static_cast<int>(random_numbers() % digits);
    counts.add_one(digit);
    ++expected[digit];
  }
  int sum = 0;
  for (int digit = 0; digit < digits; ++digit) {
    CHECK(counts[digit] == expected[digit]);
    CHECK(counts.before()[digit] == sum);
    sum += expected[digit];
  }
}
