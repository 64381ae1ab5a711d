// SPDX-License-Identifier: Apache-2.0
//
// One spelling for tensors and for models: the same function template computes equal shapes and numbers from tensors and
// from traced values.

#include "tests/support/same_in_models.hpp"

#include <twill/compile/function.hpp>
#include <twill/expr.hpp>
#include <twill/nn.hpp>
#include <twill/ops.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

using namespace twill;
using twill::test::check_same_in_models;

TEST_CASE("reductions have one spelling and one meaning for tensors and models", "[nn]") {
  manual_seed_all(4);
  const auto x = randn<double, Shape<3, 5, 4>>();
  check_same_in_models(
      "sum", [](const auto& v) { return sum(v); }, x);
  check_same_in_models(
      "sum of an axis", [](const auto& v) { return sum<1>(v); }, x);
  check_same_in_models(
      "sum of two axes", [](const auto& v) { return sum<0, -1>(v, keepdims); }, x);
  check_same_in_models(
      "prod", [](const auto& v) { return prod<2>(v); }, x);
  check_same_in_models(
      "mean", [](const auto& v) { return mean<0, 1>(v); }, x);
  check_same_in_models(
      "mean of all", [](const auto& v) { return mean(v, keepdims); }, x);
  check_same_in_models(
      "max", [](const auto& v) { return max<-1>(v); }, x);
  check_same_in_models(
      "min", [](const auto& v) { return min<1>(v, keepdims); }, x);
  check_same_in_models(
      "var", [](const auto& v) { return var<1>(v); }, x);
  check_same_in_models(
      "var of all", [](const auto& v) { return var(v); }, x);
  check_same_in_models(
      "var with a correction", [](const auto& v) { return var<0, 2>(v, correction<1>); }, x);
  check_same_in_models(
      "var that keeps axes", [](const auto& v) { return var<1>(v, keepdims, correction<1>); }, x);
  check_same_in_models(
      "stddev", [](const auto& v) { return stddev<2>(v); }, x);
  check_same_in_models(
      "ptp", [](const auto& v) { return ptp<1>(v); }, x);
  check_same_in_models(
      "count_nonzero", [](const auto& v) { return count_nonzero<1>(relu(v)); }, x);
  check_same_in_models(
      "logsumexp", [](const auto& v) { return logsumexp<1>(v); }, x);
  check_same_in_models(
      "logsumexp that keeps axes", [](const auto& v) { return logsumexp<-1>(v, keepdims); }, x);
  check_same_in_models(
      "integers", [](const auto& v) { return sum<0>(v); }, eval(cast<std::int32_t>(x * 9)));
}

TEST_CASE("rows have one spelling and one meaning for tensors and models", "[nn]") {
  manual_seed_all(5);
  const auto x = randn<double, Shape<3, 5, 4>>();
  const auto y = randn<double, Shape<3, 5, 4>>();
  check_same_in_models(
      "softmax", [](const auto& v) { return softmax<1>(v); }, x);
  check_same_in_models(
      "softmax of the last axis", [](const auto& v) { return softmax(v); }, x);
  check_same_in_models(
      "log_softmax", [](const auto& v) { return log_softmax<-1>(v); }, x);
  check_same_in_models(
      "layer_norm", [](const auto& v) { return layer_norm<-1>(v); }, x);
  check_same_in_models(
      "rms_norm", [](const auto& v) { return rms_norm<1>(v, 1e-3); }, x);
  check_same_in_models(
      "normalize", [](const auto& v) { return normalize<-1>(v); }, x);
  check_same_in_models(
      "cumsum", [](const auto& v) { return cumsum<1>(v); }, x);
  check_same_in_models(
      "chain", [](const auto& a, const auto& b) { return a - log(sum<1>(exp(a * b), keepdims)); }, x, y);
}

