#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Convolution by Fourier transforms in models, `fftconvolve(a, b)` as that of tensors: over all axes, or those that are
// named, in the modes full, same and valid. Extents are known to the compiler. Not in twill.hpp. Read next:
// fft/value_several_axes.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/fft/convolve_part.hpp>
#include <twill/fft/value_several_axes.hpp>
#include <twill/ops/complex_moves.hpp>
#include <twill/ops/slice.hpp>

#include <concepts>
#include <initializer_list>

namespace twill { inline namespace v0 { namespace fft { namespace detail { inline namespace TWILL_ISA {

[[nodiscard]] constexpr Value any_part(Value x) { return x; }
[[nodiscard]] constexpr Value any_part(const ComplexValue& z) { return z.re; }

/// The axes of a convolution in their order, and its sizes, or a fault.
struct TracedConvolution {
  Convolution sizes{};
  TracedAxes along{};

  constexpr TracedConvolution(Part part, Value a, Value b, std::initializer_list<int> named, CallSite site) {
    graph::Graph& graph = a.graph();
    if (a.rank() != b.rank()) graph.refuse(Problem::fftconvolve_takes_operands_of_one_rank, a.rank(), b.rank(), site);
    const TracedAxes axes = traced_axes(a, named, nullptr, site);
    unsigned mask = 0;
    for (int i = 0; i < axes.count; ++i) mask |= 1U << axes.axes[i];
    Dims left{}, right{};
    if (graph.fault.any()) return;
    left.rank = right.rank = a.rank();
    for (int axis = 0; axis < a.rank(); ++axis) {
      left[axis] = right[axis] = 1;
      if ((mask >> axis & 1U) == 0) continue;
      left[axis] = a.size(axis, site);
      right[axis] = b.size(axis, site);
      along.axes[along.count++] = axis;
    }
    if (graph.fault.any()) return;
    sizes = convolution_sizes(part, left, right, mask);
    if (sizes.empty_axis >= 0)
      graph.refuse(Problem::fftconvolve_of_an_axis_without_elements, left[sizes.empty_axis], right[sizes.empty_axis],
                   site);
    else if (!sizes.is_whole)
      graph.refuse(Problem::valid_convolution_needs_one_operand_inside_of_the_other, left.elements(), right.elements(),
                   site);
  }

  /// The wanted part of the full convolution.
  template <class X> [[nodiscard]] constexpr X part_of(X whole, CallSite site) const {
    for (int i = 0; i < along.count; ++i) {
      const int axis = along.axes[i];
      whole = narrow(whole, axis, sizes.first[axis], sizes.extents[axis], site);
    }
    return whole;
  }
};

}}}}} // namespace twill::v0::fft::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace fft { inline namespace TWILL_ISA {

/// sum_j a_j b_(k-j) of traced numbers over all axes, or those that are named; other axes broadcast. Both have as many
/// axes. Of complex operands, or a complex and a real one, complex.
/// errors: no elements; `valid` without one inside of the other; an axis unknown until run time
template <int... Axes, detail::Traced A, detail::Traced B, Part P = Part::full>
[[nodiscard]] constexpr auto fftconvolve(const A& a, const B& b, ConvolveMode<P> = {},
                                         CallSite site = CallSite::here()) {
  using graph::ComplexValue, graph::Value;
  const Value left = detail::any_part(a);
  const detail::TracedConvolution of{P, left, detail::any_part(b), {Axes...}, site};
  detail::TracedAxes along = of.along;
  along.points = &of.sizes.points;
  const bool is_refused = left.graph().fault.any();
  if constexpr (std::same_as<A, ComplexValue> || std::same_as<B, ComplexValue>) {
    using detail::Sign;
    if (is_refused) return ComplexValue{left, left};
    const ComplexValue product = detail::complex_n(a, along, Sign::forward, backward, site) *
                                 detail::complex_n(b, along, Sign::forward, backward, site);
    return of.part_of(detail::complex_n(product, along, Sign::inverse, backward, site), site);
  } else {
    if (is_refused) return left;
    const ComplexValue product =
        detail::hermitian_n(a, along, backward, site) * detail::hermitian_n(b, along, backward, site);
    return of.part_of(detail::real_n(product, along, backward, site), site);
  }
}

}}}} // namespace twill::v0::fft::TWILL_ISA
