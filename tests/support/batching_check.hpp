#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// `vmap` of a traced function against a loop over the examples: values, first and second derivatives, with all arguments
// batched and with one at a time, and the gradient of the batched function. Tolerances are those of sums in another order. Read
// next: tests/support/gradient_check.hpp.

#include "tests/support/gradient_check.hpp"

#include <twill/graph/vmap.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace twill::test {

namespace detail {

/// Of arguments, a cotangent, and a direction for each argument: the value, the gradients, and those of their sum along the
/// directions.
template <std::size_t N, class F> struct DerivativesOf {
  const F& function;

  template <class... Values> constexpr std::array<graph::Value, 1 + 2 * N> operator()(const Values&... values) const {
    static_assert(sizeof...(Values) == 2 * N + 1);
    const graph::Value all[]{values...};
    std::array<graph::Value, N> x{};
    for (std::size_t k = 0; k < N; ++k) x[k] = graph::detail::renamed(all[k]);
    const graph::Value value = std::apply(function, x);
    const std::array<graph::Value, N> first = graph::gradients(graph::sum(value * all[N]), x);
    graph::Value contracted = graph::constant(value.graph(), DType::float64, 0);
    for (std::size_t k = 0; k < N; ++k) contracted = contracted + graph::sum(first[k] * all[N + 1 + k]);
    const std::array<graph::Value, N> second = graph::gradients(contracted, x);
    std::array<graph::Value, 1 + 2 * N> results{value};
    for (std::size_t k = 0; k < N; ++k) results[1 + k] = first[k];
    for (std::size_t k = 0; k < N; ++k) results[1 + N + k] = second[k];
    return results;
  }
};

/// Which arguments are batched: a bit for each.
using BatchedArguments = unsigned;

inline constexpr std::int64_t examples = 3;

inline Dims with_examples(const Dims& shape) {
  Dims result{};
  result.rank = shape.rank + 1;
  result[0] = examples;
  for (int axis = 0; axis < shape.rank; ++axis) result[axis + 1] = shape[axis];
  return result;
}

/// A graph of f over inputs, called for one example or, by `vmap`, for many.
template <std::size_t N, class F>
graph::Graph graph_of(const F& f, const std::vector<Dims>& shapes, const std::vector<DType>& dtypes, bool is_vmap,
                      BatchedArguments batched) {
  graph::Graph graph{is_floating(dtypes[0]) ? dtypes[0] : DType::float32};
  std::array<graph::Value, N> x{};
  std::array<int, N> axes{};
  for (std::size_t k = 0; k < N; ++k) {
    const bool has_examples = is_vmap && (batched >> k & 1U) != 0;
    const Dims shape = has_examples ? with_examples(shapes[k]) : shapes[k];
    x[k] = {graph, graph.add_input(dtypes[k], graph::extents_of(shape))};
    axes[k] = has_examples ? 0 : unbatched;
  }
  const auto add = [&](const auto& results) {
    for (const graph::Value& result : graph::transforms::values_of(results)) graph.outputs.push_back(result.id());
  };
  if (is_vmap)
    add(graph::transforms::vmap(f, x, axes, std::array{0}));
  else
    add(std::apply(f, x));
  return graph;
}

/// The arrays of one example.
inline Array example_of(const Array& batch, const Dims& shape, std::int64_t example) {
  const auto count = static_cast<std::ptrdiff_t>(shape.elements());
  const auto first = batch.elements.begin() + static_cast<std::ptrdiff_t>(example) * count;
  return {shape, {first, first + count}};
}

inline void check_elements(const Array& expected, const double* got, double tolerance) {
  for (std::size_t i = 0; i < expected.elements.size(); ++i) {
    const double wanted = expected.elements[i];
    INFO("element " << i << ": " << got[i] << ", one example alone gives " << wanted);
    const bool are_nan = std::isnan(wanted) && std::isnan(got[i]);
    CHECK((are_nan || wanted == got[i] || std::fabs(wanted - got[i]) <= tolerance * (1 + std::fabs(wanted))));
  }
}

} // namespace detail

/// Runs a graph on inputs.
using RunGraph = std::function<std::vector<Array>(const graph::Graph&, const std::vector<Array>&)>;