TEST_CASE("shapes have one spelling and one meaning for tensors and models", "[nn]") {
  manual_seed_all(6);
  const auto x = randn<double, Shape<3, 5, 4>>();
  const auto y = randn<double, Shape<3, 5, 4>>();
  const auto index = tensor<std::int64_t>({4, 0, 2, 2});
  check_same_in_models(
      "transpose", [](const auto& v) { return v.transpose() + 0; }, x);
  check_same_in_models(
      "transpose of two axes", [](const auto& v) { return v.template transpose<0, -1>() + 0; }, x);
  check_same_in_models(
      "swapaxes", [](const auto& v) { return swapaxes<1, 2>(v) + 0; }, x);
  check_same_in_models(
      "permute", [](const auto& v) { return v.template permute<2, 0, 1>() + 0; }, x);
  check_same_in_models(
      "reshape", [](const auto& v) { return v.reshape(5, -1) + 0; }, x);
  check_same_in_models(
      "flatten", [](const auto& v) { return v.flatten() + 0; }, x);
  check_same_in_models(
      "flatten of two axes", [](const auto& v) { return v.template flatten<1, 2>() + 0; }, x);
  check_same_in_models(
      "unsqueeze", [](const auto& v) { return v.template unsqueeze<-1>() + 0; }, x);
  check_same_in_models(
      "expand_dims", [](const auto& v) { return expand_dims<0>(v) + 0; }, x);
  check_same_in_models(
      "squeeze", [](const auto& v) { return v.template unsqueeze<1>().template squeeze<1>() + 0; }, x);
  check_same_in_models(
      "flip", [](const auto& v) { return flip<0, 2>(v) + 0; }, x);
  check_same_in_models(
      "flip of all axes", [](const auto& v) { return flip(v) + 0; }, x);
  check_same_in_models(
      "roll", [](const auto& v) { return roll<1>(v, 2); }, x);
  check_same_in_models(
      "narrow", [](const auto& v) { return narrow<1>(v, 1, 3) + 0; }, x);
  check_same_in_models(
      "take", [](const auto& v, const auto& i) { return take<1>(v, i); }, x, index);
  check_same_in_models(
      "concat", [](const auto& a, const auto& b) { return concat<1>(a, b); }, x, y);
  check_same_in_models(
      "stack", [](const auto& a, const auto& b) { return stack<0>(a, b); }, x, y);
  check_same_in_models(
      "stack of three", [](const auto& a, const auto& b) { return stack<-1>(a, b, a); }, x, y);
  check_same_in_models(
      "concatenate", [](const auto& a, const auto& b) { return concatenate(a, b); }, x, y);
  check_same_in_models(
      "cat", [](const auto& a, const auto& b) { return cat<-1>(a, b, b); }, x, y);
  check_same_in_models(
      "concatenate of a list",
      [](const auto& a, const auto& b) {
        return concatenate({a, b});
      },
      x, y);
  check_same_in_models(
      "stack of a list",
      [](const auto& a, const auto& b) {
        return stack({a, b});
      },
      x, y);
  check_same_in_models(
      "T", [](const auto& v) { return v.T() + 0; }, x);
  check_same_in_models(
      "unsqueeze and squeeze", [](const auto& v) { return squeeze<1>(unsqueeze<1>(v)) * 2 + unsqueeze<0>(v); }, x);
  check_same_in_models(
      "argmax", [](const auto& v) { return argmax<1>(v); }, x);
  check_same_in_models(
      "argmin", [](const auto& v) { return argmin<-1>(v); }, x);
  check_same_in_models(
      "argmax with NaN", [](const auto& v) { return argmax<1>(log(v)); }, x);
  check_same_in_models(
      "argmin with NaN", [](const auto& v) { return argmin<0>(log(v)); }, x);
  check_same_in_models(
      "argmin of integers", [](const auto& v) { return argmin<1>(v); }, eval(cast<std::int32_t>(x * 2)));
  check_same_in_models(
      "stop_gradient", [](const auto& v) { return stop_gradient(v) + 0; }, x);
  check_same_in_models(
      "ravel", [](const auto& v) { return ravel(v) + 0; }, x);
  check_same_in_models(
      "flipud", [](const auto& v) { return flipud(v) + 0; }, x);
  check_same_in_models(
      "fliplr", [](const auto& v) { return fliplr(v) + 0; }, x);
  const auto stacked = [](const auto& a, const auto& b) { return vstack(a, b); };
  const auto joined = [](const auto& a, const auto& b) { return hstack(a, b, a); };
  check_same_in_models("vstack", stacked, x, y);
  check_same_in_models("vstack of vectors", stacked, eval(x[0][0] + 0), eval(y[0][0] + 0));
  check_same_in_models("vstack of numbers", stacked, eval(x[0][0][0] + 0), eval(y[0][0][0] + 0));
  check_same_in_models("hstack", joined, x, y);
  check_same_in_models("hstack of vectors", joined, eval(x[0][0] + 0), eval(y[0][0] + 0));
  check_same_in_models("hstack of numbers", joined, eval(x[0][0][0] + 0), eval(y[0][0][0] + 0));
}
