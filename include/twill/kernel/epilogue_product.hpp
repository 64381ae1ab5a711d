#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products with an epilogue: an operation on the result, or a sum over the factors, in the same kernel. Vendors'
// libraries have some; where a team has no such library, or it refuses, nothing is done and the caller launches the
// product and a separate program. Read next: ops/biased_product.hpp, kernel/gpu/product_choice.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cuda/gemm.hpp>
#include <twill/kernel/product_stack.hpp>

namespace twill { inline namespace v0 { namespace kernel {

/// One product, its epilogue, and the vectors and matrices of the epilogue; see `nvidia::GemmEpilogue`.
template <class T> struct EpilogueProduct {
  ProductStack<T> product{}; ///< its batch has no axes
  nvidia::GemmEpilogue epilogue = nvidia::GemmEpilogue::none;
  T* bias = nullptr;      ///< dense
  T* auxiliary = nullptr; ///< m x n, dense
};

inline namespace TWILL_ISA {

/// Computes the product if a library can; returns whether it did. Such teams overload it. Call it unqualified.
template <class TeamType, class T> [[nodiscard]] bool run_epilogue_product(const TeamType&, const EpilogueProduct<T>&) {
  return false;
}

} // namespace TWILL_ISA
}}} // namespace twill::v0::kernel
