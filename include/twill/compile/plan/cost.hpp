#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Cost of computing a value again instead of keeping it. Matrix products and reductions are never repeated. Read next:
// compile/passes/lower.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/node.hpp>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

using graph::Kind;
using graph::Node;
using graph::Primitive;

/// The cost of recomputing one primitive, in simple arithmetic operations.
[[nodiscard]] TWILL_CONSTEXPR int cost_of(const Node& node) {
  if (node.kind != Kind::primitive) return 1;
  switch (node.primitive) {
  case Primitive::exp:
  case Primitive::expm1:
  case Primitive::log:
  case Primitive::log1p:
  case Primitive::sin:
  case Primitive::cos:
  case Primitive::tan:
  case Primitive::asin:
  case Primitive::acos:
  case Primitive::atan:
  case Primitive::sinh:
  case Primitive::cosh:
  case Primitive::tanh:
  case Primitive::erf:
  case Primitive::exp2:
  case Primitive::log2:
  case Primitive::log10:
  case Primitive::cbrt:
  case Primitive::asinh:
  case Primitive::acosh:
  case Primitive::atanh:
  case Primitive::tanh_accurate:
  case Primitive::erf_accurate:
  case Primitive::hypot:
  case Primitive::fmod:
  case Primitive::remainder:
  case Primitive::power:
  case Primitive::atan2:
    return 4;
  case Primitive::erfc:
  case Primitive::lgamma:
  case Primitive::digamma:
  case Primitive::polygamma:
    return 9; // never twice
  case Primitive::random_uniform:
  case Primitive::random_integer:
    return 3;
  default:
    return 1;
  }
}

/// Recomputation above this cost is worse than a round trip through memory.
inline constexpr int recomputation_limit = 8;

}}}} // namespace twill::v0::compile::TWILL_ISA
