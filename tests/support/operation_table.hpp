#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Rows of a table of operations: a function of traced values, shapes, and naive loops that say what it computes. Each row is
// traced, interpreted with the kernels that programs call, and compared with its loops in every element type it takes; its
// first and second derivatives are compared with finite differences in float64. Nothing is compiled per row. Which row
// stands for which function: tests/operations.txt.

#include "tests/support/batching_check.hpp"
#include "tests/support/gradient_check.hpp"
#include "tests/support/operation_kernels.hpp"
#include "tests/support/test_seed.hpp"

#include <cmath>
#include <string_view>
#include <tuple>
#include <vector>

namespace twill::test {

using graph::Value;

enum class RowTypes {
  wide,          ///< float32 and float64
  floating,      ///< and float16, bfloat16
  narrow,        ///< float16 to float32, where the loops are no more exact
  numbers,       ///< all but truth values
  signed_ones,   ///< all with negative numbers
  integers_only, ///< of indices
};

struct OperationRow {
  std::string_view name;
  std::vector<std::vector<Dims>> shapes; ///< of the operands, for each case
  Value (*function)(const Value* x);
  Array (*reference)(const std::vector<Array>& x);
  RowTypes types = RowTypes::floating;
  Range range{};
  bool has_derivative = true;
  double (*element)(const double* x) = nullptr; ///< in place of `reference`: of elementwise functions, which broadcast
};

/// An array from its shape and its element at an index.
template <class F> Array array_from(const Dims& shape, const F& element) {
  Array result{shape, {}};
  for (std::int64_t i = 0; i < shape.elements(); ++i) result.elements.push_back(element(index_at(shape, i)));
  return result;
}

inline double element_of(const Array& array, const Dims& index) {
  return array.elements[static_cast<std::size_t>(position_of(index, contiguous_strides(array.shape)))];
}

namespace detail {

inline bool takes(RowTypes types, DType dtype) {
  const bool is_signed_integer = dtype == DType::int32 || dtype == DType::int64;
  if (types == RowTypes::integers_only) return is_signed_integer;
  if (types == RowTypes::narrow) return is_floating(dtype) && dtype != DType::float64;
  if (types == RowTypes::signed_ones) return is_floating(dtype) || is_signed_integer;
  if (dtype == DType::float32 || dtype == DType::float64) return true;
  return types == RowTypes::numbers || (types == RowTypes::floating && is_floating(dtype));
}

/// Of one rounding in the type, and of the sums that a few products make before it.
inline double tolerance_of(DType dtype) {
  return dtype == DType::float64    ? 1e-12
         : dtype == DType::float32  ? 1e-5
         : dtype == DType::float16  ? 5e-3
         : dtype == DType::bfloat16 ? 4e-2
                                    : 0;
}

inline Array random_of(DType dtype, const Dims& shape, Range range, std::mt19937_64& random) {
  if (!is_floating(dtype)) range = {dtype == DType::uint8 ? 0.0 : -3.0, 4.0};
  Array array = random_array(shape, range, random);
  for (double& element : array.elements) element = rounded(is_floating(dtype) ? element : std::floor(element), dtype);
  return array;
}

/// What an elementwise function makes of operands that broadcast to a shape.
inline Array elementwise(double (*element)(const double* x), const std::vector<Array>& x, const Dims& shape) {
  return array_from(shape, [&](const Dims& index) {
    std::vector<double> operands{};
    for (const Array& each : x) {
      Dims place = each.shape;
      for (int axis = 0; axis < place.rank; ++axis)
        place[axis] = each.shape[axis] == 1 ? 0 : index[axis + shape.rank - place.rank];
      operands.push_back(element_of(each, place));
    }
    return element(operands.data());
  });
}

inline graph::Graph forward_graph(const OperationRow& row, const std::vector<Dims>& shapes, DType dtype) {
  graph::Graph graph{is_floating(dtype) ? dtype : DType::float32};
  std::vector<Value> x{};
  for (const Dims& shape : shapes) x.push_back({graph, graph.add_input(dtype, graph::extents_of(shape))});
  graph.outputs.push_back(row.function(x.data()).id());
  return graph;
}

inline std::vector<Array> run_alone(const graph::Graph& graph, const std::vector<Array>& inputs) {
  return evaluate(graph, {{}, inputs, {}, {}}, &run_by_kernel).outputs;
}

template <std::size_t N> void check_derivatives_of(const OperationRow& row, const std::vector<Dims>& given) {
  std::array<Dims, N> shapes{};
  std::copy(given.begin(), given.end(), shapes.begin());
  const auto function = [&](auto... values) {
    const Value x[]{values...};
    return row.function(x);
  };
  const graph::Graph graph = derivative_graph<N>(function, shapes);
  REQUIRE(!graph.fault.any());
  const Dims result = graph.node(graph.outputs[1]).shape.evaluate({});
  check_derivatives({std::string{row.name}, std::vector<Range>(N, row.range), given, result},
                    [&](const std::vector<Array>& inputs) {
                      return evaluate(graph, {{}, inputs, {}, {}}, &run_by_kernel).outputs;
                    });
  check_batching<N>(function, std::vector<Range>(N, row.range), given, result, &run_alone);
}

/// The value of the row for a batch of examples.
template <std::size_t N>
void check_values_of_batch(const OperationRow& row, const std::vector<Dims>& shapes, DType dtype,
                           std::mt19937_64& random) {
  const auto function = [&](auto... values) {
    const Value x[]{values...};
    return row.function(x);
  };
  std::vector<Array> batches{};
  for (const Dims& shape : shapes) batches.push_back(random_of(dtype, with_examples(shape), row.range, random));
  const std::vector<DType> dtypes(N, dtype);
  check_vmap<N>(function, shapes, dtypes, batches, ~0U, 2 * tolerance_of(dtype), &run_alone);
  for (std::size_t k = 0; k < N && N > 1; ++k)
    check_vmap<N>(function, shapes, dtypes, batches, 1U << k, 2 * tolerance_of(dtype), &run_alone);
}

} // namespace detail

inline constexpr DType number_types[]{DType::uint8,    DType::int32,   DType::int64,  DType::float16,
                                      DType::bfloat16, DType::float32, DType::float64};

/// The row in every type, on all its shapes.
inline void check_forward(const OperationRow& row) {
  static const std::uint64_t seed = test_seed();
  std::mt19937_64 random{seed};
  for (const DType dtype : number_types) {
    if (!detail::takes(row.types, dtype)) continue;
    for (const std::vector<Dims>& shapes : row.shapes) {
      INFO(row.name << " of " << name(dtype) << " on " << to_string(shapes.front()) << " to "
                    << to_string(shapes.back()) << ", seed " << seed);
      const graph::Graph graph = detail::forward_graph(row, shapes, dtype);
      REQUIRE(!graph.fault.any());
      std::vector<Array> inputs{};
      for (const Dims& shape : shapes) inputs.push_back(detail::random_of(dtype, shape, row.range, random));
      const Array got = evaluate(graph, {{}, inputs, {}, {}}, &run_by_kernel).outputs[0];
      const Array expected =
          row.reference != nullptr ? row.reference(inputs) : detail::elementwise(row.element, inputs, got.shape);
      REQUIRE(got.shape == expected.shape);
      const double tolerance = detail::tolerance_of(graph.node(graph.outputs[0]).dtype);
      for (std::size_t i = 0; i < got.elements.size(); ++i) {
        INFO("element " << i << ": " << got.elements[i] << ", the loops give " << expected.elements[i]);
        const bool are_nan = std::isnan(got.elements[i]) && std::isnan(expected.elements[i]);
        const bool are_equal = got.elements[i] == expected.elements[i];
        CHECK((are_nan || are_equal ||
               std::fabs(got.elements[i] - expected.elements[i]) <= tolerance * (1 + std::fabs(expected.elements[i]))));
      }
      if (shapes.size() == 1) detail::check_values_of_batch<1>(row, shapes, dtype, random);
      if (shapes.size() == 2) detail::check_values_of_batch<2>(row, shapes, dtype, random);
      if (shapes.size() == 3) detail::check_values_of_batch<3>(row, shapes, dtype, random);
    }
  }
}

/// First and second derivatives of the row, on those of its shapes that differences are quick for.
inline void check_both_derivatives(const OperationRow& row) {
  if (!row.has_derivative) return;
  for (const std::vector<Dims>& shapes : row.shapes) {
    std::int64_t elements = 0;
    for (const Dims& shape : shapes) elements += shape.elements();
    if (elements > 48) continue;
    if (shapes.size() == 1) detail::check_derivatives_of<1>(row, shapes);
    if (shapes.size() == 2) detail::check_derivatives_of<2>(row, shapes);
    if (shapes.size() == 3) detail::check_derivatives_of<3>(row, shapes);
  }
}

} // namespace twill::test
