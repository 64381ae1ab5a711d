// SPDX-License-Identifier: Apache-2.0
//
// The products beside `matmul` in NumPy's definitions, and statements around products: bias and activation behind each
// block of rows, several products, reductions, destinations that are also operands.

#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/tensor.hpp>

#include "../support/late_device.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <utility>
#include <vector>

using namespace twill;
using twill::test::largest_difference;
using twill::test::Late;
using twill::test::message_of;
using twill::test::numbers;

namespace {
using Matrix = Tensor<float, Cpu, Shape<dyn, dyn>>;

Matrix random(std::int64_t rows, std::int64_t columns) { return randn<float, Shape<dyn, dyn>>(Dims(rows, columns)); }

/// Rows times columns by plain loops.
Matrix plain_product(const Matrix& a, const Matrix& b) {
  Matrix c = zeros<float, Shape<dyn, dyn>>(Dims(a.size(0), b.size(1)));
  for (std::int64_t i = 0; i < a.size(0); ++i)
    for (std::int64_t j = 0; j < b.size(1); ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < a.size(1); ++p) sum += double{a(i, p).item()} * double{b(p, j).item()};
      c(i, j) = static_cast<float>(sum);
    }
  return c;
}

template <class X, class Y> double distance(const X& x, const Y& y) {
  REQUIRE(x.shape() == y.shape());
  return largest_difference(numbers(x), numbers(y));
}
} // namespace

TEST_CASE("vectors, tensors and their products are NumPy's", "[expr]") {
  const auto a = eval(cast<float>(arange(24).reshape<Shape<2, 3, 4>>()));
  const auto v = tensor({1.F, -2.F, 3.F, 0.5F});
  const auto w = tensor({2.F, 5.F});
  CHECK(dot(v, v).item() == 14.25F);
  CHECK(numbers(eval(dot(a, v))) == numbers(eval(matmul(a, v))));
  CHECK(numbers(eval(inner(v, a[0]))) == numbers(eval(matmul(a[0], v))));
  CHECK(numbers(eval(outer(w, v))) == std::vector<double>{2, -4, 6, 1, 5, -10, 15, 2.5});
  CHECK(eval(outer(a[0], w)).shape() == Dims(12, 2));
  CHECK(vdot(a, a * 2).item() == 2 * sum(a * a).item());
  CHECK(distance(eval(vecdot(a, v)), eval(sum<-1>(a * v))) == 0);
  CHECK(distance(eval(vecdot(a, a[1])), eval(sum<-1>(a * a[1]))) == 0);
  CHECK(distance(eval(bmm(a, a.transpose<1, 2>())), eval(matmul(a, a.transpose<1, 2>()))) == 0);
  CHECK(eval(dot(a, a.transpose<1, 2>())).shape() == Dims(2, 3, 2, 3));
  CHECK(distance(eval(dot(a, a.transpose<1, 2>())), eval(einsum<"ijk,lkm->ijlm">(a, a.transpose<1, 2>()))) == 0);

  CHECK(tensordot<3>(a, a).item() == sum(a * a).item());
  CHECK(distance(eval(tensordot<1>(a, v)), eval(matmul(a, v))) == 0);
  CHECK(distance(eval(tensordot<Axes<1, 0>, Axes<0, -1>>(a, a.permute<1, 2, 0>())),
                 eval(einsum<"ijk,jli->kl">(a, a.permute<1, 2, 0>()))) == 0);
  CHECK(eval(tensordot<0>(w, v)).shape() == Dims(2, 4));
  const auto blocks = kron(a[0](all, slice{0, 2}), outer(w, w));
  static_assert(decltype(blocks)::rank == 2);
  CHECK(blocks.shape() == Dims(6, 4));
  CHECK(blocks(3, 2).item() == a(0, 1, 1).item() * 5 * 2);
}

