// SPDX-License-Identifier: Apache-2.0
//
// Products, norms, repetitions and cumulative functions of traced values: one spelling with tensors, and the numbers of
// tensors, which other tests compare with NumPy's. Kernels and derivatives: tests/ops/table_of_products.test.cpp.

#include "tests/support/same_in_models.hpp"

#include <twill/compile/function.hpp>
#include <twill/expr.hpp>
#include <twill/graph.hpp>
#include <twill/ops.hpp>
#include <twill/ops/cumprod.hpp>
#include <twill/ops/einsum.hpp>
#include <twill/ops/patches.hpp>
#include <twill/ops/repeat.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

using namespace twill;
using twill::test::check_same_in_models;

TEST_CASE("products of traced values are those of tensors, with vectors, stacks and mixed ranks", "[ops]") {
  manual_seed_all(4);
  const auto v = randn<double, Shape<4>>();
  const auto w = randn<double, Shape<3>>();
  const auto m = randn<double, Shape<3, 4>>();
  const auto n = randn<double, Shape<4, 5>>();
  const auto s = randn<double, Shape<2, 3, 4>>();
  const auto t = randn<double, Shape<2, 4, 5>>();
  const auto wide = randn<double, Shape<6, 1, 3, 4>>();
  constexpr auto product = [](const auto& a, const auto& b) { return matmul(a, b); };
  check_same_in_models("vectors", product, v, v);
  check_same_in_models("matrix and vector", product, m, v);
  check_same_in_models("vector and matrix", product, w, m);
  check_same_in_models("stack and vector", product, s, v);
  check_same_in_models("vector and stack", product, w, s);
  check_same_in_models("stack and matrix", product, s, n);
  check_same_in_models("matrix and stack", product, m, t);
  check_same_in_models("stacks that broadcast", product, wide, t);
  check_same_in_models(
      "transposed stack and matrix",
      [](const auto& a, const auto& b) {
        return matmul(a.template transpose<1, 2>(), b.template transpose<0, 1>().template transpose<0, 1>());
      },
      s, m);
  check_same_in_models(
      "outer", [](const auto& a, const auto& b) { return outer(a, b); }, m, v);
  check_same_in_models(
      "inner", [](const auto& a, const auto& b) { return inner(a, b); }, s, m);
  check_same_in_models(
      "dot", [](const auto& a, const auto& b) { return dot(a, b); }, s, t);
  check_same_in_models(
      "dot of vectors", [](const auto& a, const auto& b) { return dot(a, b); }, v, v);
  check_same_in_models(
      "vecdot", [](const auto& a, const auto& b) { return vecdot(a, b); }, s, m);
  check_same_in_models(
      "bmm", [](const auto& a, const auto& b) { return bmm(a, b); }, s, t);
  check_same_in_models(
      "kron", [](const auto& a, const auto& b) { return kron(a, b); }, m, n);
  check_same_in_models(
      "tensordot", [](const auto& a, const auto& b) { return tensordot<1>(a, b); }, s, n);
  check_same_in_models(
      "tensordot of two axes", [](const auto& a, const auto& b) { return tensordot<Axes<2, 0>, Axes<1, 0>>(a, b); }, s,
      t);
  check_same_in_models(
      "tensordot of none", [](const auto& a, const auto& b) { return tensordot<0>(a, b); }, v, w);
}

