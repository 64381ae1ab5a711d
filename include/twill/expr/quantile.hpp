#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Quantiles over axes in angle brackets: `quantile<1>(x, 0.9)`, `percentile(x, 75)`, `median<0>(x)`. Unlike reductions
// they compute at once: the elements that share a result are gathered into a row and the wanted ones selected, not
// sorted. Definitions and method names are NumPy's; NaN among the elements gives NaN, except in `nanquantile` and its
// like, and so do no elements. Read next: expr/statistics.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/promotion.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/quantile_place.hpp>
#include <twill/expr/reduced.hpp>
#include <twill/expr/reductions.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/kernel/quantile.hpp>
#include <twill/kernel/walk.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/copy.hpp>
#include <twill/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace expr { namespace quantiles { inline namespace TWILL_ISA {

/// The type in which elements are compared.
template <class T> struct Compared { using type = compute_t<T>; };
template <> struct Compared<bool> { using type = std::uint8_t; };
template <class T> using compared_t = typename Compared<T>::type;

using Place = kernel::QuantilePlace;

[[nodiscard]] Place place_of(double q, std::int64_t length, Interpolation method);

/// Whether NaN among the elements is the result, or left out.
enum class NanElements : bool { kept, left_out };

/// Refuses a part that is not between 0 and the whole, which is 1 of quantiles and 100 of percentiles.
/// throws: ValueError
void require_part(std::string_view operation, double part, double whole = 1);

template <class T> [[nodiscard]] bool is_nan(T x) { return x != x; }

/// The quantile of a row, whose elements are reordered.
template <class T> [[nodiscard]] double select(T* row, std::int64_t length, const Place& place) {
  std::nth_element(row, row + place.below, row + length);
  const auto first = static_cast<double>(row[place.below]);
  if (place.above == place.below) return first;
  const auto second = static_cast<double>(*std::min_element(row + place.above, row + length));
  return kernel::between(first, second, place.fraction);
}

/// The quantiles of contiguous rows: `to` holds all rows' first quantile, then their second, and so on.
template <class T, class To, class Team>
void select_rows(const Team& team, T* rows, std::int64_t count, std::int64_t length, const std::vector<double>& q,
                 Interpolation method, NanElements nan, To* to) {
  const auto work = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      T* row = rows + i * length;
      const std::int64_t numbers = std::partition(row, row + length, [](T x) { return !is_nan(x); }) - row;
      const bool is_number = numbers > 0 && (numbers == length || nan == NanElements::left_out);
      for (std::size_t k = 0; k < q.size(); ++k)
        to[static_cast<std::int64_t>(k) * count + i] =
            static_cast<To>(is_number ? select(row, numbers, place_of(q[k], numbers, method))
                                      : std::numeric_limits<double>::quiet_NaN());
    }
  };
  if (count * length < 65536) return work(0, count);
  team.parallel([&](int rank, int size) {
    const kernel::Share mine = kernel::share_of(count, 1, rank, size);
    work(mine.begin, mine.end);
  });
}

/// All quantiles of x over the axes of a mask, into a result of the extents `to_extents`.
template <unsigned Mask, AnyShape To, class T, class D, class S>
[[nodiscard]] auto quantiles(const Tensor<T, D, S>& x, std::vector<double> q, Interpolation method,
                             const Dims& to_extents, NanElements nan = NanElements::kept) {
  using Element = compared_t<T>;
  using Result = floating_t<T>;
  const Dims extents = x.shape();
  Dims order{};
  for (const unsigned wanted : {0U, 1U})
    for (int axis = 0; axis < extents.rank; ++axis)
      if ((Mask >> axis & 1U) == wanted) order[order.rank++] = axis;
  const Dims grid = detail::reordered(extents, order);
  memory::Buffer<D> rows(x.device(), static_cast<std::size_t>(extents.elements()) * sizeof(Element));
  auto* const elements = static_cast<Element*>(rows.data());
  detail::copy_elements(x.device(), elements, contiguous_strides(grid), static_cast<const T*>(x.data()),
                        detail::reordered(x.strides(), order), grid);
  std::int64_t length = 1;
  for (int axis = 0; axis < extents.rank; ++axis)
    if ((Mask >> axis & 1U) != 0) length *= extents[axis];
  Tensor<Result, D, To> result(x.device(), to_extents);
  const std::int64_t count = result.elements() / std::max<std::int64_t>(static_cast<std::int64_t>(q.size()), 1);
  if constexpr (kernel::has_queue<D>) {
    if (nan == NanElements::left_out)
      throw ValueError("nanquantile: quantiles that leave out NaN are computed on host devices; x.to(Cpu{0}) first");
    std::vector<Place> places;
    for (const double fraction : q) places.push_back(place_of(fraction, length, method));
    kernel::gpu::select_rows(x.device(), static_cast<const Element*>(elements), count, length,
                             static_cast<const Place*>(places.data()), static_cast<std::int64_t>(places.size()),
                             result.data());
  } else {
    launch(result.device(), [=, to = result.data(), q = std::move(q)](const auto& team) {
      select_rows(team, elements, count, length, q, method, nan, to);
    });
  }
  return result;
}

