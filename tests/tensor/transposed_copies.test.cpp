// SPDX-License-Identifier: Apache-2.0
//
// Copies of transposed views, which go in tiles where they are large: into new memory, into slices, and onto themselves.

#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cstdint>

using namespace twill;

namespace {

using Matrix = Tensor<float, Cpu, Shape<dyn, dyn>>;

Matrix numbered(std::int64_t rows, std::int64_t columns) {
  Matrix made(Cpu{0}, Dims(rows, columns));
  for (std::int64_t i = 0; i < made.elements(); ++i) made.data()[i] = static_cast<float>(i);
  return made;
}

} // namespace

TEST_CASE("a transposed matrix made contiguous has every element in its place", "[tensor]") {
  for (const std::int64_t rows : {1, 15, 16, 33, 130})
    for (const std::int64_t columns : {1, 16, 17, 64, 201}) {
      const Matrix x = numbered(rows, columns);
      const Matrix y = x.transpose().contiguous();
      REQUIRE(y.is_contiguous());
      bool same = true;
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) same = same && y.data()[j * rows + i] == x.data()[i * columns + j];
      CHECK(same);
    }
}

TEST_CASE("a transposed matrix is copied into a slice, of a slice, and nothing around it changes", "[tensor]") {
  const std::int64_t n = 77;
  const Matrix x = numbered(n, n + 5);
  const Matrix y = numbered(n + 9, n + 2);
  const Matrix before = y.clone();
  // rows 4 to 64, columns 2 to 52 of y from rows 3 to 53, columns 7 to 67 of x
  y(slice{4, 64}, slice{2, 52}).copy_from(x(slice{3, 53}, slice{7, 67}).transpose());
  bool same = true;
  for (std::int64_t i = 0; i < n + 9; ++i)
    for (std::int64_t j = 0; j < n + 2; ++j) {
      const bool is_inside = i >= 4 && i < 64 && j >= 2 && j < 52;
      const float expected = is_inside ? x.data()[(j - 2 + 3) * (n + 5) + (i - 4 + 7)] : before.data()[i * (n + 2) + j];
      same = same && y.data()[i * (n + 2) + j] == expected;
    }
  CHECK(same);
}

TEST_CASE("a matrix is overwritten with its own transposed elements", "[tensor]") {
  const std::int64_t n = 150;
  const Matrix x = numbered(n, n);
  const Matrix before = x.clone();
  x.copy_from(x.transpose());
  bool same = true;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) same = same && x.data()[i * n + j] == before.data()[j * n + i];
  CHECK(same);
}

TEST_CASE("images change between planes and channels in a device's team", "[tensor]") {
  const std::int64_t batch = 3, channels = 40, height = 61, width = 83;
  Tensor<double, Cpu, Shape<dyn, dyn, dyn, dyn>> planes(Cpu{0}, Dims(batch, channels, height, width));
  for (std::int64_t i = 0; i < planes.elements(); ++i) planes.data()[i] = static_cast<double>(i);
  const auto last = planes.permute<0, 2, 3, 1>().contiguous();
  const auto again = last.permute<0, 3, 1, 2>().contiguous();
  bool same = true;
  for (std::int64_t i = 0; i < planes.elements(); ++i) same = same && again.data()[i] == planes.data()[i];
  CHECK(same);
  bool is_last = true;
  for (std::int64_t c = 0; c < channels; ++c)
    is_last = is_last && last.data()[channels * 100 + c] == planes.data()[c * height * width + 100];
  CHECK(is_last);
}
