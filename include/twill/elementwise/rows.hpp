#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Formulas of rows: softmax and related functions of the values along an axis, for tensors and traced values alike.
// `row` is the part that differs: `sum`, `mean` and `max` of a row, which arithmetic then broadcasts, and `fixed`, a
// value through which no gradient flows. Definitions are PyTorch's. Read next: expr/normalise.hpp, nn/activations.hpp.

#include <twill/core/config.hpp>
#include <twill/elementwise/arithmetic.hpp>
#include <twill/elementwise/comparison.hpp>
#include <twill/elementwise/floating.hpp>
#include <twill/elementwise/real.hpp>

#include <string_view>

namespace twill { inline namespace v0 { namespace elementwise { inline namespace TWILL_ISA { namespace formula {
/// exp(x - max) / sum
struct Softmax {
  static constexpr std::string_view name = "softmax";
  template <class X, class Row> constexpr X operator()(X x, const Row& row) const {
    const X e = exp(x - row.fixed(row.max(x)));
    return e / row.sum(e);
  }
};
/// exp(min - x) / sum
struct Softmin {
  static constexpr std::string_view name = "softmin";
  template <class X, class Row> constexpr X operator()(X x, const Row& row) const { return Softmax{}(-x, row); }
};
/// x - log(sum(exp(x))); NaN in rows whose greatest is infinite.
struct LogSoftmax {
  static constexpr std::string_view name = "log_softmax";
  template <class X, class Row> constexpr X operator()(X x, const Row& row) const {
    const X greatest = row.fixed(row.max(x));
    const X excess = log(row.sum(exp(x - greatest)));
    return x - greatest - excess;
  }
};
/// log(sum(exp(x))) without overflow. Rows with infinity, or with nothing but its negative, have their greatest for it.
struct LogSumExp {
  static constexpr std::string_view name = "logsumexp";
  template <class X, class Row> constexpr X operator()(X x, const Row& row) const {
    const X greatest = row.fixed(row.max(x));
    const X above = where(isinf(greatest), 0, greatest);
    return log(row.sum(exp(x - above))) + above;
  }
};
/// (x - mean) / sqrt(variance + epsilon). The mean's rounding error, 0 without rounding, is found with the variance and
/// subtracted: equal elements give 0 and an offset costs no more digits than its mean has.
struct LayerNorm {
  static constexpr std::string_view name = "layer_norm";
  template <class X, class Epsilon, class Row>
  constexpr X operator()(X x, const Epsilon& epsilon, const Row& row) const {
    const X roughly = row.mean(x), centred = x - roughly;
    const X rest = row.fixed(row.mean(centred));
    const X variance = row.mean(square(centred)) - square(rest);
    return (x - (roughly + rest)) * rsqrt(variance + epsilon);
  }
};
/// x / sqrt(mean(x^2) + epsilon)
struct RmsNorm {
  static constexpr std::string_view name = "rms_norm";
  template <class X, class Epsilon, class Row>
  constexpr X operator()(X x, const Epsilon& epsilon, const Row& row) const {
    return x * rsqrt(row.mean(square(x)) + epsilon);
  }
};
}}}}} // namespace twill::v0::elementwise::TWILL_ISA::formula
