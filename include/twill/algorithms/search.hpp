#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Search in sorted vectors, and value counts: `searchsorted`, `bincount`, `histogram`, as NumPy defines them.

#include <twill/algorithms/policy.hpp>
#include <twill/algorithms/rows.hpp>
#include <twill/algorithms/sort.hpp>
#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/promotion.hpp>
#include <twill/core/samples.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/evaluate_several.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/reductions.hpp>
#include <twill/kernel/gpu/search.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/tensor.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace algorithms {

/// Counts of a histogram, and the edges between its bins.
template <Device D = Cpu> struct Histogram {
  Tensor<std::int64_t, D, Shape<dyn>> counts; ///< elements in each bin
  Tensor<double, D, Shape<dyn>> edges;        ///< one more than there are bins, ascending
};

}}} // namespace twill::v0::algorithms

namespace twill { inline namespace v0 { namespace algorithms { inline namespace TWILL_ISA {
/// Whether O names a side of equal elements.
template <class O> inline constexpr bool is_side = std::is_same_v<O, LeftSide> || std::is_same_v<O, RightSide>;

template <class... O>
concept SearchOptions = ((is_policy<O> || is_side<O>)&&...) && sizeof...(O) <= 2;

/// Throws ValueError for a negative value, which `bincount` cannot count.
[[noreturn]] inline void refuse_negative(std::int64_t value) {
  throw ValueError("bincount: a value is " + std::to_string(value) + "; values are at least 0");
}
}}}} // namespace twill::v0::algorithms::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Positions for inserting the values into a sorted vector (int64, in the shape of the values): before equal elements,
/// or after them with `side_right`. Both are compared in their common element type; NaN counts as the greatest.
template <TensorOperand A, TensorOperand V, class... O>
requires algorithms::SearchOptions<O...>
[[nodiscard]] auto searchsorted(A&& sorted, V&& values, O...) {
  using Policy = algorithms::policy_t<O...>;
  const auto given = algorithms::tensor_of_operand(std::forward<A>(sorted));
  const auto wanted = algorithms::tensor_of_operand(std::forward<V>(values));
  static_assert(decltype(given)::rank == 1, "twill: searchsorted: the sorted operand is a vector; flatten it first");
  using T = promote_t<typename decltype(given)::value_type, typename decltype(wanted)::value_type>;
  const auto from = given.template to<T>().contiguous();
  const auto what = wanted.template to<T>().contiguous();
  using D = typename decltype(wanted)::device_type;
  require_same_device("searchsorted", from.device(), what.device());
  Tensor<std::int64_t, D, typename decltype(wanted)::shape_type> result(what.device(), what.shape());
  constexpr bool is_right = (std::is_same_v<O, RightSide> || ...);
  if constexpr (algorithms::is_on_gpu<decltype(wanted)>) {
    kernel::gpu::find_places<is_right>(what.device(), static_cast<const T*>(from.data()), from.elements(),
                                       static_cast<const T*>(what.data()), what.elements(), result.data());
    return result;
  } else {
    synchronize(from.device());
    synchronize(what.device());
    if (what.elements() == 0) return result;
    const T* first = from.data();
    const T* last = first + from.elements();
    const T* const sought = what.data();
    std::int64_t* const places = result.data();
    Policy::for_each(what.elements(), [=](std::int64_t i) {
      const algorithms::Before<false> before{};
      places[i] = (is_right ? std::upper_bound(first, last, sought[i], before)
                            : std::lower_bound(first, last, sought[i], before)) -
                  first;
    });
    return result;
  }
}

