// SPDX-License-Identifier: Apache-2.0
//
// One spelling for tensors and for models: the same function template computes equal shapes and numbers from tensors and
// from traced values.

#include <tests/support/numbers.hpp>

#include <twill/compile/function.hpp>
#include <twill/expr.hpp>
#include <twill/nn.hpp>
#include <twill/ops.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <string>

using namespace twill;
using twill::test::numbers;

namespace {

template <class F, class... X> void check(const std::string& name, F f, const X&... x) {
  INFO(name);
  const Tensor of_tensors = f(x...);
  const auto of_values = compiled(f)(x...);
  REQUIRE(of_values.shape() == of_tensors.shape());
  CHECK(of_values.dtype == of_tensors.dtype);
  const auto expected = numbers(of_tensors);
  const auto found = numbers(of_values);
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(std::abs(found[i] - expected[i]) <= 1e-12 * (1 + std::abs(expected[i])));
}

} // namespace

TEST_CASE("reductions have one spelling and one meaning for tensors and models", "[nn]") {
  manual_seed_all(4);
  const auto x = randn<double, Shape<3, 5, 4>>();
  check(
      "sum", [](const auto& v) { return sum(v); }, x);
  check(
      "sum of an axis", [](const auto& v) { return sum<1>(v); }, x);
  check(
      "sum of two axes", [](const auto& v) { return sum<0, -1>(v, keepdims); }, x);
  check(
      "prod", [](const auto& v) { return prod<2>(v); }, x);
  check(
      "mean", [](const auto& v) { return mean<0, 1>(v); }, x);
  check(
      "mean of all", [](const auto& v) { return mean(v, keepdims); }, x);
  check(
      "max", [](const auto& v) { return max<-1>(v); }, x);
  check(
      "min", [](const auto& v) { return min<1>(v, keepdims); }, x);
  check(
      "var", [](const auto& v) { return var<1>(v); }, x);
  check(
      "var of all", [](const auto& v) { return var(v); }, x);
  check(
      "var with a correction", [](const auto& v) { return var<0, 2>(v, correction<1>); }, x);
  check(
      "var that keeps axes", [](const auto& v) { return var<1>(v, keepdims, correction<1>); }, x);
  check(
      "stddev", [](const auto& v) { return stddev<2>(v); }, x);
  check(
      "ptp", [](const auto& v) { return ptp<1>(v); }, x);
  check(
      "count_nonzero", [](const auto& v) { return count_nonzero<1>(relu(v)); }, x);
  check(
      "logsumexp", [](const auto& v) { return logsumexp<1>(v); }, x);
  check(
      "logsumexp that keeps axes", [](const auto& v) { return logsumexp<-1>(v, keepdims); }, x);
  check(
      "integers", [](const auto& v) { return sum<0>(v); }, eval(cast<std::int32_t>(x * 9)));
}

TEST_CASE("rows have one spelling and one meaning for tensors and models", "[nn]") {
  manual_seed_all(5);
  const auto x = randn<double, Shape<3, 5, 4>>();
  const auto y = randn<double, Shape<3, 5, 4>>();
  check(
      "softmax", [](const auto& v) { return softmax<1>(v); }, x);
  check(
      "softmax of the last axis", [](const auto& v) { return softmax(v); }, x);
  check(
      "log_softmax", [](const auto& v) { return log_softmax<-1>(v); }, x);
  check(
      "layer_norm", [](const auto& v) { return layer_norm<-1>(v); }, x);
  check(
      "rms_norm", [](const auto& v) { return rms_norm<1>(v, 1e-3); }, x);
  check(
      "normalize", [](const auto& v) { return normalize<-1>(v); }, x);
  check(
      "cumsum", [](const auto& v) { return cumsum<1>(v); }, x);
  check(
      "chain", [](const auto& a, const auto& b) { return a - log(sum<1>(exp(a * b), keepdims)); }, x, y);
}

