// SPDX-License-Identifier: Apache-2.0
//
// The matrix product against three loops: vectors, matrices, stacks; transposed, sliced, broadcast, empty; every element
// type and another kind of device.

#include "tests/support/message_of.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include "../support/late_device.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using twill::test::Late;
using twill::test::message_of;

namespace {
/// Three loops over matrices.
template <class A, class B, class P> void check_matrix(const A& a, const B& b, P&& product) {
  const Tensor c = std::forward<P>(product);
  REQUIRE(c.shape() == Dims(a.size(0), b.size(1)));
  const auto x = to_vector(a);
  const auto y = to_vector(b);
  const auto z = to_vector(c);
  const std::int64_t m = a.size(0);
  const std::int64_t k = a.size(1);
  const std::int64_t n = b.size(1);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < k; ++l)
        sum += static_cast<double>(x[static_cast<std::size_t>(i * k + l)]) *
               static_cast<double>(y[static_cast<std::size_t>(l * n + j)]);
      CHECK(static_cast<double>(z[static_cast<std::size_t>(i * n + j)]) == Approx(sum).epsilon(1e-5).margin(1e-5));
    }
}

} // namespace

TEST_CASE("matrices multiply in every layout", "[expr]") {
  for (const std::int64_t m : {1, 2, 17})
    for (const std::int64_t n : {1, 5, 33})
      for (const std::int64_t k : {0, 1, 7, 64}) {
        CAPTURE(m, n, k);
        const auto a = randn<float, Shape<dyn, dyn>>(Dims(m, k));
        const auto b = randn<float, Shape<dyn, dyn>>(Dims(k, n));
        check_matrix(a, b, matmul(a, b));
        check_matrix(a, b, matmul(a.transpose().contiguous().transpose(), b));
        check_matrix(a, b, matmul(a, b.transpose().contiguous().transpose()));
        check_matrix(b.transpose(), a.transpose(), matmul(b.transpose(), a.transpose()));
      }
  const auto wide = randn<double, Shape<12, 20>>();
  check_matrix(wide(slice{.step = -2}, slice{1, 8}), wide.transpose()(slice{0, 14, 2}, slice{.step = 3}),
               matmul(wide(slice{.step = -2}, slice{1, 8}), wide.transpose()(slice{0, 14, 2}, slice{.step = 3})));
}

TEST_CASE("vectors are rows on the left and columns on the right", "[expr]") {
  const auto m = arange(6.F).reshape<Shape<2, 3>>();
  const auto v = tensor({1.F, 2.F, 3.F});
  CHECK(to_vector(eval(matmul(m, v))) == std::vector<float>{8, 26});
  CHECK(to_vector(eval(matmul(tensor({1.F, 2.F}), m))) == std::vector<float>{6, 9, 12});
  CHECK(matmul(v, v).item() == 14);
  CHECK(matmul(v[slice{.step = -2}], v[slice{0, 2}]).item() == 5);
  CHECK(to_vector(eval(matmul(m[0] + 1, m.transpose() * 2))) == std::vector<float>{16, 52});
}

TEST_CASE("stacks of matrices broadcast their leading axes", "[expr]") {
  const auto a = randn<float, Shape<3, 1, 4, 5>>();
  const auto b = randn<float, Shape<2, 5, 6>>();
  const Tensor c = matmul(a, b);
  static_assert(std::is_same_v<decltype(c)::shape_type, Shape<3, 2, 4, 6>>);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j) check_matrix(a(i, 0), b[j], c(i, j));
  const Tensor turned = matmul(b.transpose<1, 2>(), a.transpose<2, 3>());
  check_matrix(b[1].transpose(), a(2, 0).transpose(), turned(2, 1));
}

TEMPLATE_TEST_CASE("every number type multiplies", "[expr]", std::uint8_t, std::int32_t, std::int64_t, half, bfloat16,
                   double) {
  const auto a = eval(cast<TestType>(arange(6).reshape<Shape<2, 3>>()));
  check_matrix(a, a.transpose(), matmul(a, a.transpose()));
}

TEST_CASE("a product runs on a late device and on none", "[expr][DEV-4]") {
  const auto a = randn<float, Shape<70, 80>>(Late{1});
  const Tensor c = matmul(a, a.transpose() * 0.5);
  CHECK(c.device() == Late{1});
  check_matrix(a, eval(a.transpose() * 0.5), c);
  CHECK(matmul(a.to(Meta{}), a.to(Meta{}).transpose()).shape() == Dims(70, 70));
}

TEST_CASE("a product of nothing is zero, and mistakes are named", "[expr]") {
  CHECK(to_vector(eval(matmul(zeros<float, Shape<2, 0>>(), zeros<float, Shape<0, 2>>()))) == std::vector<float>(4, 0));
  CHECK(matmul(zeros<float, Shape<0, 2>>(), zeros<float, Shape<2, 3>>()).shape() == Dims(0, 3));
  const auto a = arange(6.F).reshape(2, 3);
  CHECK(message_of([&] { (void)eval(matmul(a, a)); }) == "matmul: left has 3 columns, right has 2 rows");
  CHECK(message_of([&] {
          (void)eval(
              matmul(zeros<float, Shape<dyn, 2, 2>>(Dims(3, 2, 2)), zeros<float, Shape<dyn, 2, 2>>(Dims(2, 2, 2))));
        }) == "matmul: the leading axes (3,) and (2,) do not broadcast");
}