/// The counts of 0, 1, ... in a vector of integers; at least `least_bins` of them. throws: ValueError (negative)
template <TensorOperand X> [[nodiscard]] auto bincount(X&& x, std::int64_t least_bins = 0) {
  const auto source = algorithms::tensor_of_operand(std::forward<X>(x)).contiguous();
  using T = typename decltype(source)::value_type;
  static_assert(std::integral<T>, "twill: bincount: the values are integers; convert them with to<int>()");
  static_assert(decltype(source)::rank == 1, "twill: bincount: the values are a vector; flatten them first");
  using Counts = Tensor<std::int64_t, typename decltype(source)::device_type, Shape<dyn>>;
  if constexpr (algorithms::is_on_gpu<decltype(source)>) {
    const expr::IndexRange range = expr::range_of(source);
    if (range.least < 0) algorithms::refuse_negative(range.least);
    const bool is_empty = source.elements() == 0;
    Counts counts(source.device(), Dims(std::max(least_bins, is_empty ? 0 : range.greatest + 1)));
    const auto sorted = sort(source);
    kernel::gpu::count_equal(source.device(), static_cast<const T*>(sorted.data()), sorted.elements(), counts.data(),
                             counts.elements());
    return counts;
  } else {
    synchronize(source.device());
    const T* first = source.data();
    const T* last = first + source.elements();
    std::int64_t bins = least_bins;
    for (const T* at = first; at != last; ++at) {
      if (*at < T{}) algorithms::refuse_negative(static_cast<std::int64_t>(*at));
      bins = std::max(bins, static_cast<std::int64_t>(*at) + 1);
    }
    Counts counts(source.device(), Dims(bins));
    std::fill(counts.data(), counts.data() + bins, 0);
    for (const T* at = first; at != last; ++at) ++counts.data()[static_cast<std::int64_t>(*at)];
    return counts;
  }
}

/// The number of elements in each of `bins` equally wide bins from low to high; the last bin includes high, elements
/// outside are not counted. throws: ValueError (no bins; low above high; bounds that are not finite)
template <TensorOperand X> [[nodiscard]] auto histogram(X&& x, std::int64_t bins, double low, double high) {
  if (bins < 1) throw ValueError("histogram: there are " + std::to_string(bins) + " bins; at least 1 is needed");
  if (!(low <= high) || high - high != 0 || low - low != 0)
    throw ValueError("histogram: the bounds are " + std::to_string(low) + " and " + std::to_string(high) +
                     "; they are finite and in order");
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  const auto source = algorithms::tensor_of_operand(std::forward<X>(x)).contiguous();
  using D = typename decltype(source)::device_type;
  const Tensor<double, Cpu, Shape<dyn>> host_edges(current_device<Cpu>(), Dims(bins + 1));
  synchronize(host_edges.device());
  double* edges = host_edges.data();
  // edge[i] = i (high - low) / bins + low, as linspace computes it
  const double width = (high - low) / static_cast<double>(bins);
  for (std::int64_t i = 0; i < bins; ++i) edges[i] = static_cast<double>(i) * width + low;
  edges[bins] = high;
  algorithms::Histogram<D> result{Tensor<std::int64_t, D, Shape<dyn>>(source.device(), Dims(bins)),
                                  host_edges.to(source.device())};
  if constexpr (algorithms::is_on_gpu<decltype(source)>) {
    const auto sorted = sort(source.flatten());
    using T = typename decltype(source)::value_type;
    kernel::gpu::count_between(source.device(), static_cast<const T*>(sorted.data()), sorted.elements(),
                               static_cast<const double*>(result.edges.data()), result.counts.data(), bins);
    return result;
  } else {
    synchronize(source.device());
    std::fill(result.counts.data(), result.counts.data() + bins, 0);
    for (std::int64_t i = 0; i < source.elements(); ++i) {
      const auto value = static_cast<double>(source.data()[i]);
      if (!(value >= low && value <= high)) continue;
      const std::int64_t bin = std::upper_bound(edges, edges + bins + 1, value) - edges - 1;
      ++result.counts.data()[std::min(bin, bins - 1)];
    }
    return result;
  }
}
/// A histogram from the least to the greatest element, from 0 to 1 of a tensor without elements.
/// throws: ValueError (no bins; elements that are not finite)
template <TensorOperand X> [[nodiscard]] auto histogram(X&& x, std::int64_t bins = 10) {
  const auto source = algorithms::tensor_of_operand(std::forward<X>(x));
  if (source.elements() == 0) return histogram(source, bins, 0, 1);
  const auto [least, greatest] = eval(min(source), max(source));
  return histogram(source, bins, static_cast<double>(least.item()), static_cast<double>(greatest.item()));
}

}}} // namespace twill::v0::TWILL_ISA
