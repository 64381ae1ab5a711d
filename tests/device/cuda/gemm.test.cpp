// SPDX-License-Identifier: Apache-2.0
//
// How a product is described to a library that thinks in columns, without the library: the description is carried out by
// plain loops in columns and compared with plain loops in rows.

#include <twill/device/cuda/gemm.hpp>
#include <twill/device/gpu/library_options.hpp>

#include <catch2/catch.hpp>

#include <random>
#include <vector>

using namespace twill;
using namespace twill::nvidia;

namespace {

/// result = left op right in columns, as BLAS defines it, accumulating into `result`.
void column_major_product(const ColumnMajorGemm& p, std::int64_t k, std::int64_t batch) {
  const auto at = [](const ColumnMajor& matrix, std::int64_t number, std::int64_t row, std::int64_t column) {
    if (matrix.is_transposed) std::swap(row, column);
    REQUIRE(row < matrix.rows);
    REQUIRE(column < matrix.columns);
    REQUIRE(matrix.leading >= matrix.rows);
    return number * matrix.batch_stride + row + column * matrix.leading;
  };
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t column = 0; column < p.result.columns; ++column)
      for (std::int64_t row = 0; row < p.result.rows; ++row) {
        double sum = 0;
        for (std::int64_t step = 0; step < k; ++step)
          sum += static_cast<const double*>(p.left.data)[at(p.left, b, row, step)] *
                 static_cast<const double*>(p.right.data)[at(p.right, b, step, column)];
        static_cast<double*>(const_cast<void*>(p.result.data))[at(p.result, b, row, column)] = sum;
      }
}

std::vector<double> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 random{seed};
  std::uniform_real_distribution<double> real{-1, 1};
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = real(random);
  return values;
}

Gemm described(std::int64_t m, std::int64_t n, std::int64_t k) {
  Gemm gemm{.dtype = DType::float64, .m = m, .n = n, .k = k};
  gemm.a.leading = k;
  gemm.b.leading = n;
  gemm.c_leading = n;
  return gemm;
}

} // namespace

TEST_CASE("a product in rows is the exchanged product in columns, for all transposes, strides and batches",
          "[device]") {
  unsigned seed = 0;
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{3, 4, 5}, {1, 7, 2}, {7, 1, 3}, {5, 5, 1}, {13, 11, 17}})
    for (const bool ta : {false, true})
      for (const bool tb : {false, true})
        for (const std::int64_t batch : {1, 3}) {
          CAPTURE(m, n, k, ta, tb, batch);
          Gemm gemm = described(m, n, k);
          gemm.batch = batch;
          const std::int64_t a_rows = ta ? k : m, b_rows = tb ? n : k;
          gemm.a = {nullptr, (ta ? m : k) + 2, ta, 0}; // one left factor for all
          gemm.b = {nullptr, (tb ? k : n) + 1, tb, b_rows * ((tb ? k : n) + 1)};
          gemm.c_leading = n + 3;
          gemm.c_batch_stride = m * (n + 3) + 1;
          const auto a = random_values(a_rows * gemm.a.leading, ++seed);
          const auto b = random_values(batch * gemm.b.batch_stride, ++seed);
          std::vector<double> c(static_cast<std::size_t>(batch * gemm.c_batch_stride), -9.0);
          gemm.a.data = a.data();
          gemm.b.data = b.data();
          gemm.c = c.data();
          REQUIRE(refusal(gemm).empty());
          column_major_product(column_major(gemm), k, batch);
          for (std::int64_t number = 0; number < batch; ++number)
            for (std::int64_t i = 0; i < m; ++i)
              for (std::int64_t j = 0; j < n; ++j) {
                double sum = 0;
                for (std::int64_t p = 0; p < k; ++p)
                  sum += a[static_cast<std::size_t>(ta ? p * gemm.a.leading + i : i * gemm.a.leading + p)] *
                         b[static_cast<std::size_t>(number * gemm.b.batch_stride +
                                                    (tb ? j * gemm.b.leading + p : p * gemm.b.leading + j))];
                CHECK(c[static_cast<std::size_t>(number * gemm.c_batch_stride + i * gemm.c_leading + j)] ==
                      Approx(sum).margin(1e-12));
              }
          // nothing between the rows was written
          CHECK(c[static_cast<std::size_t>(n)] == -9.0);
        }
}

