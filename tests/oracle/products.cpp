// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices and vectors. The operands are small multiples of powers of two, so sums are exact in any order.

#include "tests/oracle/registry.hpp"

namespace oracle {

void add_products(Registry& to) {
  binary<2>(to, "matmul2", Numbers{}, exact, [](const auto& a, const auto& b) { return matmul(a, b); });
  binary<3>(to, "matmul3", Floats{}, exact, [](const auto& a, const auto& b) { return matmul(a, b); });
  binary<1>(to, "matmul1", Floats{}, exact, [](const auto& a, const auto& b) { return matmul(a, b); });
}

} // namespace oracle
