#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Comparison of a function of tensors with itself of traced values, compiled: shape, element type and numbers.

#include "tests/support/numbers.hpp"

#include <twill/compile/function.hpp>
#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <string>

namespace twill::test {

/// Fails unless `f` gives float64 numbers within 1e-12 of each other for tensors and for traced values.
template <class F, class... X> void check_same_in_models(const std::string& name, F f, const X&... x) {
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

} // namespace twill::test
