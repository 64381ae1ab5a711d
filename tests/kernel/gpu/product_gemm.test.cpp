// SPDX-License-Identifier: Apache-2.0
//
// From stacks of products to what a library is given: which go there, as how many batches, and where each begins.

#include <twill/kernel/gpu/product_choice.hpp>

#include <catch2/catch.hpp>

using namespace twill;
using kernel::ProductStack;
using kernel::gpu::stacked_gemm;

namespace {

template <class T> ProductStack<T> plain(std::int64_t m, std::int64_t n, std::int64_t k) {
  static T memory[1];
  ProductStack<T> stack{.m = m, .n = n, .k = k};
  stack.a = {memory, k, 1, {}};
  stack.b = {memory, n, 1, {}};
  stack.c = memory;
  stack.c_row_stride = n;
  return stack;
}

} // namespace

TEST_CASE("a plain product goes to the library as it lies", "[kernel]") {
  const auto stacked = stacked_gemm(plain<float>(100, 50, 70), 2.0, 1.0);
  REQUIRE(stacked.count == 1);
  const nvidia::Gemm gemm = stacked.batch<float>(0);
  CHECK(gemm.dtype == DType::float32);
  CHECK(gemm.m == 100);
  CHECK(gemm.n == 50);
  CHECK(gemm.k == 70);
  CHECK(gemm.batch == 1);
  CHECK_FALSE(gemm.a.is_transposed);
  CHECK(gemm.a.leading == 70);
  CHECK_FALSE(gemm.b.is_transposed);
  CHECK(gemm.b.leading == 50);
  CHECK(gemm.c_leading == 50);
  CHECK(gemm.alpha == 2.0);
  CHECK(gemm.beta == 1.0);
}

TEST_CASE("transposed factors go to the library without a copy", "[kernel]") {
  auto stack = plain<twill::half>(100, 50, 70);
  stack.a.row_stride = 1;
  stack.a.column_stride = 104;
  stack.b.row_stride = 1;
  stack.b.column_stride = 72;
  const nvidia::Gemm gemm = stacked_gemm(stack).batch<twill::half>(0);
  CHECK(gemm.a.is_transposed);
  CHECK(gemm.a.leading == 104);
  CHECK(gemm.b.is_transposed);
  CHECK(gemm.b.leading == 72);
}

TEST_CASE("integers, small products and factors that lie apart stay with the tiled kernel", "[kernel]") {
  CHECK(stacked_gemm(plain<std::int32_t>(100, 50, 70)).count == 0);
  CHECK(stacked_gemm(plain<bool>(100, 50, 70)).count == 0);
  CHECK(stacked_gemm(plain<float>(4, 8, 2)).count == 0);
  CHECK(stacked_gemm(plain<float>(4, 8, 2000)).count == 1); // deep
  CHECK(stacked_gemm(plain<float>(100, 50, 0)).count == 0); // only scales C
  auto apart = plain<float>(100, 50, 70);
  apart.a.column_stride = 2;
  apart.a.row_stride = 140;
  CHECK(stacked_gemm(apart).count == 0);
  auto repeated = plain<float>(100, 50, 70);
  repeated.b.row_stride = 0; // every row of B is the same memory
  CHECK(stacked_gemm(repeated).count == 0);
}

TEST_CASE("a batch is one call where its axes step together, else one for each outer index", "[kernel]") {
  auto stack = plain<double>(40, 30, 20);
  stack.batch = Dims(2, 3);
  stack.a.batch = {3 * 800, 800};
  stack.b.batch = {0, 0}; // one right factor for all
  stack.c_batch = {3 * 1200, 1200};
  const auto together = stacked_gemm(stack);
  CHECK(together.count == 1);
  CHECK(together.first.batch == 6);
  CHECK(together.first.a.batch_stride == 800);
  CHECK(together.first.b.batch_stride == 0);
  CHECK(together.first.c_batch_stride == 1200);

  stack.b.batch = {0, 600}; // one for each inner index
  const auto apart = stacked_gemm(stack);
  REQUIRE(apart.count == 2);
  CHECK(apart.first.batch == 3);
  const nvidia::Gemm second = apart.batch<double>(1);
  CHECK(static_cast<const double*>(second.a.data) == stack.a.data + 3 * 800);
  CHECK(static_cast<const double*>(second.b.data) == stack.b.data);
  CHECK(static_cast<double*>(second.c) == stack.c + 3 * 1200);

  stack.batch = Dims(2, 0);
  CHECK(stacked_gemm(stack).count == 0);
}