TEST_CASE("bias and activation follow a product in place", "[expr]") {
  for (const auto& [m, n, k] : {std::array{1, 1, 1}, std::array{3, 17, 5}, std::array{64, 33, 128},
                                std::array{257, 640, 31}, std::array{700, 300, 64}, std::array{5, 7, 0}}) {
    CAPTURE(m, n, k);
    const Matrix x = random(m, k);
    const Matrix w = random(n, k);
    const auto bias = randn<float, Shape<dyn>>(Dims(n));
    const Matrix residual = random(m, n);
    const Tensor product = matmul(x, w.transpose());
    const Tensor expected = relu(product + bias);
    const Tensor fused = relu(matmul(x, w.transpose()) + bias);
    CHECK(distance(fused, expected) <= 1e-4);
    CHECK(distance(eval(relu(linear(x, w, bias))), expected) <= 1e-4);
    const Tensor longer = residual - tanh(matmul(x, w.transpose()) * 0.25 + bias) * residual;
    CHECK(distance(longer, eval(residual - tanh(product * 0.25 + bias) * residual)) <= 1e-4);
    const Tensor by_row = matmul(x, w.transpose()) * sum<1>(residual, keepdims);
    CHECK(distance(by_row, eval(product * sum<1>(residual, keepdims))) <= 1e-2);
    if (m <= 64) CHECK(distance(product, plain_product(x, w.transpose())) <= 1e-4);
  }
}

TEST_CASE("stacks of products are followed too", "[expr]") {
  const auto a = randn<float, Shape<3, 1, 70, 12>>();
  const auto b = randn<float, Shape<2, 12, 40>>();
  const auto bias = randn<float, Shape<40>>();
  const auto mask = randn<float, Shape<3, 2, 1, 40>>();
  const Tensor product = matmul(a, b);
  CHECK(distance(eval(sigmoid(matmul(a, b) * 0.5 + mask) + bias), eval(sigmoid(product * 0.5 + mask) + bias)) <= 1e-5);
  const auto x = randn<float, Shape<4, 9, 12>>(); // one product of 36 rows
  const auto w = randn<float, Shape<40, 12>>();
  CHECK(distance(eval(linear(x, w, bias)), eval(matmul(x, w.transpose()) + bias)) <= 1e-5);
}

TEST_CASE("several products, and products under reductions, are one statement", "[expr]") {
  const Matrix a = random(37, 20);
  const Matrix b = random(20, 53);
  const Tensor ab = matmul(a, b);
  CHECK(distance(eval(matmul(a, b) + matmul(a * 2, b) * 0.5), eval(ab + ab)) <= 1e-4);
  CHECK(distance(eval(matmul(a, b) * matmul(a, b)), eval(ab * ab)) <= 1e-4);
  CHECK(distance(eval(matmul(matmul(a, b), b.transpose())), eval(matmul(ab, b.transpose()))) <= 1e-3);
  CHECK(distance(eval(sum<1>(relu(matmul(a, b)))), eval(sum<1>(relu(ab)))) <= 1e-3);
  CHECK(distance(eval(exp(matmul(a, b) - max<1>(matmul(a, b), keepdims))), eval(exp(ab - max<1>(ab, keepdims)))) <=
        1e-4);
  CHECK(distance(eval(cast<double>(matmul(a, b))), eval(cast<double>(ab))) <= 1e-4);
  CHECK(distance(eval(where(matmul(a, b) > 0, ab, -ab)), eval(abs(ab))) <= 1e-4);
  const auto kept = lazy(matmul(a, b) + 1);
  CHECK(distance(eval(kept), eval(ab + 1)) <= 1e-4);
}