/// Checks that `vmap` of a function gives, for each example, what the function gives. `batches` have one element for each
/// argument, along their first axes; shared arguments are those of the first example.
template <std::size_t N, class F>
void check_vmap(const F& f, const std::vector<Dims>& shapes, const std::vector<DType>& dtypes,
                const std::vector<Array>& batches, detail::BatchedArguments batched, double tolerance,
                const RunGraph& run) {
  const graph::Graph of_one = detail::graph_of<N>(f, shapes, dtypes, false, 0);
  const graph::Graph of_many = detail::graph_of<N>(f, shapes, dtypes, true, batched);
  REQUIRE(!of_one.fault.any());
  INFO("arguments batched: " << batched);
  REQUIRE(of_many.fault.problem == graph::Problem::none);
  std::vector<Array> inputs{};
  for (std::size_t k = 0; k < N; ++k)
    inputs.push_back((batched >> k & 1U) != 0 ? batches[k] : detail::example_of(batches[k], shapes[k], 0));
  const std::vector<Array> got = run(of_many, inputs);
  for (std::int64_t example = 0; example < detail::examples; ++example) {
    for (std::size_t k = 0; k < N; ++k)
      inputs[k] = detail::example_of(batches[k], shapes[k], (batched >> k & 1U) != 0 ? example : 0);
    const std::vector<Array> expected = run(of_one, inputs);
    for (std::size_t r = 0; r < expected.size(); ++r) {
      INFO("result " << r << " of example " << example);
      REQUIRE(got[r].shape == detail::with_examples(expected[r].shape));
      const std::size_t count = expected[r].elements.size();
      detail::check_elements(expected[r], got[r].elements.data() + static_cast<std::size_t>(example) * count,
                             tolerance);
    }
  }
}

/// The gradients of the batched function, all of whose arguments are batched, are those of the examples.
template <std::size_t N, class F>
void check_gradient_of_vmap(const F& f, const std::vector<Dims>& shapes, const std::vector<Array>& batches,
                            const RunGraph& run) {
  const std::vector<DType> dtypes(2 * N + 1, DType::float64);
  const auto derivatives = [&](auto... values) { return detail::DerivativesOf<N, F>{f}(values...); };
  const graph::Graph of_one = detail::graph_of<2 * N + 1>(derivatives, shapes, dtypes, false, 0);
  graph::Graph of_many{DType::float64};
  std::array<graph::Value, N> x{};
  std::array<int, N> axes{};
  const auto input = [&](std::size_t k) {
    return graph::Value{of_many,
                        of_many.add_input(DType::float64, graph::extents_of(detail::with_examples(shapes[k])))};
  };
  for (std::size_t k = 0; k < N; ++k) x[k] = input(k);
  const graph::Value value = graph::transforms::vmap(f, x, axes, std::array{0})[0];
  const graph::Value loss = graph::sum(value * input(N));
  for (const graph::Value& gradient : graph::gradients(loss, x)) of_many.outputs.push_back(gradient.id());
  REQUIRE(of_many.fault.problem == graph::Problem::none);
  const std::vector<Array> got = run(of_many, {batches.begin(), batches.begin() + N + 1});
  for (std::int64_t example = 0; example < detail::examples; ++example) {
    std::vector<Array> inputs{};
    for (std::size_t k = 0; k < 2 * N + 1; ++k) inputs.push_back(detail::example_of(batches[k], shapes[k], example));
    const std::vector<Array> expected = run(of_one, inputs);
    for (std::size_t k = 0; k < N; ++k) {
      INFO("gradient of the batched function by argument " << k << ", example " << example);
      const std::size_t count = expected[1 + k].elements.size();
      detail::check_elements(expected[1 + k], got[k].elements.data() + static_cast<std::size_t>(example) * count, 1e-9);
    }
  }
}

/// Checks a function with its first and second derivatives, for a result of shape `result`.
template <std::size_t N, class F>
void check_batching(const F& f, const std::vector<Range>& ranges, const std::vector<Dims>& of_arguments,
                    const Dims& result, const RunGraph& run, double tolerance = 1e-9) {
  static const std::uint64_t seed = test_seed();
  std::mt19937_64 random{seed};
  INFO("vmap, seed " << seed);
  std::vector<Dims> shapes = of_arguments;
  shapes.push_back(result);
  shapes.insert(shapes.end(), of_arguments.begin(), of_arguments.end());
  std::vector<Array> batches{};
  for (std::size_t k = 0; k < shapes.size(); ++k)
    batches.push_back(detail::random_array(detail::with_examples(shapes[k]),
                                           k < N    ? ranges[k]
                                           : k == N ? Range{0.5, 1.5}
                                                    : Range{-1, 1},
                                           random));
  const std::vector<DType> dtypes(2 * N + 1, DType::float64);
  const auto derivatives = [&](auto... values) { return detail::DerivativesOf<N, F>{f}(values...); };
  check_vmap<2 * N + 1>(derivatives, shapes, dtypes, batches, ~0U, tolerance, run);
  for (std::size_t k = 0; k < N; ++k)
    check_vmap<2 * N + 1>(derivatives, shapes, dtypes, batches, 1U << k, tolerance, run);
  check_gradient_of_vmap<N>(f, shapes, batches, run);
}

} // namespace twill::test
