// SPDX-License-Identifier: Apache-2.0
//
// Diagonals, quantiles, statistics and functions of samples in models beside PyTorch's, with gradients; NaN, infinities,
// axes that are unknown until run time, and refusals. Naive loops and derivatives of both orders:
// tests/ops/table_of_statistics.test.cpp.

#include "tests/support/golden_gradients.hpp"

#include <twill/ops/value_diagonals.hpp>
#include <twill/ops/value_quantiles.hpp>
#include <twill/ops/value_samples.hpp>
#include <twill/ops/value_statistics.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

void check(const std::string& name, const std::vector<std::string>& inputs, Value (*function)(const Value* x)) {
  check_golden_gradients("statistics", name, inputs, 1e-12, function);
}

constexpr double nan_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// What a function makes of a matrix, whose rows are unknown until run time.
std::vector<double> values_of(const Array& matrix, Value (*function)(Value x)) {
  graph::Graph graph{DType::float64};
  const graph::Extent rows = graph.symbol("rows");
  const Value x{graph, graph.add_input(DType::float64, {rows, {matrix.shape[1], 0}})};
  graph.outputs.push_back(function(x).id());
  REQUIRE(!graph.fault.any());
  graph::SymbolValues symbols{};
  symbols[static_cast<std::size_t>(rows.single_symbol())] = matrix.shape[0];
  return evaluate(graph, {symbols, {matrix}, {}, {}}, &run_by_kernel).outputs[0].elements;
}

graph::Problem problem(Value (*function)(Value x)) {
  graph::Graph graph{DType::float32};
  const Value x{graph, graph.add_input(DType::float32, {graph.symbol("rows"), {6, 0}})};
  static_cast<void>(function(x));
  return graph.fault.problem;
}

} // namespace

TEST_CASE("diagonals in models and their gradients are PyTorch's", "[ops][gradient]") {
  check("diagonal", {"x"}, [](const Value* x) { return graph::diagonal<2, 0>(x[0], 1); });
  check("trace", {"m"}, [](const Value* x) { return graph::unsqueeze(graph::trace(x[0]), 0); });
  check("diag", {"m"}, [](const Value* x) { return graph::diag(x[0], -1); });
  check("diag_of_vector", {"v"}, [](const Value* x) { return graph::diag(x[0], 2); });
  check("diag_embed", {"x"}, [](const Value* x) { return graph::diag_embed(x[0], -1); });
  check("rot90", {"x"}, [](const Value* x) { return graph::rot90<-1, 0, 2>(x[0]); });
}

TEST_CASE("quantiles in models and their gradients are PyTorch's", "[ops][gradient]") {
  check("quantile", {"x"}, [](const Value* x) { return graph::quantile<2>(x[0], 0.3); });
  check("quantile_of_all", {"m"}, [](const Value* x) { return graph::unsqueeze(graph::quantile(x[0], 0.9), 0); });
  check("median", {"m"}, [](const Value* x) { return graph::median<0>(x[0], keepdims); });
  check("nanquantile", {"gaps"}, [](const Value* x) { return graph::nanquantile<1>(x[0], 0.7); });
  check("nanmedian", {"gaps"}, [](const Value* x) { return graph::nanmedian<0>(x[0]); });
}

TEST_CASE("statistics in models, also those that pass over NaN, and their gradients are PyTorch's", "[ops][gradient]") {
  check("nansum", {"gaps"}, [](const Value* x) { return graph::nansum<1>(x[0]); });
  check("nanmean", {"gaps"}, [](const Value* x) { return graph::nanmean<1>(x[0], keepdims); });
  check("nanprod", {"gaps"}, [](const Value* x) { return graph::nanprod<0>(x[0]); });
  check("nanmax", {"gaps"}, [](const Value* x) { return graph::nanmax<1>(x[0]); });
  check("nanmin", {"gaps"}, [](const Value* x) { return graph::nanmin<1>(x[0]); });
  check("nanvar", {"gaps"}, [](const Value* x) { return graph::nanvar<1>(x[0], correction<1>); });
  check("nanstd", {"gaps"}, [](const Value* x) { return graph::nanstd<1>(x[0], correction<1>); });
  check("average", {"m", "w"}, [](const Value* x) { return graph::average<1>(x[0], x[1]); });
  check("cov", {"m"}, [](const Value* x) { return graph::cov(x[0]); });
  check("corrcoef", {"m"}, [](const Value* x) { return graph::corrcoef(x[0]); });
}

TEST_CASE("functions of samples in models and their gradients are PyTorch's", "[ops][gradient]") {
  check("logcumsumexp", {"m"}, [](const Value* x) { return graph::logcumsumexp<1>(x[0] * 9); });
  check("trapezoid", {"m"}, [](const Value* x) { return graph::trapezoid<0>(x[0], 0.3); });
  check("trapezoid_at", {"m", "v"}, [](const Value* x) { return graph::trapezoid(x[0], x[1]); });
  check("trapezoid_each", {"m", "n"}, [](const Value* x) { return graph::trapezoid<0>(x[0], x[1]); });
  check("vdot", {"m", "n"}, [](const Value* x) { return graph::unsqueeze(graph::vdot(x[0], x[1]), 0); });
  check("nan_to_num", {"wild"},
        [](const Value* x) { return graph::nan_to_num(x[0], {.nan = 0.5, .neginf = -3}) / 1e300; });
  check("masked_fill", {"m"}, [](const Value* x) {
    const Value place = graph::iota(x[0].graph(), {{6, 0}});
    return graph::masked_fill(x[0], logical_or(equal(place % 3, 0), equal(place, 5)), -7);
  });
  check("meshgrid", {"v", "w"}, [](const Value* x) {
    const auto [columns, rows] = graph::meshgrid(x[0], square(x[1]));
    return graph::stack({columns, rows});
  });
}

