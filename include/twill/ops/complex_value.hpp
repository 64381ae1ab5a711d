#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Complex numbers in models: a pair of traced values, the real and the imaginary parts. Every function is one of real
// values, so derivatives of any order, forward mode and `vmap` are theirs. The gradient of a real loss L by z = x + iy
// is dL/dx + i dL/dy, PyTorch's convention: a step against it descends. Formulas that divide by zero beside branch
// points have the gradients of their functions, not of their lines: where f has the derivative f', the gradient g of a
// result is that of the operand times conj f'. Not in twill.hpp. Read next: fft/value_transforms.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/elementwise/complex_formulas.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/gradient.hpp>
#include <twill/graph/operation.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/ops/slice.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Complex numbers of a model. `complex` and `view_as_complex` make them; both parts have one shape and one type.
struct ComplexValue {
  Value re{}; ///< the real parts
  Value im{}; ///< the imaginary parts

  /// The graph that they belong to.
  [[nodiscard]] constexpr Graph& graph() const { return re.graph(); }
  /// Their extents.
  [[nodiscard]] constexpr Extents shape() const { return re.shape(); }
  /// How many axes there are.
  [[nodiscard]] constexpr int rank() const { return re.rank(); }
  /// The extent of an axis (negative: from the end), which has to be known to the compiler.
  [[nodiscard]] TWILL_CONSTEXPR std::int64_t size(int axis, CallSite site = CallSite::here()) const {
    return re.size(axis, site);
  }
  /// The element type of the parts.
  [[nodiscard]] constexpr DType part_dtype() const { return re.dtype(); }
};

/// Complex numbers of real and imaginary parts, which broadcast, integers as float32. PyTorch's `complex`.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue complex(Value re, Value im, CallSite site = CallSite::here()) {
  const DType dtype = floating_type(promote(re.dtype(), im.dtype()));
  const Extents shape = broadcast_shape(re.graph(), re.shape(), im.shape(), site);
  if (re.graph().fault.any()) return {re, re};
  return {broadcast_to(cast(re, dtype), shape), broadcast_to(cast(im, dtype), shape)};
}

/// r (cos t + i sin t) of lengths and angles in radians. PyTorch's `polar`.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue polar(Value length, Value angle, CallSite site = CallSite::here()) {
  return complex(length * cos(angle), length * sin(angle), site);
}

/// The numbers whose parts are along the last axis, of extent 2, which disappears: a weight (..., 2) is complex.
/// errors: another extent
[[nodiscard]] TWILL_CONSTEXPR ComplexValue view_as_complex(Value pairs, CallSite site = CallSite::here()) {
  Graph& graph = pairs.graph();
  if (pairs.rank() == 0) graph.refuse(Problem::index_has_another_rank, 0, 1, site);
  if (graph.fault.any()) return {pairs, pairs};
  const std::int64_t extent = pairs.size(-1, site);
  if (extent != 2) graph.refuse(Problem::index_has_another_extent, extent, 2, site);
  if (graph.fault.any()) return {pairs, pairs};
  return complex(select(pairs, -1, 0, site), select(pairs, -1, 1, site), site);
}

/// Both parts along a new last axis of extent 2.
[[nodiscard]] TWILL_CONSTEXPR Value view_as_real(const ComplexValue& z, CallSite site = CallSite::here()) {
  return stack({z.re, z.im}, -1, site);
}

// `graph::abs(x)` of real values as well, which the functions below would hide.
using elementwise::abs;
using elementwise::exp;
using elementwise::log;

