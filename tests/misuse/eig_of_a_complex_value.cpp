// SPDX-License-Identifier: Apache-2.0
//
// Eigenvalues of general matrices in a model, where only those of Hermitian ones have gradients.
// expect: twill: eig: general matrices have no gradients and are not for models; eigh takes symmetric and Hermitian ones

#include <twill/linalg.hpp>
#include <twill/twill.hpp>

using namespace twill;
using graph::Value;

constexpr Value largest(Value pairs) {
#ifdef MISUSE
  return max(abs(linalg::eig(graph::view_as_complex(pairs)).values));
#else
  return max(abs(linalg::eigh(graph::view_as_complex(pairs)).values));
#endif
}