TEST_CASE("shapes have one spelling and one meaning for tensors and models", "[nn]") {
  manual_seed_all(6);
  const auto x = randn<double, Shape<3, 5, 4>>();
  const auto y = randn<double, Shape<3, 5, 4>>();
  const auto index = tensor<std::int64_t>({4, 0, 2, 2});
  check(
      "transpose", [](const auto& v) { return v.transpose() + 0; }, x);
  check(
      "transpose of two axes", [](const auto& v) { return v.template transpose<0, -1>() + 0; }, x);
  check(
      "swapaxes", [](const auto& v) { return swapaxes<1, 2>(v) + 0; }, x);
  check(
      "permute", [](const auto& v) { return v.template permute<2, 0, 1>() + 0; }, x);
  check(
      "reshape", [](const auto& v) { return v.reshape(5, -1) + 0; }, x);
  check(
      "flatten", [](const auto& v) { return v.flatten() + 0; }, x);
  check(
      "flatten of two axes", [](const auto& v) { return v.template flatten<1, 2>() + 0; }, x);
  check(
      "unsqueeze", [](const auto& v) { return v.template unsqueeze<-1>() + 0; }, x);
  check(
      "expand_dims", [](const auto& v) { return expand_dims<0>(v) + 0; }, x);
  check(
      "squeeze", [](const auto& v) { return v.template unsqueeze<1>().template squeeze<1>() + 0; }, x);
  check(
      "flip", [](const auto& v) { return flip<0, 2>(v) + 0; }, x);
  check(
      "flip of all axes", [](const auto& v) { return flip(v) + 0; }, x);
  check(
      "roll", [](const auto& v) { return roll<1>(v, 2); }, x);
  check(
      "narrow", [](const auto& v) { return narrow<1>(v, 1, 3) + 0; }, x);
  check(
      "take", [](const auto& v, const auto& i) { return take<1>(v, i); }, x, index);
  check(
      "concat", [](const auto& a, const auto& b) { return concat<1>(a, b); }, x, y);
  check(
      "stack", [](const auto& a, const auto& b) { return stack<0>(a, b); }, x, y);
  check(
      "stack of three", [](const auto& a, const auto& b) { return stack<-1>(a, b, a); }, x, y);
  check(
      "concatenate", [](const auto& a, const auto& b) { return concatenate(a, b); }, x, y);
  check(
      "cat", [](const auto& a, const auto& b) { return cat<-1>(a, b, b); }, x, y);
  check(
      "concatenate of a list",
      [](const auto& a, const auto& b) {
        return concatenate({a, b});
      },
      x, y);
  check(
      "stack of a list",
      [](const auto& a, const auto& b) {
        return stack({a, b});
      },
      x, y);
  check(
      "T", [](const auto& v) { return v.T() + 0; }, x);
  check(
      "unsqueeze and squeeze", [](const auto& v) { return squeeze<1>(unsqueeze<1>(v)) * 2 + unsqueeze<0>(v); }, x);
  check(
      "argmax", [](const auto& v) { return argmax<1>(v); }, x);
  check(
      "argmin", [](const auto& v) { return argmin<-1>(v); }, x);
  check(
      "argmax with NaN", [](const auto& v) { return argmax<1>(log(v)); }, x);
  check(
      "argmin with NaN", [](const auto& v) { return argmin<0>(log(v)); }, x);
  check(
      "argmin of integers", [](const auto& v) { return argmin<1>(v); }, eval(cast<std::int32_t>(x * 2)));
  check(
      "stop_gradient", [](const auto& v) { return stop_gradient(v) + 0; }, x);
  check(
      "ravel", [](const auto& v) { return ravel(v) + 0; }, x);
  check(
      "flipud", [](const auto& v) { return flipud(v) + 0; }, x);
  check(
      "fliplr", [](const auto& v) { return fliplr(v) + 0; }, x);
  const auto stacked = [](const auto& a, const auto& b) { return vstack(a, b); };
  const auto joined = [](const auto& a, const auto& b) { return hstack(a, b, a); };
  check("vstack", stacked, x, y);
  check("vstack of vectors", stacked, eval(x[0][0] + 0), eval(y[0][0] + 0));
  check("vstack of numbers", stacked, eval(x[0][0][0] + 0), eval(y[0][0][0] + 0));
  check("hstack", joined, x, y);
  check("hstack of vectors", joined, eval(x[0][0] + 0), eval(y[0][0] + 0));
  check("hstack of numbers", joined, eval(x[0][0][0] + 0), eval(y[0][0][0] + 0));
}
