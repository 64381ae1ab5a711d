#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Discrete cosine transforms of types 2 and 3 in models, under the names of those of tensors, with derivatives of any
// order: a real Fourier transform of n points in another order, turned by a quarter of a step for each coefficient
// (Makhoul, "A fast cosine transform in one and two dimensions", 1980). Not in twill.hpp. Read next: fft/cosine.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/square_root.hpp>
#include <twill/fft/cosine.hpp>
#include <twill/fft/value_transforms.hpp>
#include <twill/graph/functions.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/slice.hpp>

#include <cstdint>
#include <numbers>
#include <optional>

namespace twill { inline namespace v0 { namespace fft { namespace detail { inline namespace TWILL_ISA {

/// cos and sin of the angle pi k / 2n for k = 0, ..., n / 2, as (1, n / 2 + 1, 1).
[[nodiscard]] TWILL_CONSTEXPR ComplexValue quarter_turns(Value x, std::int64_t n) {
  const Value k = cast(iota(x.graph(), {{}, {n / 2 + 1, 0}, {}}), x.dtype());
  const Value angle = k * (std::numbers::pi / static_cast<double>(2 * n));
  return {cos(angle), sin(angle)};
}

/// y_k = 2 sum_j x_j cos(pi k (2j + 1) / 2n) of lines (outer, n, inner).
[[nodiscard]] TWILL_CONSTEXPR Value cosine_2(Value x, std::int64_t n, CallSite site) {
  // V is the transform of x_0, x_2, ..., x_3, x_1; y_k = 2 Re(e^(-i angle) V_k) and V_(n-k) = conj V_k
  const Value even = slice_axis(x, 1, {.step = 2}, site);
  const Value odd = flip(slice_axis(x, 1, {.begin = 1, .step = 2}, site), {1}, site);
  const Value reordered = n > 1 ? graph::concatenate({even, odd}, 1, site) : x;
  const ComplexValue v = to_complex(reordered, nullptr, {Kind::hermitian_of_real, Sign::forward, Factor::one});
  const ComplexValue turn = quarter_turns(x, n);
  const Value first = (turn.re * v.re + turn.im * v.im) * 2.0;
  const Value mirrored = (turn.im * v.re - turn.re * v.im) * 2.0; // y_(n-k)
  const std::int64_t rest = n - n / 2 - 1;
  if (rest == 0) return first;
  return graph::concatenate({first, flip(narrow(mirrored, 1, 1, rest, site), {1}, site)}, 1, site);
}

/// y_j = x_0 + 2 sum_(k>0) x_k cos(pi k (2j + 1) / 2n) of lines (outer, n, inner).
[[nodiscard]] TWILL_CONSTEXPR Value cosine_3(Value x, std::int64_t n, CallSite site) {
  // V_k = e^(i angle) (x_k - i x_(n-k)), with x_n = 0, has the transform y_0, y_2, ..., y_3, y_1
  if (n == 1) return x;
  const Value ahead = narrow(x, 1, 0, n / 2 + 1, site);
  const Value mirrored = pad(flip(narrow(x, 1, n - n / 2, n / 2, site), {1}, site), 1, {1, 0}, 0, site);
  const ComplexValue turn = quarter_turns(x, n);
  const ComplexValue v{turn.re * ahead + turn.im * mirrored, turn.im * ahead - turn.re * mirrored};
  const Value reordered = to_real(v, n, {Kind::real_of_hermitian, Sign::inverse, Factor::one});
  const std::int64_t evens = n - n / 2;
  const Value even = narrow(reordered, 1, 0, evens, site);
  const Value odd = flip(narrow(reordered, 1, evens, n / 2, site), {1}, site);
  const Value pairs = graph::stack({even, n % 2 == 0 ? odd : pad(odd, 1, {0, 1}, 0, site)}, 2, site);
  const Value alternating = reshape(pairs, with_lines(x.shape(), {2 * evens, 0}), site);
  return narrow(alternating, 1, 0, n, site);
}

[[nodiscard]] TWILL_CONSTEXPR Value cosine_along(Value x, Sign sign, int axis, std::optional<std::int64_t> points,
                                                 const CosineOptions& options, CallSite site) {
  graph::Graph& graph = x.graph();
  if (options.type != 2 && options.type != 3)
    graph.refuse(Problem::cosine_transform_is_neither_of_type_2_nor_of_type_3, options.type, 0, site);
  const int position = checked_axis(x, axis, site);
  if (graph.fault.any()) return x;
  x = with_points(computed(x), position, points, site);
  const std::int64_t n = graph.fault.any() ? 0 : x.size(position, site);
  if (n < 1) graph.refuse(Problem::slice_reaches_outside_of_the_axis, 1, n, site);
  if (graph.fault.any()) return x;
  const Lines around{x.shape(), position};
  Value lines = around.of(x);
  const bool is_second = (options.type == 2) == (sign == Sign::forward); // the two are each other's inverse
  const Factor by = factor_of(options.norm, sign);
  const auto both = static_cast<double>(2 * n);
  const double scale = by == Factor::one ? 1 : by == Factor::all ? 1 / both : 1 / square_root(both);
  // The first coefficient of an orthogonal transform has a factor of its own.
  const double first = options.norm != Norm::ortho ? 1 : is_second ? std::numbers::sqrt2 / 2 : std::numbers::sqrt2;
  const Value is_first = cast(equal(iota(graph, {{}, {n, 0}, {}}), 0), x.dtype());
  const Value factor = is_first * (scale * (first - 1)) + scale;
  lines = is_second ? cosine_2(lines, n, site) * factor : cosine_3(lines * factor, n, site);
  return around.back(lines);
}

}}}}} // namespace twill::v0::fft::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace fft { inline namespace TWILL_ISA {

/// Type 2 of traced numbers: y_k = 2 sum_j x_j cos(pi k (2j + 1) / 2n); type 3: y_j = x_0 + 2 sum_(k>0) x_k
/// cos(pi k (2j + 1) / 2n). errors: another type, an axis that is empty or unknown until run time
template <int Axis = -1, std::int64_t N = whole_axis>
[[nodiscard]] constexpr graph::Value dct(graph::Value x, const CosineOptions& options = {},
                                         CallSite site = CallSite::here()) {
  return detail::cosine_along(x, detail::Sign::forward, Axis, detail::asked<N>, options, site);
}
/// Of n points, cropped or padded with zeros.
template <int Axis = -1>
[[nodiscard]] constexpr graph::Value dct(graph::Value x, std::int64_t n, const CosineOptions& options = {},
                                         CallSite site = CallSite::here()) {
  return detail::cosine_along(x, detail::Sign::forward, Axis, n, options, site);
}
/// The inverse of `dct` of this type: the other type, by default divided by 2n.
template <int Axis = -1, std::int64_t N = whole_axis>
[[nodiscard]] constexpr graph::Value idct(graph::Value x, const CosineOptions& options = {},
                                          CallSite site = CallSite::here()) {
  return detail::cosine_along(x, detail::Sign::inverse, Axis, detail::asked<N>, options, site);
}
/// Of n points, cropped or padded with zeros.
template <int Axis = -1>
[[nodiscard]] constexpr graph::Value idct(graph::Value x, std::int64_t n, const CosineOptions& options = {},
                                          CallSite site = CallSite::here()) {
  return detail::cosine_along(x, detail::Sign::inverse, Axis, n, options, site);
}

}}}} // namespace twill::v0::fft::TWILL_ISA
