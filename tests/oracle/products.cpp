// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices and vectors. The operands are small multiples of powers of two, so sums are exact in any order.

#include "tests/oracle/registry.hpp"

namespace oracle {

void add_products(Registry& to) {
  using Few = Types<std::int32_t, float>;
  binary<2>(to, "matmul2", Numbers{}, zeros_equal, [](const auto& a, const auto& b) { return matmul(a, b); });
  binary<3>(to, "matmul3", Floats{}, zeros_equal, [](const auto& a, const auto& b) { return matmul(a, b); });
  binary<1>(to, "matmul1", Floats{}, zeros_equal, [](const auto& a, const auto& b) { return matmul(a, b); });
  binary<1>(to, "outer", Few{}, zeros_equal, [](const auto& a, const auto& b) { return outer(a, b); });
  binary<2>(to, "inner", Few{}, zeros_equal, [](const auto& a, const auto& b) { return inner(a, b); });
  binary<2>(to, "kron", Few{}, zeros_equal, [](const auto& a, const auto& b) { return kron(a, b); });
  binary<3>(to, "einsum_bij_bjk", Few{}, zeros_equal,
            [](const auto& a, const auto& b) { return twill::einsum<"bij,bjk->bik">(a, b); });
  binary<2>(to, "einsum_ij_ij", Few{}, zeros_equal,
            [](const auto& a, const auto& b) { return twill::einsum<"ij,ij->i">(a, b); });
  binary<3>(to, "tensordot", Few{}, zeros_equal,
            [](const auto& a, const auto& b) { return twill::tensordot<twill::Axes<1, 2>, twill::Axes<2, 1>>(a, b); });
}

} // namespace oracle