TEST_CASE("statistics in models beside NaN and infinities are those of tensors, along axes of run time too", "[ops]") {
  const Array x{Dims(4, 3), {1, infinity, nan_number, 3, -infinity, 2, 7, 4, 5, infinity, 4, 8}};
  const auto same = [](const std::vector<double>& got, const std::vector<double>& expected) {
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      INFO(i << ": " << got[i]);
      CHECK((std::isnan(expected[i]) ? std::isnan(got[i]) : got[i] == expected[i]));
    }
  };
  same(values_of(x, [](Value v) { return graph::median<0>(v); }), {5, 4, nan_number});
  same(values_of(x, [](Value v) { return graph::nanmedian<0>(v); }), {5, 4, 5});
  same(values_of(x, [](Value v) { return graph::quantile<0>(v, 0.9); }), {nan_number, nan_number, nan_number});
  same(values_of(x, [](Value v) { return graph::quantile<0>(v, 0); }), {1, -infinity, nan_number});
  same(values_of(x, [](Value v) { return graph::percentile<1>(v, 50); }), {nan_number, 2, 5, 8});
  same(values_of(x, [](Value v) { return graph::nanpercentile(v, 100); }), {infinity});
  const Array none{Dims(2, 2), {nan_number, 1, nan_number, 3}};
  same(values_of(none, [](Value v) { return graph::nanquantile<0>(v, 0.5); }), {nan_number, 2});
  same(values_of(none, [](Value v) { return graph::nanmax<0>(v); }), {nan_number, 3});
  same(values_of(none, [](Value v) { return graph::nansum<0>(v); }), {0, 4});
  same(values_of({Dims(0, 2), {}}, [](Value v) { return graph::median<0>(v); }), {nan_number, nan_number});
  same(values_of(x, [](Value v) { return graph::nan_to_num(cast(v, DType::float32)); })[1] > 3.4e38 ? std::vector{1.0}
                                                                                                    : std::vector{0.0},
       {1});
  same(values_of({Dims(1, 3), {-infinity, 800, 800}}, [](Value v) { return graph::logcumsumexp<1>(v); }),
       {-infinity, 800, 800 + std::log(2.0)});
}

TEST_CASE("diagonals and statistics in models refuse what they cannot do", "[ops]") {
  using graph::Problem;
  CHECK(problem([](Value x) { return graph::diag_embed(x); }) == Problem::none);
  CHECK(problem([](Value x) { return graph::cov(x); }) == Problem::none);
  CHECK(problem([](Value x) { return graph::diagonal(x); }) == Problem::extent_is_known_only_at_run_time);
  CHECK(problem([](Value x) { return graph::diagonal<1, -1>(x); }) == Problem::axis_is_named_twice);
  CHECK(problem([](Value x) { return graph::trace<0, 2>(x); }) == Problem::axis_is_outside_the_rank);
  CHECK(problem([](Value x) { return graph::diag(graph::unsqueeze(x, 0)); }) == Problem::matrix_needs_two_axes);
  CHECK(problem([](Value x) { return graph::rot90<1, 1, -1>(x); }) == Problem::axis_is_named_twice);
  CHECK(problem([](Value x) { return graph::quantile<2>(x, 0.5); }) == Problem::axis_is_outside_the_rank);
  CHECK(problem([](Value x) { return graph::quantile<1, -1>(x, 0.5); }) == Problem::axis_is_named_twice);
  CHECK(problem([](Value x) { return graph::quantile(x, 1.5); }) == Problem::quantile_is_outside_0_to_1);
  CHECK(problem([](Value x) { return graph::nanquantile(x, nan_number); }) == Problem::quantile_is_outside_0_to_1);
  CHECK(problem([](Value x) { return graph::percentile(x, -3); }) == Problem::percentile_is_outside_0_to_100);
  CHECK(problem([](Value x) { return graph::nanpercentile(x, 101); }) == Problem::percentile_is_outside_0_to_100);
  CHECK(problem([](Value x) { return graph::cov(sum(x, {0})); }) == Problem::matrix_needs_two_axes);
  CHECK(problem([](Value x) { return graph::logcumsumexp<0>(x); }) == Problem::extent_is_known_only_at_run_time);
  CHECK(problem([](Value x) { return graph::trapezoid<0>(x); }) == Problem::extent_is_known_only_at_run_time);
  CHECK(problem([](Value x) {
          return graph::vdot(sum(x, {0}), graph::iota(x.graph(), {{5, 0}}));
        }) == Problem::broadcast_extents_differ);
  CHECK(problem([](Value x) { return graph::masked_fill(x, x, 0); }) == Problem::condition_of_where_is_not_bool);
}
