// SPDX-License-Identifier: Apache-2.0
//
// The table of windows, convolutions, lines between points, k-th values and quantiles by all methods in models: beside naive
// loops and the functions of tensors, in every type, on odd, single and empty shapes, and for batches by vmap; derivatives of
// both orders beside finite differences.

#include "tests/support/operation_table.hpp"

#include <twill/ops/sort.hpp>
#include <twill/ops/value_quantiles.hpp>
#include <twill/ops/value_samples.hpp>
#include <twill/ops/value_search.hpp>
#include <twill/ops/value_windows.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

using namespace twill;
using namespace twill::test;

namespace {

using Arrays = std::vector<Array>;
using Numbers = std::vector<double>;

/// a[k] v[n - k] summed over k, without `margin` of the sums on each side.
Array convolved(const Arrays& x, std::int64_t before, std::int64_t after) {
  const std::int64_t n = x[0].shape[0], m = x[1].shape[0];
  return array_from(Dims(n + m - 1 - before - after), [&](const Dims& i) {
    double sum = 0;
    for (std::int64_t k = 0; k < n; ++k)
      if (i[0] + before - k >= 0 && i[0] + before - k < m)
        sum += element_of(x[0], Dims(k)) * element_of(x[1], Dims(i[0] + before - k));
    return sum;
  });
}

/// Ascending places, near the integers.
Value ascending(Value x) { return x * 0.25 + graph::iota(x.graph(), x.shape()); }
double line_through(const Array& places, const Array& values, double at, double below, double above) {
  const std::size_t count = places.elements.size();
  const auto place = [&](std::size_t k) { return places.elements[k] * 0.25 + static_cast<double>(k); };
  if (at < place(0)) return below;
  if (at > place(count - 1)) return above;
  std::size_t k = 0;
  while (k + 2 < count && at >= place(k + 1)) ++k;
  if (count == 1) return values.elements[0];
  const double share = (at - place(k)) / (place(k + 1) - place(k));
  return values.elements[k] * (1 - share) + values.elements[k + 1] * share;
}

Numbers row_of(const Array& x, std::int64_t i) {
  const auto first = x.elements.begin() + i * x.shape[1];
  return Numbers(first, first + x.shape[1]);
}

/// The quantile by its definition: the methods of Hyndman and Fan from their distribution functions.
double quantile_of(Numbers x, double q, Interpolation method) {
  std::sort(x.begin(), x.end());
  const auto n = static_cast<double>(x.size());
  const auto at = [&](double k) { return x[static_cast<std::size_t>(std::clamp(k, 1.0, n)) - 1]; }; // from 1 on
  const double place = q * (n - 1) + 1, below = std::floor(place), above = std::ceil(place);
  const auto plotted = [&](double a, double b) {
    const auto position = [&](double k) { return (k - a) / (n + 1 - a - b); };
    if (q <= position(1)) return x.front();
    for (double k = 2; k <= n; k += 1)
      if (q <= position(k))
        return at(k - 1) + (at(k) - at(k - 1)) * (q - position(k - 1)) / (position(k) - position(k - 1));
    return x.back();
  };
  double least = 1; // with k / n >= q
  while (least / n < q) least += 1;
  switch (method) {
  case Interpolation::linear:
    return plotted(1, 1);
  case Interpolation::lower:
    return at(below);
  case Interpolation::higher:
    return at(above);
  case Interpolation::nearest:
    return at(place - below == 0.5 ? (std::fmod(below, 2) == 1 ? below : above) : std::round(place)); // even from 0 on
  case Interpolation::midpoint:
    return (at(below) + at(above)) / 2;
  case Interpolation::inverted_cdf:
    return at(least);
  case Interpolation::averaged_inverted_cdf:
    return least / n == q ? (at(least) + at(least + 1)) / 2 : at(least);
  case Interpolation::closest_observation: {
    const double wanted = n * q, down = std::floor(wanted);
    return at(wanted - down == 0.5 ? (std::fmod(down, 2) == 0 ? down : down + 1) : std::round(wanted));
  }
  case Interpolation::interpolated_inverted_cdf:
    return plotted(0, 1);
  case Interpolation::hazen:
    return plotted(0.5, 0.5);
  case Interpolation::weibull:
    return plotted(0, 0);
  case Interpolation::median_unbiased:
    return plotted(1.0 / 3, 1.0 / 3);
  case Interpolation::normal_unbiased:
    return plotted(3.0 / 8, 3.0 / 8);
  }
  return 0;
}

const std::vector<std::vector<Dims>> rows_of_numbers{
    {Dims(2, 5)}, {Dims(3, 4)}, {Dims(2, 1)}, {Dims(0, 2)}, {Dims(1, 17)}};

/// Each method, of parts that fall on elements of some rows and between those of others.
template <Interpolation M> Value by_method(const Value* x) {
  return graph::quantile<1>(x[0], 0.4, M) * graph::percentile<1>(x[0], 75, M) +
         graph::nanquantile<1>(x[0], 0.125, DroppedDims{}, M);
}
template <Interpolation M> Array by_definition(const Arrays& x) {
  return array_from(Dims(x[0].shape[0]), [&](const Dims& i) {
    const Numbers row = row_of(x[0], i[0]);
    return quantile_of(row, 0.4, M) * quantile_of(row, 0.75, M) + quantile_of(row, 0.125, M);
  });
}
template <std::size_t... M> std::vector<OperationRow> methods(std::index_sequence<M...>) {
  return {OperationRow{"quantile", rows_of_numbers, &by_method<static_cast<Interpolation>(M)>,
                       &by_definition<static_cast<Interpolation>(M)>, RowTypes::wide}...};
}
const std::vector<OperationRow> quantiles = methods(std::make_index_sequence<13>{});

const std::vector<std::vector<Dims>> two_vectors{
    {Dims(5), Dims(3)}, {Dims(2), Dims(7)}, {Dims(1), Dims(1)}, {Dims(4), Dims(4)}, {Dims(17), Dims(6)}};
const std::vector<std::vector<Dims>> points{{Dims(2, 3), Dims(4), Dims(4)},
                                            {Dims(5), Dims(2), Dims(2)},
                                            {Dims(3), Dims(1), Dims(1)},
                                            {Dims(0), Dims(3), Dims(3)}};

const OperationRow functions[] = {
    {"sliding_window_view",
     {{Dims(2, 5, 3)}, {Dims(1, 2, 2)}, {Dims(3, 17, 1)}, {Dims(0, 4, 1)}},
     [](const Value* x) { return graph::sliding_window_view<1>(x[0], 2); },
     [](const Arrays& x) {
       const Dims s = x[0].shape;
       return array_from(Dims(s[0], s[1] - 1, s[2], 2),
                         [&](const Dims& i) { return element_of(x[0], Dims(i[0], i[1] + i[3], i[2])); });
     },
     RowTypes::numbers},
    {"sliding_window_view of whole axes",
     {{Dims(3)}, {Dims(1)}},
     [](const Value* x) { return graph::sliding_window_view<-1>(square(x[0]), x[0].size(0)); },
     [](const Arrays& x) {
       return array_from(Dims(1, x[0].shape[0]),
                         [&](const Dims& i) { return element_of(x[0], Dims(i[1])) * element_of(x[0], Dims(i[1])); });
     }},
    {"convolve", two_vectors, [](const Value* x) { return graph::convolve(x[0], x[1]); },
     [](const Arrays& x) { return convolved(x, 0, 0); }, RowTypes::signed_ones},
    {"convolve to the longer length", two_vectors,
     [](const Value* x) { return graph::convolve(x[0], x[1], ConvolveMode::same); },
     [](const Arrays& x) {
       const std::int64_t width = std::min(x[0].shape[0], x[1].shape[0]);
       return convolved(x, (width - 1) / 2, width / 2);
     },
     RowTypes::wide},
    {"convolve of whole overlaps", two_vectors,
     [](const Value* x) { return graph::convolve(x[0], x[1], ConvolveMode::valid); },
     [](const Arrays& x) {
       const std::int64_t width = std::min(x[0].shape[0], x[1].shape[0]);
       return convolved(x, width - 1, width - 1);
     },
     RowTypes::wide},
    {"interp", points, [](const Value* x) { return graph::interp(x[0] * 3 + 1, ascending(x[1]), x[2]); },
     [](const Arrays& x) {
       return array_from(x[0].shape, [&](const Dims& i) {
         return line_through(x[1], x[2], element_of(x[0], i) * 3 + 1, x[2].elements.front(), x[2].elements.back());
       });
     },
     RowTypes::wide},
    {"interp with numbers beyond the ends", points,
     [](const Value* x) { return graph::interp(x[0] * 4 + 1, ascending(x[1]), x[2], {.left = -1, .right = 2}) * x[0]; },
     [](const Arrays& x) {
       return array_from(x[0].shape, [&](const Dims& i) {
         const double at = element_of(x[0], i);
         return line_through(x[1], x[2], at * 4 + 1, -1, 2) * at;
       });
     },
     RowTypes::wide},
    {"searchsorted",
     {{Dims(5), Dims(2, 3)}, {Dims(1), Dims(4)}, {Dims(0), Dims(3)}, {Dims(17), Dims(0)}},
     [](const Value* x) {
       const Value sorted = graph::sort(x[0]).values;
       return graph::searchsorted(sorted, x[1]) * 100 + graph::searchsorted(sorted, x[1], side_right);
     },
     [](const Arrays& x) {
       return array_from(x[1].shape, [&](const Dims& i) {
         double less = 0, not_greater = 0;
         for (const double element : x[0].elements) {
           less += element < element_of(x[1], i) ? 1 : 0;
           not_greater += element <= element_of(x[1], i) ? 1 : 0;
         }
         return 100 * less + not_greater;
       });
     },
     RowTypes::numbers,
     {},
     false},
    {"digitize",
     {{Dims(3, 2), Dims(4)}, {Dims(1), Dims(1)}},
     [](const Value* x) {
       const Value edges = graph::iota(x[1].graph(), x[1].shape()) - 1;
       return graph::digitize(x[0], edges) * 10 + graph::digitize(x[0], edges, BinEdge::upper);
     },
     [](const Arrays& x) {
       return array_from(x[0].shape, [&](const Dims& i) {
         double bins = 0;
         for (std::int64_t k = 0; k < x[1].shape[0]; ++k)
           bins += (double(k) - 1 <= element_of(x[0], i) ? 10 : 0) + (double(k) - 1 < element_of(x[0], i) ? 1 : 0);
         return bins;
       });
     },
     RowTypes::signed_ones,
     {},
     false},
    {"isin",
     {{Dims(3, 4), Dims(2, 3)}, {Dims(5), Dims()}, {Dims(), Dims(4)}, {Dims(3), Dims(0)}, {Dims(0), Dims(2)}},
     [](const Value* x) { return graph::cast(graph::isin(x[0], x[1]), DType::int64); },
     [](const Arrays& x) {
       return array_from(x[0].shape, [&](const Dims& i) {
         const Numbers& set = x[1].elements;
         return std::find(set.begin(), set.end(), element_of(x[0], i)) != set.end() ? 1.0 : 0.0;
       });
     },
     RowTypes::numbers,
     {},
     false},
    {"bincount",
     {{Dims(3, 7)}, {Dims(17)}, {Dims()}, {Dims(0)}},
     [](const Value* x) { return graph::bincount(graph::cast(x[0], DType::int64), 3); },
     [](const Arrays& x) {
       return array_from(Dims(3), [&](const Dims& i) {
         double count = 0;
         for (const double element : x[0].elements) count += std::trunc(element) == static_cast<double>(i[0]) ? 1 : 0;
         return count;
       });
     },
     RowTypes::numbers,
     {},
     false},
    {"bincount with weights",
     {{Dims(3, 4), Dims(3, 4)}, {Dims(9), Dims(1)}, {Dims(0), Dims(0)}},
     [](const Value* x) { return graph::bincount(graph::cast(graph::stop_gradient(x[0]) * 2, DType::int64), x[1], 2); },
     [](const Arrays& x) {
       return array_from(Dims(2), [&](const Dims& i) {
         double total = 0;
         for (std::size_t k = 0; k < x[0].elements.size(); ++k)
           if (std::trunc(x[0].elements[k] * 2) == static_cast<double>(i[0]))
             total += x[1].elements[x[1].elements.size() == 1 ? 0 : k];
         return total;
       });
     },
     RowTypes::wide,
     {0.1, 0.9}},
    {"histogram",
     {{Dims(3, 7)}, {Dims(17)}, {Dims()}, {Dims(0)}},
     [](const Value* x) { return graph::histogram(x[0], 4, -1, 1.5); },
     [](const Arrays& x) {
       return array_from(Dims(4), [&](const Dims& i) {
         double count = 0;
         for (const double element : x[0].elements) {
           const double place = (element + 1) / 0.625;
           const double bin = element == 1.5 ? 3 : std::floor(place);
           count += bin == static_cast<double>(i[0]) ? 1 : 0;
         }
         return count;
       });
     },
     RowTypes::wide,
     {},
     false},
    {"kthvalue",
     {{Dims(2, 5)}, {Dims(3, 3)}, {Dims(1, 17)}, {Dims(0, 4)}},
     [](const Value* x) { return graph::kthvalue<1>(x[0], 3).values; },
     [](const Arrays& x) {
       return array_from(Dims(x[0].shape[0]), [&](const Dims& i) {
         Numbers row = row_of(x[0], i[0]);
         std::sort(row.begin(), row.end());
         return row[2];
       });
     },
     RowTypes::numbers},
    {"kthvalue's places",
     {{Dims(5, 2)}, {Dims(2, 3)}},
     [](const Value* x) { return graph::kthvalue<0>(x[0], 2).indices; },
     [](const Arrays& x) {
       return array_from(Dims(x[0].shape[1]), [&](const Dims& i) {
         std::vector<std::int64_t> places(static_cast<std::size_t>(x[0].shape[0]));
         for (std::size_t k = 0; k < places.size(); ++k) places[k] = static_cast<std::int64_t>(k);
         std::stable_sort(places.begin(), places.end(), [&](std::int64_t a, std::int64_t b) {
           return element_of(x[0], Dims(a, i[0])) < element_of(x[0], Dims(b, i[0]));
         });
         return static_cast<double>(places[1]);
       });
     },
     RowTypes::numbers,
     {},
     false},
};

} // namespace