TEST_CASE("einsum of traced values is that of tensors", "[ops]") {
  manual_seed_all(5);
  const auto v = randn<double, Shape<4>>();
  const auto m = randn<double, Shape<3, 4>>();
  const auto q = randn<double, Shape<4, 4>>();
  const auto s = randn<double, Shape<2, 3, 4>>();
  const auto t = randn<double, Shape<2, 4, 5>>();
  const auto h = randn<double, Shape<2, 3, 6, 4>>();
  check_same_in_models(
      "product", [](const auto& a, const auto& b) { return einsum<"ij,jk->ik">(a, b); }, m, q);
  check_same_in_models(
      "batch", [](const auto& a, const auto& b) { return einsum<"bij,bjk->bik">(a, b); }, s, t);
  check_same_in_models(
      "order of the result", [](const auto& a, const auto& b) { return einsum<"bij,bjk->kbi">(a, b); }, s, t);
  check_same_in_models(
      "no arrow", [](const auto& a, const auto& b) { return einsum<"bij,bjk">(a, b); }, s, t);
  check_same_in_models(
      "sum over one operand", [](const auto& a, const auto& b) { return einsum<"bij,bjk->k">(a, b); }, s, t);
  check_same_in_models(
      "two axes summed", [](const auto& a, const auto& b) { return einsum<"bij,bjk->ik">(a, b); }, s, t);
  check_same_in_models(
      "attention", [](const auto& a, const auto& b) { return einsum<"bhqd,bhkd->bhqk">(a, b); }, h, h);
  check_same_in_models(
      "outer", [](const auto& a, const auto& b) { return einsum<"i,jk->jik">(a, b); }, v, m);
  check_same_in_models(
      "trace", [](const auto& a) { return einsum<"ii->">(a); }, q);
  check_same_in_models(
      "diagonal", [](const auto& a) { return einsum<"ii->i">(a); }, q);
  check_same_in_models(
      "diagonal and product", [](const auto& a, const auto& b) { return einsum<"ii,ji->j">(a, b); }, q, m);
  check_same_in_models(
      "transpose", [](const auto& a) { return einsum<"ijk->kij">(a); }, s);
  check_same_in_models(
      "sum", [](const auto& a) { return einsum<"ijk->j">(a); }, s);
  check_same_in_models(
      "ellipsis", [](const auto& a, const auto& b) { return einsum<"...ij,jk->...ik">(a, b); }, h, q);
  check_same_in_models(
      "ellipses that broadcast", [](const auto& a, const auto& b) { return einsum<"...ij,...kj->...ik">(a, b); }, h, m);
  check_same_in_models(
      "three operands", [](const auto& a, const auto& b, const auto& c) { return einsum<"ij,bjk,b->ik">(a, b, c); }, m,
      t, randn<double, Shape<2>>());
}

TEST_CASE("norms and distances of traced values are those of tensors", "[ops]") {
  manual_seed_all(6);
  const auto x = randn<double, Shape<3, 5, 4>>();
  check_same_in_models(
      "norm", [](const auto& v) { return norm(v); }, x);
  check_same_in_models(
      "norm of an axis", [](const auto& v) { return norm<1>(v); }, x);
  check_same_in_models(
      "norm that keeps axes", [](const auto& v) { return norm<0, -1>(v, keepdims); }, x);
  check_same_in_models(
      "order 1", [](const auto& v) { return norm<1>(v, order<1>); }, x);
  check_same_in_models(
      "order 3", [](const auto& v) { return norm<1>(v, order<3>); }, x);
  check_same_in_models(
      "order 0", [](const auto& v) { return norm<1>(relu(v), order<0>); }, x);
  check_same_in_models(
      "order -1", [](const auto& v) { return norm<1>(v, order<-1>); }, x);
  check_same_in_models(
      "order 0.5", [](const auto& v) { return norm<1>(v, 0.5); }, x);
  check_same_in_models(
      "greatest", [](const auto& v) { return norm<1>(v, order_inf); }, x);
  check_same_in_models(
      "least", [](const auto& v) { return norm<2>(v, order_negative_inf); }, x);
}

TEST_CASE("repetitions, differences and cumulative functions of traced values are those of tensors", "[ops]") {
  manual_seed_all(7);
  const auto x = randn<double, Shape<3, 5, 4>>();
  check_same_in_models(
      "tile", [](const auto& v) { return tile(v, 2, 3); }, x);
  check_same_in_models(
      "tile with new axes", [](const auto& v) { return tile(v, 2, 1, 3, 1); }, x);
  check_same_in_models(
      "tile of static counts", [](const auto& v) { return tile<2, 3>(v); }, x);
  check_same_in_models(
      "repeat", [](const auto& v) { return repeat<1>(v, 3); }, x);
  check_same_in_models(
      "diff", [](const auto& v) { return diff(v); }, x);
  check_same_in_models(
      "diff of diff", [](const auto& v) { return diff<1>(v, 2); }, x);
  check_same_in_models(
      "diff of truth values", [](const auto& v) { return diff<0>(v > 0); }, x);
  check_same_in_models(
      "cumprod", [](const auto& v) { return cumprod<1>(v); }, x);
  check_same_in_models(
      "cummax", [](const auto& v) { return cummax<0>(v); }, x);
  check_same_in_models(
      "cummin", [](const auto& v) { return cummin<2>(v); }, x);
  check_same_in_models(
      "moveaxis", [](const auto& v) { return moveaxis<0, 2>(v) + 0; }, x);
  check_same_in_models(
      "moveaxis to the front", [](const auto& v) { return moveaxis<-1, 0>(v) + 0; }, x);
  check_same_in_models(
      "moveaxis between", [](const auto& v) { return moveaxis<2, 1>(v) + 0; }, x);
  check_same_in_models(
      "any", [](const auto& v) { return any<1>(v > 1); }, x);
  check_same_in_models(
      "all_of", [](const auto& v) { return all_of<1>(v > -1, keepdims); }, x);
}