template <Rest Remains, int... Axes, class X>
[[nodiscard]] auto one(X&& x, double q, Interpolation method, NanElements nan = NanElements::kept) {
  const auto source = evaluated(std::forward<X>(x));
  using S = typename std::remove_cvref_t<decltype(source)>::shape_type;
  constexpr unsigned mask = axes_mask<S::rank, Axes...>();
  if constexpr (mask == ~0U)
    static_cast<void>(sizeof(Mistake<refused<Problem::axis_is_named_twice, with::axis<Axes>...>>));
  using To = shape_t<reduced_dims(dims_of<S>, mask, Remains)>;
  return quantiles<mask, To>(source, {q}, method, reduced_dims(source.shape(), mask, Remains), nan);
}

}}}}} // namespace twill::v0::expr::quantiles::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The value below which a fraction q of the elements is. throws: ValueError (q outside 0 to 1), OutOfMemoryError
template <int... Axes, TensorOperand X>
[[nodiscard]] auto quantile(X&& x, double q, Interpolation method = Interpolation::linear) {
  expr::quantiles::require_part("quantile", q);
  return expr::quantiles::one<expr::Rest::dropped, Axes...>(std::forward<X>(x), q, method);
}
template <int... Axes, TensorOperand X>
[[nodiscard]] auto quantile(X&& x, double q, KeptDims, Interpolation method = Interpolation::linear) {
  expr::quantiles::require_part("quantile", q);
  return expr::quantiles::one<expr::Rest::kept, Axes...>(std::forward<X>(x), q, method);
}

/// Several quantiles at once, along a new first axis.
template <int... Axes, TensorOperand X, FloatingScalar Q, class D, AnyShape S>
requires(S::rank == 1)
    [[nodiscard]] auto quantile(X&& x, const Tensor<Q, D, S>& q, Interpolation method = Interpolation::linear) {
  std::vector<double> fractions;
  for (const Q value : to_vector(q)) fractions.push_back(static_cast<double>(value));
  for (const double value : fractions) expr::quantiles::require_part("quantile", value);
  const auto source = expr::evaluated(std::forward<X>(x));
  using From = typename std::remove_cvref_t<decltype(source)>::shape_type;
  constexpr unsigned mask = expr::axes_mask<From::rank, Axes...>();
  constexpr Dims kept = expr::reduced_dims(dims_of<From>, mask, expr::Rest::dropped);
  using To = shape_t<detail::with_axis(kept, 0, S::extent(0))>;
  const Dims extents = expr::reduced_dims(source.shape(), mask, expr::Rest::dropped);
  return expr::quantiles::quantiles<mask, To>(source, std::move(fractions), method,
                                              detail::with_axis(extents, 0, q.elements()));
}

/// quantile(x, p / 100)
template <int... Axes, TensorOperand X>
[[nodiscard]] auto percentile(X&& x, double p, Interpolation method = Interpolation::linear) {
  expr::quantiles::require_part("percentile", p, 100);
  return expr::quantiles::one<expr::Rest::dropped, Axes...>(std::forward<X>(x), p / 100, method);
}
template <int... Axes, TensorOperand X>
[[nodiscard]] auto percentile(X&& x, double p, KeptDims, Interpolation method = Interpolation::linear) {
  expr::quantiles::require_part("percentile", p, 100);
  return expr::quantiles::one<expr::Rest::kept, Axes...>(std::forward<X>(x), p / 100, method);
}

/// The middle element, or the mean of the two in the middle.
template <int... Axes, TensorOperand X> [[nodiscard]] auto median(X&& x) {
  return quantile<Axes...>(std::forward<X>(x), 0.5);
}
template <int... Axes, TensorOperand X> [[nodiscard]] auto median(X&& x, KeptDims) {
  return quantile<Axes...>(std::forward<X>(x), 0.5, keepdims);
}

/// The quantile of the elements that are no NaN; NaN where there are none.
/// throws: ValueError (q outside 0 to 1; tensors on GPUs), OutOfMemoryError
template <int... Axes, TensorOperand X, ReducedDims K = DroppedDims>
[[nodiscard]] auto nanquantile(X&& x, double q, K = {}, Interpolation method = Interpolation::linear) {
  using namespace expr::quantiles;
  require_part("nanquantile", q);
  return one<expr::rest_of<K>, Axes...>(std::forward<X>(x), q, method, NanElements::left_out);
}
/// nanquantile(x, p / 100)
template <int... Axes, TensorOperand X, ReducedDims K = DroppedDims>
[[nodiscard]] auto nanpercentile(X&& x, double p, K = {}, Interpolation method = Interpolation::linear) {
  using namespace expr::quantiles;
  require_part("nanpercentile", p, 100);
  return one<expr::rest_of<K>, Axes...>(std::forward<X>(x), p / 100, method, NanElements::left_out);
}
/// The median of the elements that are no NaN.
template <int... Axes, TensorOperand X, ReducedDims K = DroppedDims> [[nodiscard]] auto nanmedian(X&& x, K keep = {}) {
  return nanquantile<Axes...>(std::forward<X>(x), 0.5, keep);
}

}}} // namespace twill::v0::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/expr/quantile.ipp>
#endif