TEST_CASE("functions of samples in models are naive loops in every type, on odd and empty shapes", "[ops]") {
  for (const OperationRow& row : functions) check_forward(row);
}

TEST_CASE("derivatives of functions of samples in models agree with finite differences", "[ops][gradient]") {
  for (const OperationRow& row : functions) check_both_derivatives(row);
}

TEST_CASE("quantiles in models by all thirteen methods follow their definitions", "[ops]") {
  for (const OperationRow& row : quantiles) {
    INFO("method " << &row - quantiles.data());
    check_forward({row.name,
                   {rows_of_numbers[0], rows_of_numbers[1], rows_of_numbers[2], rows_of_numbers[4]},
                   row.function,
                   row.reference,
                   row.types});
  }
}

TEST_CASE("gradients of quantiles by all thirteen methods agree with finite differences", "[ops][gradient]") {
  for (const OperationRow& row : quantiles) check_both_derivatives(row);
}

TEST_CASE("NaN is the greatest in a search, and nothing flows back through places", "[ops]") {
  const double nan = std::nan("");
  graph::Graph graph{DType::float64};
  const Value sorted{graph, graph.add_input(DType::float64, {{3, 0}})};
  const Value values{graph, graph.add_input(DType::float64, {{4, 0}})};
  graph.outputs = {graph::searchsorted(sorted, values).id(), graph::searchsorted(sorted, values, side_right).id(),
                   graph::gradient(sum(values * graph::digitize(values, sorted)), values).id()};
  const Arrays got =
      evaluate(graph, {{}, {{Dims(3), {-1, 2, nan}}, {Dims(4), {nan, 2, -3, 9}}}, {}, {}}, &run_by_kernel).outputs;
  CHECK(got[0].elements == Numbers{2, 1, 0, 2});
  CHECK(got[1].elements == Numbers{3, 2, 0, 2});
  CHECK(got[2].elements == Numbers{3, 2, 0, 2});
}

