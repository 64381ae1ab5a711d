// SPDX-License-Identifier: Apache-2.0
//
// Statistics over axes, reductions past NaN, norms, sums along an axis, differences and quantiles.

#include "tests/oracle/registry.hpp"

namespace oracle {
namespace {

using Narrow = Types<half, float>;
using Wide = Types<float, double>;

/// Along the rows keeping them, down the columns, and over two axes of three.
template <class T, class F> void over_axes(Registry& to, const std::string& name, T types, Tolerance tolerance, F) {
  unary<3>(to, name + "<-1>k", types, tolerance,
           [](const auto& x) { return F{}.template operator()<-1>(x, twill::keepdims); });
  unary<3>(to, name + "<0>", types, tolerance, [](const auto& x) { return F{}.template operator()<0>(x); });
  unary<3>(to, name + "<0,2>", Types<float>{}, tolerance,
           [](const auto& x) { return F{}.template operator()<0, 2>(x); });
}
template <class T, class F> void along(Registry& to, const std::string& name, T types, Tolerance tolerance, F) {
  unary<3>(to, name + "<0>", types, tolerance, [](const auto& x) { return F{}.template operator()<0>(x); });
  unary<3>(to, name + "<-1>", types, tolerance, [](const auto& x) { return F{}.template operator()<-1>(x); });
}

} // namespace

void add_statistics(Registry& to) {
  using Some = Types<std::int32_t, half, float>;
  constexpr Tolerance close{.narrow = 1, .single = 16, .wide = 16};
  over_axes(
      to, "std", Some{}, close, []<int... A>(const auto& x, auto... keep) { return twill::stddev<A...>(x, keep...); });
  over_axes(
      to, "ptp", Some{}, exact, []<int... A>(const auto& x, auto... keep) { return twill::ptp<A...>(x, keep...); });
  over_axes(
      to, "logsumexp", Wide{}, Tolerance{.single = 8, .wide = 16, .absolute = 1e-6},
      []<int... A>(const auto& x, auto... keep) { return twill::logsumexp<A...>(x, keep...); });
  over_axes(
      to, "count_nonzero", Some{}, exact,
      []<int... A>(const auto& x, auto... keep) { return twill::count_nonzero<A...>(x, keep...); });
  over_axes(
      to, "nansum", Narrow{}, zeros_equal,
      []<int... A>(const auto& x, auto... keep) { return twill::nansum<A...>(x, keep...); });
  over_axes(
      to, "nanprod", Narrow{}, close,
      []<int... A>(const auto& x, auto... keep) { return twill::nanprod<A...>(x, keep...); });
  over_axes(
      to, "nanmax", Wide{}, zeros_equal,
      []<int... A>(const auto& x, auto... keep) { return twill::nanmax<A...>(x, keep...); });
  over_axes(
      to, "nanmin", Narrow{}, zeros_equal,
      []<int... A>(const auto& x, auto... keep) { return twill::nanmin<A...>(x, keep...); });
  over_axes(
      to, "nanmean", Wide{}, Tolerance{.single = 2, .wide = 2},
      []<int... A>(const auto& x, auto... keep) { return twill::nanmean<A...>(x, keep...); });
  over_axes(
      to, "nanvar", Narrow{}, close,
      []<int... A>(const auto& x, auto... keep) { return twill::nanvar<A...>(x, keep...); });
  over_axes(
      to, "norm", Wide{}, close, []<int... A>(const auto& x, auto... keep) { return twill::norm<A...>(x, keep...); });
  over_axes(
      to, "norm1", Wide{}, close,
      []<int... A>(const auto& x, auto... keep) { return twill::norm<A...>(x, keep..., twill::order<1>); });
  over_axes(
      to, "norm_inf", Wide{}, exact,
      []<int... A>(const auto& x, auto... keep) { return twill::norm<A...>(x, keep..., twill::order_inf); });
  over_axes(
      to, "median", Some{}, Tolerance{.narrow = 1, .single = 1, .wide = 1, .zeros_are_equal = true},
      []<int... A>(const auto& x, auto... keep) { return twill::median<A...>(x, keep...); });
  unary<3>(to, "quantile<1>", Wide{}, Tolerance{.single = 4, .wide = 4, .absolute = 1e-6, .zeros_are_equal = true},
           [](const auto& x, const std::vector<double>& numbers) { return twill::quantile<1>(x, numbers[0]); });
  along(to, "cumsum", Types<bool, std::uint8_t, half, float>{}, zeros_equal,
        []<int A>(const auto& x) { return twill::cumsum<A>(x); });
  along(to, "cumprod", Some{}, zeros_equal, []<int A>(const auto& x) { return twill::cumprod<A>(x); });
  along(to, "cummax", Wide{}, zeros_equal, []<int A>(const auto& x) { return twill::cummax<A>(x); });
  along(to, "cummin", Some{}, zeros_equal, []<int A>(const auto& x) { return twill::cummin<A>(x); });
  along(to, "diff", Some{}, exact, []<int A>(const auto& x) { return twill::diff<A>(x); });
  along(to, "trapezoid", Wide{}, exact, []<int A>(const auto& x) { return twill::trapezoid<A>(x); });
}

} // namespace oracle
