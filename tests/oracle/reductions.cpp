// SPDX-License-Identifier: Apache-2.0
//
// Reductions over some, all and several axes of tensors of rank 3, with and without keeping them. The axes stand in the name.

#include "tests/oracle/registry.hpp"

namespace oracle {
namespace {

/// `f.operator()<Axes...>(x)`: along the rows of every type; down the columns and over everything of some.
template <class T, class F> void over_axes(Registry& to, const std::string& name, T types, Tolerance tolerance, F) {
  using Some = Types<std::uint8_t, half, float, double>;
  unary<3>(to, name + "<>", Types<std::int32_t, float>{}, tolerance,
           [](const auto& x) { return F{}.template operator()<>(x); });
  unary<3>(to, name + "<0>", Some{}, tolerance, [](const auto& x) { return F{}.template operator()<0>(x); });
  unary<3>(to, name + "<-1>k", types, tolerance,
           [](const auto& x) { return F{}.template operator()<-1>(x, twill::keepdims); });
}
/// More sets of axes, which make no new kernels.
template <class T, class F>
void over_more_axes(Registry& to, const std::string& name, T types, Tolerance tolerance, F) {
  unary<3>(to, name + "<>k", types, tolerance,
           [](const auto& x) { return F{}.template operator()<>(x, twill::keepdims); });
  unary<3>(to, name + "<1>", types, tolerance, [](const auto& x) { return F{}.template operator()<1>(x); });
  unary<3>(to, name + "<-1>", types, tolerance, [](const auto& x) { return F{}.template operator()<-1>(x); });
  unary<3>(to, name + "<0,2>", types, tolerance, [](const auto& x) { return F{}.template operator()<0, 2>(x); });
  unary<3>(to, name + "<0,1>k", types, tolerance,
           [](const auto& x) { return F{}.template operator()<0, 1>(x, twill::keepdims); });
  unary<3>(to, name + "<1,2>", types, tolerance, [](const auto& x) { return F{}.template operator()<1, 2>(x); });
}
/// Reductions of one axis or of all.
template <class T, class F> void over_one_axis(Registry& to, const std::string& name, T types, F) {
  unary<3>(to, name + "<>", types, exact, [](const auto& x) { return F{}.template operator()<>(x); });
  unary<3>(to, name + "<0>", types, exact, [](const auto& x) { return F{}.template operator()<0>(x); });
  unary<3>(to, name + "<1>", types, exact, [](const auto& x) { return F{}.template operator()<1>(x); });
  unary<3>(to, name + "<-1>", types, exact, [](const auto& x) { return F{}.template operator()<-1>(x); });
}

} // namespace

void add_reductions(Registry& to) {
  constexpr Tolerance close{.narrow = 1, .single = 16, .wide = 16};
  const auto sum = []<int... A>(const auto& x, auto... keep) { return twill::sum<A...>(x, keep...); };
  const auto prod = []<int... A>(const auto& x, auto... keep) { return twill::prod<A...>(x, keep...); };
  const auto max = []<int... A>(const auto& x, auto... keep) { return twill::max<A...>(x, keep...); };
  const auto min = []<int... A>(const auto& x, auto... keep) { return twill::min<A...>(x, keep...); };
  const auto any = []<int... A>(const auto& x, auto... keep) { return twill::any<A...>(x, keep...); };
  const auto all = []<int... A>(const auto& x, auto... keep) { return twill::all_of<A...>(x, keep...); };
  const auto mean = []<int... A>(const auto& x, auto... keep) { return twill::mean<A...>(x, keep...); };
  const auto var = []<int... A>(const auto& x, auto... keep) { return twill::var<A...>(x, keep...); };
  over_axes(to, "sum", Everything{}, zeros_equal, sum);
  over_axes(to, "prod", Everything{}, zeros_equal, prod);
  over_axes(to, "max", Everything{}, zeros_equal, max);
  over_axes(to, "min", Everything{}, zeros_equal, min);
  over_axes(to, "any", Everything{}, exact, any);
  over_axes(to, "all", Everything{}, exact, all);
  over_axes(to, "mean", Everything{}, Tolerance{.narrow = 1, .single = 1, .wide = 1}, mean);
  over_axes(to, "var", Numbers{}, close, var);
  over_more_axes(to, "sum", Types<float>{}, zeros_equal, sum);
  over_more_axes(to, "max", Types<std::int32_t>{}, zeros_equal, max);
  over_more_axes(to, "mean", Types<double>{}, Tolerance{.wide = 1}, mean);
  over_more_axes(to, "var", Types<float>{}, close, var);
  over_one_axis(
      to, "argmax", Everything{}, []<int... A>(const auto& x) { return twill::argmax<A...>(x); });
  over_one_axis(
      to, "argmin", Everything{}, []<int... A>(const auto& x) { return twill::argmin<A...>(x); });
}

} // namespace oracle
