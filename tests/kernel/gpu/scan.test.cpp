// SPDX-License-Identifier: Apache-2.0
//
// Scans and selections by the kernel bodies of GPUs, run on the host: against loops, for lengths around the size of a tile
// and of a chunk, rows and columns; and the plans that decide how a shape is cut.

#include "tests/support/host_blocks.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/kernel/gpu/scan.hpp>
#include <twill/kernel/gpu/select.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using namespace twill;
using namespace twill::kernel::gpu;
using kernel::Reduction;
using kernel::Running;
using kernel::ScanShape;

namespace {

std::mt19937 random_numbers{twill::test::test_seed()};

template <class Op, class T> void check_scan(const ScanShape& shape) {
  const auto count = static_cast<std::size_t>(shape.outer * shape.length * shape.inner);
  std::vector<T> from(count);
  for (T& x : from) x = static_cast<T>(random_numbers() % 1000);
  std::vector<T> to(count);
  twill::kernel::gpu::scan<Op>(Cpu{0}, from.data(), to.data(), shape);
  std::size_t wrong = 0;
  for (std::int64_t o = 0; o < shape.outer; ++o)
    for (std::int64_t j = 0; j < shape.inner; ++j) {
      T running{};
      for (std::int64_t k = 0; k < shape.length; ++k) {
        const auto i = static_cast<std::size_t>((o * shape.length + k) * shape.inner + j);
        running = k == 0 ? from[i] : Op::combine(running, from[i]);
        wrong += to[i] == running ? 0 : 1;
      }
    }
  INFO(shape.outer << " x " << shape.length << " x " << shape.inner);
  CHECK(wrong == 0);
  twill::kernel::gpu::scan<Op>(Cpu{0}, from.data(), from.data(), shape);
  CHECK(from == to);
}

} // namespace

TEST_CASE("rows of any length are scanned in order", "[kernel][gpu]") {
  using Sum = Running<Reduction::sum>;
  for (const std::int64_t length : {1, 2, 63, 64, 65, 127, 255, 257, 4095, 4096, 4097, 12289, 40009})
    for (const std::int64_t rows : {1, 3}) check_scan<Sum, std::int64_t>({rows, length, 1});
  check_scan<Running<Reduction::max>, std::int32_t>({2, 9001, 1});
  check_scan<Sum, std::int64_t>({515, 4099, 1});
  check_scan<Sum, std::int64_t>({1031, 7, 1});
}

TEST_CASE("columns are scanned along any axis", "[kernel][gpu]") {
  using Sum = Running<Reduction::sum>;
  for (const std::int64_t length : {1, 2, 65, 300, 20011}) check_scan<Sum, std::int64_t>({2, length, 7});
  check_scan<Sum, std::int64_t>({3, 5, 8209});
  check_scan<Running<Reduction::min>, std::int32_t>({1, 131, 3});
}

TEST_CASE("a combination that does not commute keeps its order", "[kernel][gpu]") {
  // composing affine maps, packed into one integer
  struct Compose {
    static std::uint64_t combine(std::uint64_t first, std::uint64_t then) {
      const auto a = static_cast<std::uint32_t>(first >> 32), b = static_cast<std::uint32_t>(first);
      const auto c = static_cast<std::uint32_t>(then >> 32), d = static_cast<std::uint32_t>(then);
      return std::uint64_t{a * c} << 32 | static_cast<std::uint32_t>(b * c + d);
    }
  };
  for (const ScanShape& shape : {ScanShape{1, 13001, 1}, ScanShape{2, 4100, 1}, ScanShape{1, 20011, 3}})
    check_scan<Compose, std::uint64_t>(shape);
}

TEST_CASE("how a scan is cut follows from its shape", "[kernel][gpu]") {
  static_assert(plan_scan({1, 4096, 1}) == ScanPlan{false, 4096, 1, 1});
  static_assert(plan_scan({1, 4097, 1}) == ScanPlan{false, 4096, 2, 2});
  static_assert(plan_scan({600, 10000, 1}) == ScanPlan{false, 12288, 1, 600});
  static_assert(plan_scan({1000, 64, 1}) == ScanPlan{true, 64, 1, 4});
  static_assert(plan_scan({1, 1000000, 2}) == ScanPlan{true, 3907, 256, 2});
  static_assert(plan_scan({1, 1000000, 8192}) == ScanPlan{true, 1000000, 1, 32});
  static_assert(plan_scan({1, std::int64_t{1} << 34, 1}).chunks <= most_chunks);
}

TEST_CASE("true elements are numbered in order", "[kernel][gpu]") {
  for (const std::int64_t count : {0, 1, 17, 4096, 4097, 30011}) {
    for (const unsigned share : {0U, 1U, 50U, 100U}) {
      std::vector<unsigned char> mask(static_cast<std::size_t>(count) + 1);
      std::vector<std::int64_t> places;
      for (std::int64_t i = 0; i < count; ++i) {
        mask[static_cast<std::size_t>(i)] = random_numbers() % 100 < share ? 1 : 0;
        if (mask[static_cast<std::size_t>(i)] != 0) places.push_back(3 * i);
      }
      const auto* const truth = reinterpret_cast<const bool*>(mask.data());
      std::vector<std::int64_t> found(places.size());
      const auto counted = counted_true(Cpu{0}, truth, Dims(count), Dims(1));
      CHECK(counted.found() == static_cast<std::int64_t>(places.size()));
      write_offsets(counted, Dims(count), Dims(3), found.data());
      CHECK(found == places);
    }
  }
}

TEST_CASE("true elements of a strided mask are found by their indices", "[kernel][gpu]") {
  constexpr std::int64_t rows = 37, columns = 131;
  std::vector<unsigned char> mask(rows * columns * 2);
  for (auto& truth : mask) truth = random_numbers() % 3 == 0 ? 1 : 0;
  std::vector<std::int64_t> expected_rows, expected_columns;
  for (std::int64_t i = 0; i < columns; ++i) // transposed, every other element
    for (std::int64_t j = 0; j < rows; ++j)
      if (mask[static_cast<std::size_t>(j * columns * 2 + i * 2)] != 0) {
        expected_rows.push_back(i);
        expected_columns.push_back(j);
      }
  const auto count = static_cast<std::int64_t>(expected_rows.size());
  std::vector<std::int64_t> found(2 * expected_rows.size());
  const auto counted =
      counted_true(Cpu{0}, reinterpret_cast<const bool*>(mask.data()), Dims(columns, rows), Dims(2, columns * 2));
  REQUIRE(counted.found() == count);
  write_indices(counted, Dims(columns, rows), count, found.data());
  CHECK(std::vector(found.begin(), found.begin() + count) == expected_rows);
  CHECK(std::vector(found.begin() + count, found.end()) == expected_columns);
}