TEST_CASE("what the library cannot be asked is refused with the reason", "[device]") {
  const Gemm good = described(3, 4, 5);
  CHECK(refusal(good).empty());
  Gemm gemm = good;
  gemm.dtype = DType::int32;
  CHECK(refusal(gemm) == "the element type is not floating");
  gemm.dtype = DType::complex128;
  CHECK(refusal(gemm).empty());
  gemm = good;
  gemm.k = 0;
  CHECK(refusal(gemm) == "an extent is 0");
  gemm = good;
  gemm.a.leading = 4;
  CHECK(refusal(gemm) == "rows of the left factor overlap");
  gemm.a.is_transposed = true; // then rows have m elements
  CHECK(refusal(gemm).empty());
  gemm = good;
  gemm.b.leading = 0;
  CHECK(refusal(gemm) == "rows of the right factor overlap");
  gemm = good;
  gemm.c_leading = 3;
  CHECK(refusal(gemm) == "rows of the result overlap");
  gemm = good;
  gemm.a.batch_stride = -15;
  CHECK(refusal(gemm) == "a batch runs backwards");
  gemm = good;
  gemm.epilogue = GemmEpilogue::relu_bias;
  CHECK(refusal(gemm) == "the epilogue needs a bias");
  float bias = 0;
  gemm.bias = &bias;
  CHECK(refusal(gemm).empty());
  gemm.dtype = DType::complex64;
  CHECK(refusal(gemm) == "complex products have no epilogues");
  gemm.dtype = good.dtype;
  gemm.epilogue = GemmEpilogue::gelu_bias_keep;
  CHECK(refusal(gemm) == "the epilogue needs an auxiliary buffer");
  gemm.auxiliary = &bias;
  CHECK(refusal(gemm) == "rows of the auxiliary buffer are no multiple of 8");
  gemm.n = gemm.c_leading = gemm.b.leading = 8;
  CHECK(refusal(gemm).empty());
  gemm.batch = 2;
  CHECK(refusal(gemm) == "an epilogue belongs to one product");
}

TEST_CASE("epilogues say what they read and write", "[device]") {
  using enum GemmEpilogue;
  CHECK_FALSE(uses_bias(none));
  CHECK_FALSE(uses_auxiliary(none));
  for (const GemmEpilogue epilogue :
       {bias, relu_bias, gelu_bias, gelu_bias_keep, gelu_gradient_bias, sum_left, sum_right}) {
    CHECK(uses_bias(epilogue));
    CHECK(uses_auxiliary(epilogue) == (epilogue == gelu_bias_keep || epilogue == gelu_gradient_bias));
  }
  CHECK(name(sum_right) == "sum_right");
  CHECK(name(gelu_gradient_bias) == "gelu_gradient_bias");
}

TEST_CASE("the key of a product holds everything its algorithm depends on", "[device]") {
  alignas(512) static float memory[64];
  Gemm gemm = described(3, 4, 5);
  gemm.a.data = gemm.b.data = gemm.c = memory;
  const auto key = key_of(gemm, 0);
  CHECK(key == key_of(gemm, 0));
  const auto differs = [&](auto change, unsigned options = 0) {
    Gemm other = gemm;
    change(other);
    return key_of(other, options) != key;
  };
  CHECK(differs([](Gemm&) {}, 2));
  CHECK(differs([](Gemm& g) { g.dtype = DType::bfloat16; }));
  CHECK(differs([](Gemm& g) { g.m = 4; }));
  CHECK(differs([](Gemm& g) { g.n = 5; }));
  CHECK(differs([](Gemm& g) { g.k = 6; }));
  CHECK(differs([](Gemm& g) { g.batch = 2; }));
  CHECK(differs([](Gemm& g) { g.a.is_transposed = true; }));
  CHECK(differs([](Gemm& g) { g.b.is_transposed = true; }));
  CHECK(differs([](Gemm& g) { g.a.leading = 8; }));
  CHECK(differs([](Gemm& g) { g.b.leading = 8; }));
  CHECK(differs([](Gemm& g) { g.c_leading = 8; }));
  CHECK(differs([](Gemm& g) { g.a.batch_stride = 8; }));
  CHECK(differs([](Gemm& g) { g.b.batch_stride = 8; }));
  CHECK(differs([](Gemm& g) { g.c_batch_stride = 8; }));
  CHECK(differs([](Gemm& g) { g.beta = 1; }));
  CHECK(differs([](Gemm& g) { g.epilogue = GemmEpilogue::bias; }));
  CHECK(differs([](Gemm& g) { g.a.data = memory + 1; }));
  CHECK(differs([](Gemm& g) { g.c = memory + 2; }));
  CHECK_FALSE(differs([](Gemm& g) { g.alpha = 7; }));
  CHECK_FALSE(differs([](Gemm& g) { g.a.data = reinterpret_cast<const std::byte*>(memory) + 256; }));
  CHECK(alignment_of(memory + 1) == 4);
  CHECK(alignment_of(memory) == 256);
  CHECK(alignment_of(nullptr) == 256);
}

TEST_CASE("a product describes itself", "[device]") {
  Gemm gemm = described(3, 5, 4);
  gemm.b.is_transposed = true;
  gemm.batch = 2;
  gemm.epilogue = GemmEpilogue::relu_bias;
  CHECK(to_string(gemm) == "product of 3 x 4 by 4 x 5 (transposed) float64, batch 2, epilogue relu_bias");
}

TEST_CASE("library options are one setting for the process", "[device] [TRAIN-7]") {
  CHECK(library_options() == LibraryOptions{});
  for (const LibraryOptions options : {LibraryOptions{.autotune = true}, LibraryOptions{.is_deterministic = true},
                                       LibraryOptions{.allows_tf32_in_products = true}}) {
    set_library_options(options);
    CHECK(library_options() == options);
  }
  set_library_options({});
}