/// The real parts.
[[nodiscard]] TWILL_CONSTEXPR Value real(const ComplexValue& z) { return z.re; }
/// The imaginary parts.
[[nodiscard]] TWILL_CONSTEXPR Value imag(const ComplexValue& z) { return z.im; }
/// The complex conjugate.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue conj(const ComplexValue& z) { return {z.re, -z.im}; }
/// The absolute value |z|; its gradient is 0 at 0, as PyTorch's.
[[nodiscard]] TWILL_CONSTEXPR Value abs(const ComplexValue& z) { return hypot(z.re, z.im); }
/// The angle in [-pi, pi]; its gradient is 0 at 0, as PyTorch's.
[[nodiscard]] TWILL_CONSTEXPR Value angle(const ComplexValue& z) { return atan2(z.im, z.re); }

/// The result of a function of real values that is linear, such as sums, reshapes and slices, on both parts:
/// `each_part(z, [](Value part) { return mean(part, {0}); })`.
template <class F> [[nodiscard]] constexpr ComplexValue each_part(const ComplexValue& z, F linear) {
  return {linear(z.re), linear(z.im)};
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// 1 / z = (c - i d) / divisor.
struct Reciprocal {
  Value c{};
  Value d{};
  Value divisor{};
};
[[nodiscard]] TWILL_CONSTEXPR Reciprocal reciprocal_of(const ComplexValue& z) {
  // z = s (c + i d), divisor = s (c^2 + d^2); no gradient passes the scale, by which the quotient does not change
  const Value s = stop_gradient(maximum(abs(z.re), abs(z.im)));
  const Value c = z.re / s;
  const Value d = z.im / s;
  return {c, d, (c * c + d * d) * s};
}

[[nodiscard]] TWILL_CONSTEXPR ComplexValue log_slope(const ComplexValue* z) {
  const Reciprocal by = reciprocal_of(*z);
  return {by.c / by.divisor, -(by.d / by.divisor)};
}

/// The gradients of the parts of operands for one part of a function's result: u_x = Re f', u_y = -Im f', v_x = Im f',
/// v_y = Re f'. A slope is f' by one operand, a function of all of them.
template <bool IsImaginary, auto... Slopes>
constexpr void complex_vjp(Graph& graph, int id, const Cotangents& cotangents, InputGradients& gradients) {
  const Node node = graph.node(id); // a copy: emitting moves the nodes
  ComplexValue z[sizeof...(Slopes)]{};
  int position = 1;
  for (ComplexValue& operand : z) {
    operand = {{graph, node.input(position)}, {graph, node.input(position + 1)}};
    position += 2;
  }
  const Value g{graph, cotangents[0]};
  position = 1;
  const auto add = [&](auto slope_of) {
    if (gradients.wants(position) || gradients.wants(position + 1)) {
      const ComplexValue slope = slope_of(z);
      if (gradients.wants(position)) gradients.set(position, g * (IsImaginary ? slope.im : slope.re));
      if (gradients.wants(position + 1)) gradients.set(position + 1, IsImaginary ? g * slope.re : -(g * slope.im));
    }
    position += 2;
  };
  (add(Slopes), ...);
}
template <bool IsImaginary, auto... Slopes>
inline constexpr Operation complex_rule{
    .name = "complex_rule", .vjp = &complex_vjp<IsImaginary, Slopes...>, .batching = Batching::stack};

/// A function's value with its derivative.
template <auto Slope> [[nodiscard]] constexpr ComplexValue with_slope(const ComplexValue& y, const ComplexValue& z) {
  return {with_rule(y.re, complex_rule<false, Slope>, {beside(y.re, z.re), beside(y.re, z.im)}),
          with_rule(y.im, complex_rule<true, Slope>, {beside(y.im, z.re), beside(y.im, z.im)})};
}

/// The function of a primitive, whose derivative is a slope.
template <Primitive P, auto Slope> [[nodiscard]] constexpr ComplexValue complex_function(const ComplexValue& z) {
  const auto parts = elementwise::formula::ComplexFormulas<Value>::of(P, {z.re, z.im});
  return with_slope<Slope>({parts.re, parts.im}, z);
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

// clang-format off
/// Arithmetic, element by element: complex numbers with each other, with real values and with plain numbers.
[[nodiscard]] constexpr ComplexValue operator+(const ComplexValue& a, const ComplexValue& b) { return {a.re + b.re, a.im + b.im}; }
[[nodiscard]] constexpr ComplexValue operator-(const ComplexValue& a, const ComplexValue& b) { return {a.re - b.re, a.im - b.im}; }
[[nodiscard]] constexpr ComplexValue operator*(const ComplexValue& a, const ComplexValue& b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
[[nodiscard]] constexpr ComplexValue operator-(const ComplexValue& z) { return {-z.re, -z.im}; }
[[nodiscard]] constexpr ComplexValue operator*(const ComplexValue& z, Term r) { return {z.re * r, z.im * r}; }
[[nodiscard]] constexpr ComplexValue operator*(Term r, const ComplexValue& z) { return {r * z.re, r * z.im}; }
[[nodiscard]] constexpr ComplexValue operator/(const ComplexValue& z, Term r) { return {z.re / r, z.im / r}; }
// clang-format on

/// Sums and differences with real values and plain numbers, which broadcast.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue operator+(const ComplexValue& z, Term r) {
  const Value re = z.re + r;
  return {re, broadcast_to(cast(z.im, re.dtype()), re.shape())};
}
/// r + z.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue operator+(Term r, const ComplexValue& z) { return z + r; }
/// z - r.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue operator-(const ComplexValue& z, Term r) {
  const Value re = z.re - r;
  return {re, broadcast_to(cast(z.im, re.dtype()), re.shape())};
}
/// r - z.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue operator-(Term r, const ComplexValue& z) { return -z + r; }

/// Quotients. The divisor is scaled by its larger part, so that its square neither overflows nor vanishes.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue operator/(const ComplexValue& a, const ComplexValue& b) {
  const detail::Reciprocal by = detail::reciprocal_of(b);
  return {(a.re * by.c + a.im * by.d) / by.divisor, (a.im * by.c - a.re * by.d) / by.divisor};
}
[[nodiscard]] TWILL_CONSTEXPR ComplexValue operator/(Term r, const ComplexValue& z) {
  const detail::Reciprocal by = detail::reciprocal_of(z);
  return {r * by.c / by.divisor, -(r * by.d) / by.divisor};
}