TEST_CASE("a destination may be an operand of its product", "[expr]") {
  const Matrix w = random(40, 40);
  Matrix x = random(40, 40);
  const Matrix before = x.clone();
  x = matmul(x, w);
  CHECK(distance(x, eval(matmul(before, w))) == 0);
  x = relu(matmul(w, x) + x);
  CHECK(distance(x, eval(relu(matmul(w, matmul(before, w)) + matmul(before, w)))) <= 1e-3);
  Matrix y = before.clone();
  y[slice{}] = matmul(y, y.transpose());
  CHECK(distance(y, eval(matmul(before, before.transpose()))) == 0);
  Matrix z = before.clone();
  z += matmul(z, w);
  CHECK(distance(z, eval(before + matmul(before, w))) <= 1e-4);
  Matrix wide = zeros<float, Shape<dyn, dyn>>(Dims(40, 100));
  wide(all, slice{10, 50}) = matmul(before, w);
  CHECK(distance(Matrix(wide(all, slice{10, 50})), eval(matmul(before, w))) == 0);
  CHECK(wide(0, 9).item() == 0);
  CHECK(wide(0, 50).item() == 0);
  wide.transpose()(slice{50, 90}, all) = matmul(before, w);
  CHECK(distance(Matrix(wide(all, slice{50, 90}).transpose()), eval(matmul(before, w))) <= 1e-4);
}

TEST_CASE("a layer allocates nothing but its result", "[expr]") {
  const Matrix x = random(300, 64);
  const Matrix w = random(200, 64);
  const auto bias = randn<float, Shape<dyn>>(Dims(200));
  Matrix y = linear(x, w, bias); // memory is reused from here on
  const auto requests = [] { return memory_stats(Cpu{0}).all.allocation.allocated; };
  const auto before = requests();
  y = relu(linear(x, w, bias));
  CHECK(requests() == before);
  CHECK(distance(y, eval(relu(linear(x, w, bias)))) == 0);
}

TEMPLATE_TEST_CASE("layers of every element type", "[expr]", half, bfloat16, double, std::int32_t) {
  const auto x = eval(cast<TestType>(arange(12).reshape<Shape<3, 4>>()));
  const auto w = eval(cast<TestType>(arange(8).reshape<Shape<2, 4>>() - 3));
  const auto bias = eval(cast<TestType>(tensor({1, -2})));
  CHECK(numbers(eval(relu(linear(x, w, bias)))) == std::vector<double>{0, 18, 0, 58, 0, 98});
}

TEST_CASE("products with what follows run on a late device", "[expr][DEV-4]") {
  const auto x = randn<float, Shape<90, 70>>(Late{1});
  const auto bias = randn<float, Shape<90>>(Late{1});
  const Tensor y = relu(matmul(x, x.transpose()) + bias);
  const Tensor there = matmul(x.cpu(), x.cpu().transpose());
  CHECK(distance(y, eval(relu(there + bias.cpu()))) <= 1e-4);
  const auto stack = randn<float, Shape<12, 40, 30>>(Late{1}); // whole products are shared out
  CHECK(distance(eval(bmm(stack, stack.transpose<1, 2>())), eval(bmm(stack.cpu(), stack.cpu().transpose<1, 2>()))) <=
        1e-4);
  const Tensor e = einsum<"ij,kj,kl->il">(x, x, x * 2);
  CHECK(distance(e, eval(matmul(there, x.cpu() * 2))) <= 1e-2);
  const Tensor<float, Meta, Shape<90, 90>> nowhere = relu(matmul(x.to(Meta{}), x.to(Meta{}).transpose()));
  CHECK(nowhere.shape() == Dims(90, 90));
}

TEST_CASE("mistakes in products are named with both values", "[expr]") {
  const Matrix a = random(2, 3);
  CHECK(message_of([&] { (void)eval(inner(a, random(2, 4))); }) == "inner: the axes to contract have extents 3 and 4");
  CHECK(message_of([&] { (void)eval(vecdot(a, random(5, 3))); }) ==
        "vecdot: the leading axes (2,) and (5,) do not broadcast");
  CHECK(message_of([&] { (void)eval(matmul(a, a) + 1); }) == "matmul: left has 3 columns, right has 2 rows");
}
