#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Compares tensors of any device element by element, for suites that run on several kinds of device.

#include <tests/support/suite.hpp>

#include <twill/core/dtype.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstddef>
#include <cstring>
#include <source_location>
#include <string>

namespace twill::test {

/// Fails unless shapes and bits are equal.
template <class A, class B>
void require_same(const A& left, const B& right, const std::source_location& where = std::source_location::current()) {
  static_assert(std::is_same_v<typename A::value_type, typename B::value_type>);
  if (left.shape() != right.shape()) refute(to_string(left.shape()) + " is not " + to_string(right.shape()), where);
  const auto a = to_vector(left);
  const auto b = to_vector(right);
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof(a[i])) != 0)
      refute("element " + std::to_string(i) + " of " + std::to_string(a.size()) + ": " +
                 std::to_string(static_cast<double>(a[i])) + " is not " + std::to_string(static_cast<double>(b[i])),
             where);
}

/// Fails unless shapes are equal and elements close.
template <class A, class B>
void require_near(const A& left, const B& right, double relative, double absolute = 0,
                  const std::source_location& where = std::source_location::current()) {
  if (left.shape() != right.shape()) refute(to_string(left.shape()) + " is not " + to_string(right.shape()), where);
  const auto a = to_vector(left);
  const auto b = to_vector(right);
  for (std::size_t i = 0; i < a.size(); ++i)
    require_close(static_cast<double>(a[i]), static_cast<double>(b[i]), relative, absolute, where);
}

} // namespace twill::test