TEST_CASE("windows, convolutions, lines and k-th values refuse what does not fit, with both numbers", "[ops]") {
  using graph::Problem;
  const auto refuses = [](Problem problem, std::int64_t left, std::int64_t right, const auto& function) {
    graph::Graph graph{DType::float32};
    const Value v{graph, graph.add_input(DType::float32, {{6, 0}})};
    const Value none{graph, graph.add_input(DType::float32, {{0, 0}})};
    static_cast<void>(function(v, none));
    CHECK(graph.fault.problem == problem);
    CHECK(graph.fault.left == left);
    CHECK(graph.fault.right == right);
  };
  refuses(Problem::none, 0, 0, [](Value v, Value) { return graph::sliding_window_view<0>(v, 6); });
  refuses(Problem::slice_reaches_outside_of_the_axis, 7, 6,
          [](Value v, Value) { return graph::sliding_window_view<0>(v, 7); });
  refuses(Problem::slice_reaches_outside_of_the_axis, -1, 6,
          [](Value v, Value) { return graph::sliding_window_view<0>(v, -1); });
  refuses(Problem::axis_is_outside_the_rank, 1, 1, [](Value v, Value) { return graph::sliding_window_view<1>(v, 2); });
  refuses(Problem::convolve_takes_two_vectors_with_elements, 6, 0,
          [](Value v, Value none) { return graph::convolve(v, none); });
  refuses(Problem::convolve_takes_two_vectors_with_elements, 0, 0,
          [](Value v, Value) { return graph::convolve(v, unsqueeze(v, 0)); });
  refuses(Problem::interp_needs_as_many_places_as_values_at_least_one, 6, 0,
          [](Value v, Value none) { return graph::interp(v, v, none); });
  refuses(Problem::interp_needs_as_many_places_as_values_at_least_one, 0, 0,
          [](Value v, Value none) { return graph::interp(v, none, none); });
  refuses(Problem::index_has_another_rank, 2, 1,
          [](Value v, Value) { return graph::searchsorted(unsqueeze(v, 0), v); });
  refuses(Problem::indices_are_not_integers, static_cast<int>(DType::float32), 0,
          [](Value v, Value) { return graph::bincount(v, 3); });
  refuses(Problem::histogram_needs_bins_between_bounds_in_order, 0, 1,
          [](Value v, Value) { return graph::histogram(v, 0, 0, 1); });
  refuses(Problem::histogram_needs_bins_between_bounds_in_order, 4, 1,
          [](Value v, Value) { return graph::histogram(v, 4, 1, 1); });
  refuses(Problem::topk_exceeds_the_axis, 7, 6, [](Value v, Value) { return graph::kthvalue(v, 7).values; });
  refuses(Problem::topk_exceeds_the_axis, 0, 6, [](Value v, Value) { return graph::kthvalue(v, 0).values; });
}
