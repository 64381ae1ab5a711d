#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions of complex numbers in models that choose, move, join and add up elements, under the names of those of real
// values: each is its function on the real and on the imaginary parts, which is exact, as these are linear.
// Not in twill.hpp. Read next: ops/complex_value.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/graph/shape_functions.hpp>
#include <twill/ops/complex_value.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/cumsum.hpp>
#include <twill/ops/gather.hpp>
#include <twill/ops/slice.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// Both parts of a list of complex numbers.
struct PartsOfList {
  List<Value> re{};
  List<Value> im{};

  constexpr explicit PartsOfList(std::initializer_list<ComplexValue> values) {
    for (const ComplexValue& z : values) {
      re.push_back(z.re);
      im.push_back(z.im);
    }
  }
};

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

using elementwise::where; // of real values as well, which the function below would hide

/// Part of an axis, like NumPy's z[begin:end:step].
[[nodiscard]] TWILL_CONSTEXPR ComplexValue slice_axis(const ComplexValue& z, int axis, const twill::slice& range,
                                                      CallSite site = CallSite::here()) {
  return {slice_axis(z.re, axis, range, site), slice_axis(z.im, axis, range, site)};
}
/// `length` numbers of an axis from `start` on (negative: from the end).
[[nodiscard]] TWILL_CONSTEXPR ComplexValue narrow(const ComplexValue& z, int axis, std::int64_t start,
                                                  std::int64_t length, CallSite site = CallSite::here()) {
  return {narrow(z.re, axis, start, length, site), narrow(z.im, axis, start, length, site)};
}
/// Number `index` of an axis (negative: from the end); the axis disappears.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue select(const ComplexValue& z, int axis, std::int64_t index,
                                                  CallSite site = CallSite::here()) {
  return {select(z.re, axis, index, site), select(z.im, axis, index, site)};
}
/// The numbers in reverse order along axes.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue flip(const ComplexValue& z, std::initializer_list<int> axes,
                                                CallSite site = CallSite::here()) {
  return {flip(z.re, axes, site), flip(z.im, axes, site)};
}
/// The numbers moved by `shift` places along an axis; those that leave at the end enter at the front.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue roll(const ComplexValue& z, std::int64_t shift, int axis,
                                                CallSite site = CallSite::here()) {
  return {roll(z.re, shift, axis, site), roll(z.im, shift, axis, site)};
}
/// The numbers with others, all equal to a real one, before and after them along an axis.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue pad(const ComplexValue& z, int axis, Margin margin, double number = 0,
                                               CallSite site = CallSite::here()) {
  return {pad(z.re, axis, margin, number, site), pad(z.im, axis, margin, 0, site)};
}

/// The slices of an axis selected by an index of any shape; the index's axes replace that axis.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue take(const ComplexValue& z, Value index, int axis = 0,
                                                CallSite site = CallSite::here()) {
  return {take(z.re, index, axis, site), take(z.im, index, axis, site)};
}
/// y[i, j] = z[i, index[i, j]] for axis 1.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue take_along_axis(const ComplexValue& z, Value index, int axis,
                                                           CallSite site = CallSite::here()) {
  return {take_along_axis(z.re, index, axis, site), take_along_axis(z.im, index, axis, site)};
}
/// z with numbers added at indices along an axis: z[index[i], j] += values[i, j] for axis 0.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue scatter_add(const ComplexValue& z, int axis, Value index,
                                                       const ComplexValue& values, CallSite site = CallSite::here()) {
  return {scatter_add(z.re, axis, index, values.re, site), scatter_add(z.im, axis, index, values.im, site)};
}
/// z with slices added along an axis: z[index[i]] += values[i] for axis 0.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue index_add(const ComplexValue& z, int axis, Value index,
                                                     const ComplexValue& values, CallSite site = CallSite::here()) {
  return {index_add(z.re, axis, index, values.re, site), index_add(z.im, axis, index, values.im, site)};
}

/// Complex numbers joined in order along an axis, a list in braces.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue concatenate(std::initializer_list<ComplexValue> values, int axis = 0,
                                                       CallSite site = CallSite::here()) {
  const detail::PartsOfList parts{values};
  return {concatenate(std::span<const Value>{parts.re.data(), parts.re.size()}, axis, site),
          concatenate(std::span<const Value>{parts.im.data(), parts.im.size()}, axis, site)};
}
/// Complex numbers of one shape along a new axis before `axis`, a list in braces.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue stack(std::initializer_list<ComplexValue> values, int axis = 0,
                                                 CallSite site = CallSite::here()) {
  const detail::PartsOfList parts{values};
  return {stack(std::span<const Value>{parts.re.data(), parts.re.size()}, axis, site),
          stack(std::span<const Value>{parts.im.data(), parts.im.size()}, axis, site)};
}
/// a where the condition holds, b elsewhere; all three broadcast. errors: a condition that is no truth value
[[nodiscard]] TWILL_CONSTEXPR ComplexValue where(Value condition, const ComplexValue& a, const ComplexValue& b) {
  return {where(condition, a.re, b.re), where(condition, a.im, b.im)};
}

/// The sum of the numbers up to and including each one along an axis.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue cumsum(const ComplexValue& z, int axis, CallSite site = CallSite::here()) {
  return {cumsum(z.re, axis, site), cumsum(z.im, axis, site)};
}
/// Sums over axes, which disappear unless they are kept.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue sum(const ComplexValue& z, std::initializer_list<int> axes,
                                               KeepDims keep = KeepDims::no, CallSite site = CallSite::here()) {
  return {sum(z.re, axes, keep, site), sum(z.im, axes, keep, site)};
}
/// Means over axes, which disappear unless they are kept.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue mean(const ComplexValue& z, std::initializer_list<int> axes,
                                                KeepDims keep = KeepDims::no, CallSite site = CallSite::here()) {
  return {mean(z.re, axes, keep, site), mean(z.im, axes, keep, site)};
}

/// The numbers in another shape with as many elements.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue reshape(const ComplexValue& z, const Extents& shape,
                                                   CallSite site = CallSite::here()) {
  return {reshape(z.re, shape, site), reshape(z.im, shape, site)};
}
/// The axes in the order of a list, without conjugation.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue transpose(const ComplexValue& z, std::initializer_list<int> axes,
                                                     CallSite site = CallSite::here()) {
  return {transpose(z.re, axes, site), transpose(z.im, axes, site)};
}
/// With a new axis of extent 1 before `axis`.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue unsqueeze(const ComplexValue& z, int axis,
                                                     CallSite site = CallSite::here()) {
  return {unsqueeze(z.re, axis, site), unsqueeze(z.im, axis, site)};
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

using graph::concatenate; // a list in braces has no namespace to look in
using graph::stack;

}}} // namespace twill::v0::TWILL_ISA
