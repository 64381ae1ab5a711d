#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Covariances and correlations of variables, NumPy's `cov` and `corrcoef`: each row is a variable, each column an
// observation. Read next: expr/statistics.hpp.

#include <twill/core/axes.hpp>
#include <twill/core/config.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/functions.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/matmul.hpp>
#include <twill/expr/operators.hpp>
#include <twill/expr/reductions.hpp>
#include <twill/tensor/views.hpp>

#include <utility>

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The covariances of n variables, (n, n), with divisor n - 1 as NumPy's, or n - c: `cov(x, correction<0>)`.
template <TensorOperand X, int C = 1> [[nodiscard]] auto cov(X&& x, Correction<C> = {}) {
  using S = typename std::remove_cvref_t<X>::shape_type;
  static_assert(S::rank == 2, "twill: cov: takes (variables, observations)");
  const auto variables = expr::evaluated(std::forward<X>(x));
  const auto centred = eval(variables - mean<1>(variables, keepdims));
  const auto divisor = static_cast<double>(centred.shape()[1] - C);
  return eval(matmul(centred, centred.transpose()) / divisor);
}

/// The correlations of n variables, (n, n), from -1 to 1; NaN beside a variable that does not vary.
template <TensorOperand X> [[nodiscard]] auto corrcoef(X&& x) {
  const auto covariances = cov(std::forward<X>(x));
  const auto deviations = eval(sqrt(diagonal(covariances)));
  return eval(clip(covariances / deviations / deviations(all, newaxis), -1, 1));
}

}}} // namespace twill::v0::TWILL_ISA