/// e^z.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue exp(const ComplexValue& z) {
  const Value length = exp(z.re);
  return {length * cos(z.im), length * sin(z.im)};
}
/// The principal natural logarithm: log |z| + i angle(z), accurate near |z| = 1. At 0 its gradient is NaN.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue log(const ComplexValue& z) {
  return detail::complex_function<Primitive::log, &detail::log_slope>(z);
}

/// The matrix product of the last two axes, as four real ones. Axes before them broadcast.
/// errors: those of `matmul` of real values
[[nodiscard]] TWILL_CONSTEXPR ComplexValue matmul(const ComplexValue& a, const ComplexValue& b,
                                                  CallSite site = CallSite::here()) {
  return {matmul(a.re, b.re, site) - matmul(a.im, b.im, site), matmul(a.re, b.im, site) + matmul(a.im, b.re, site)};
}
/// With a real matrix on the right: two real products.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue matmul(const ComplexValue& a, Value b, CallSite site = CallSite::here()) {
  return {matmul(a.re, b, site), matmul(a.im, b, site)};
}
/// With a real matrix on the left.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue matmul(Value a, const ComplexValue& b, CallSite site = CallSite::here()) {
  return {matmul(a, b.re, site), matmul(a, b.im, site)};
}

/// dL/dx + i dL/dy of a real scalar loss L by z = x + iy, which descends: twice the derivative by conj z.
[[nodiscard]] constexpr ComplexValue gradient(Value loss, const ComplexValue& z, CallSite site = CallSite::here()) {
  const auto parts = gradients<2>(loss, {z.re, z.im}, site);
  return {parts[0], parts[1]};
}

}}}} // namespace twill::v0::graph::TWILL_ISA
