#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Factors and solutions with LAPACK's info for each matrix in place of an error, by PyTorch's names: a stack in which
// some matrices are singular is computed as far as it goes, and on GPUs the host waits for nothing. Gradients are those
// of the functions that throw. Read next: linalg/cholesky.hpp, linalg/lu.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/linalg/batch.hpp>
#include <twill/linalg/cholesky.hpp>
#include <twill/linalg/lu.hpp>
#include <twill/linalg/tensors.hpp>

#include <tuple>

namespace twill { inline namespace v0 { namespace linalg { inline namespace TWILL_ISA {

/// A result and the info of each matrix, int32: 0 where the result is good. Elsewhere the result has no meaning, nor
/// has its gradient, which may throw.
template <class Result, class Info> struct WithInfo {
  Result result{}; ///< of the shape that the function without info gives
  Info info{};     ///< (...)
};

/// Cholesky factors of (..., n, n); an info above 0 is the order of the first leading minor that is not positive.
template <UpLo Triangle = UpLo::lower>
[[nodiscard]] constexpr WithInfo<Value, Value> cholesky_ex(Value a, CallSite site = CallSite::here()) {
  a = checked_square(a, site);
  if (a.graph().fault.any()) return {a, a};
  const auto parts = detail::factor_of(a, OnFailure::reports, Triangle);
  return {parts.result, parts.info};
}

/// X with A X = B, as `solve` has it; an info above 0 counts the first pivot that is zero, from 1.
[[nodiscard]] TWILL_CONSTEXPR WithInfo<Value, Value> solve_ex(Value a, Value b, CallSite site = CallSite::here()) {
  const auto parts = detail::solved(a, b, OnFailure::reports, site);
  return {parts.result, parts.info};
}

/// Inverses of (..., n, n); an info above 0 counts the first pivot that is zero, from 1.
[[nodiscard]] TWILL_CONSTEXPR WithInfo<Value, Value> inv_ex(Value a, CallSite site = CallSite::here()) {
  const auto parts = detail::inverted(a, OnFailure::reports, site);
  return {parts.result, parts.info};
}

/// Cholesky factors with info.
template <UpLo Triangle = UpLo::lower, TensorOperand A> [[nodiscard]] auto cholesky_ex(const A& a) {
  return detail::named_on_tensors<WithInfo>(
      [](Value x) {
        const auto parts = cholesky_ex<Triangle>(x);
        return std::tuple{parts.result, parts.info};
      },
      a);
}
/// X with A X = B, with info.
template <TensorOperand A, TensorOperand B> [[nodiscard]] auto solve_ex(const A& a, const B& b) {
  return detail::named_on_tensors<WithInfo>(
      [](Value x, Value y) {
        const auto parts = solve_ex(x, y);
        return std::tuple{parts.result, parts.info};
      },
      a, b);
}
/// Inverses with info.
template <TensorOperand A> [[nodiscard]] auto inv_ex(const A& a) {
  return detail::named_on_tensors<WithInfo>(
      [](Value x) {
        const auto parts = inv_ex(x);
        return std::tuple{parts.result, parts.info};
      },
      a);
}

}}}} // namespace twill::v0::linalg::TWILL_ISA
