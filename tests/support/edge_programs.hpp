#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Programs of functions and their derivatives at kinks, in tails and at the ends of an element type's range, beside what the
// reference makes of the same graph in float64. Included for every device kind and element type. The programs are compiled, but
// for hosts, where they are made when they run, as in quick builds.

#include <tests/support/edge_rows.hpp>
#include <tests/support/program_run.hpp>

#include <twill/compile/function.hpp>
#include <twill/compile/quick.hpp>
#include <twill/tensor/create.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace twill::test {

/// So many functions of a table are one graph.
inline constexpr int edge_group = 6;

/// A run of the functions of a table, all in one graph.
template <const auto& Table, int First, int Count> struct EdgeProgram {
  template <class... X> constexpr auto operator()(const X&... x) const {
    constexpr std::size_t each = sizeof...(X) == 1 ? 3 : 6;
    std::array<Value, Count * each> all{};
    for (std::size_t i = 0; i < Count; ++i) {
      const auto found = with_derivatives(Table[First + i], x...);
      for (std::size_t k = 0; k < each; ++k) all[i * each + k] = found[k];
    }
    return all;
  }
};

/// Values of T of every kind and size: zeros, kinks, ties, denormals, the ends of exponentials, infinities, NaN.
template <class T> std::vector<double> edge_points() {
  using Limits = std::numeric_limits<T>;
  const double greatest = static_cast<double>(Limits::max()), end = std::log(greatest);
  std::vector<double> points{0.0, std::numeric_limits<double>::quiet_NaN()};
  for (const double size :
       {1.0, 0.5, 2.0, 9.0, 20.0, 40.0, 100.0, end - 0.6, end + 0.4, std::exp2(Limits::max_exponent / 2),
        std::exp2(-Limits::max_exponent / 2), 8 * static_cast<double>(Limits::denorm_min()), greatest,
        static_cast<double>(Limits::infinity())})
    points.push_back(static_cast<double>(static_cast<T>(size)));
  for (std::size_t i = points.size(); i-- > 0;) points.push_back(-points[i]);
  return points;
}

/// Pairs of such values, without the largest.
template <class T> std::array<std::vector<double>, 2> edge_pairs() {
  using Limits = std::numeric_limits<T>;
  const double end = std::log(static_cast<double>(Limits::max())), large = std::exp2(0.6 * Limits::max_exponent);
  std::vector<double> sides{0.0, -0.0, 1.0, -1.0, 2.0, -0.5};
  for (const double size : {1 / large, 0.7 * end, -0.7 * end, 1.2 * end, -1.2 * end, large})
    sides.push_back(static_cast<double>(static_cast<T>(size)));
  std::array<std::vector<double>, 2> pairs{};
  for (const double left : sides)
    for (const double right : sides) {
      pairs[0].push_back(left);
      pairs[1].push_back(right);
    }
  return pairs;
}

/// Rows of four.
template <class T> std::vector<double> edge_matrix() {
  using Limits = std::numeric_limits<T>;
  const double end = 1.2 * std::log(static_cast<double>(Limits::max())), large = std::exp2(0.6 * Limits::max_exponent);
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> rows{0, 0,  0,    0,        1,    1,    1,     1,         -2, -2,  3,     3,     1, 2, 3,
                           4, -1, 0,    1,        -0.0, 30,   -30,   0,         1,  end, -end,  0,     1, 0, 2,
                           0, 3,  1000, 1000.5,   999,  1000, large, 1,         0,  -1,  large, large, 1, 0, 1 / large,
                           0, 0,  0,    infinity, 0,    1,    2,     -infinity, 0,  1,   2,     nan,   1, 2, 3};
  for (double& element : rows) element = static_cast<double>(static_cast<T>(element));
  return rows;
}

inline constexpr auto is_far = [](double a, double) { return std::fabs(a) > 8; };
inline constexpr auto is_some = [](double, double) { return true; };
/// Where an element type cannot have what the reference has, or digits go.
inline const EdgeException edge_losses[] = {
    {"sigmoid", {1, 2}, is_far, "1 - y, as PyTorch's"},
    {"silu", {1, 2}, is_far, "as for sigmoid"},
    {"softplus", {2}, is_far, "as for sigmoid"},
    {"logsigmoid", {2}, is_far, "as for sigmoid"},
    {"bce_with_logits", {1, 3}, is_far, "as for sigmoid"},
    {"bce_with_logits of weighted positives", {1, 3}, is_far, "as for sigmoid"},
    {"tanh", {1, 2}, is_far, "1 - y^2, as PyTorch's"},
    {"tanh_accurate", {1, 2}, is_far, "as for tanh"},
    {"gelu_tanh",
     {1, 2},
     [](double a, double) { return std::fabs(a) >= 2; },
     "1 - tanh^2, and 0 times x^2 where that is infinite, as PyTorch's"},
    {"tanhshrink", {2}, is_far, "as for tanh"},
    {"gelu", {1, 2}, is_far, "the exponent of the density is rounded, as PyTorch's"},
    {"gelu_accurate", {0, 1, 2}, is_far, "the exponent of erfc is rounded"},
    {"mish", {2}, is_far, "1 - tanh^2, and 0 times the largest, as PyTorch's"},
    {"prod", {0, 1, 2}, [](double a, double) { return a > 700; }, "infinite on the way"},
    {"layer_norm", {0, 2}, [](double a, double) { return a > 1e15; }, "the variance is infinite, as PyTorch's"},
    {"rms_norm", {0, 2}, [](double a, double) { return a > 1e15; }, "the mean square is infinite, as PyTorch's"},
    {"normalize", {0}, [](double a, double) { return a > 1e15; }, "the sum of squares is infinite, as PyTorch's"},
    {"cosine_similarity", {0}, [](double a, double) { return a > 1e15; }, "as for normalize"},
    {"expm1", {1, 2}, is_far, "y + 1, as PyTorch's"},
    {"asinh", {1, 2}, is_far, "x^2 is infinite for the largest, as PyTorch's"},
    {"acosh", {1, 2}, is_far, "x^2 is infinite for the largest, as PyTorch's"},
    {"sinc", {0, 1, 2}, is_some, "the argument, pi x, is rounded, as PyTorch's"},
    {"hypot", {3, 5}, is_some, "cancels where one operand is small beside the other"},
    {"atan2", {4}, [](double a, double b) { return std::fabs(a) == std::fabs(b); }, "0 but for rounding"},
    {"atan2", {3, 4, 5}, [](double a, double b) { return std::hypot(a, b) < 1e-2; }, "infinite on the way"},
    {"power", {3, 5}, [](double a, double) { return std::fabs(a) < 1e-3; }, "0 times an infinite power, as PyTorch's"},
};

/// The greatest finite size of a row's elements.
inline double greatest_of(const std::vector<double>& matrix, std::size_t row, std::size_t width) {
  double greatest = 0;
  for (std::size_t i = row * width; i < (row + 1) * width; ++i)
    if (std::isfinite(matrix[i])) greatest = std::max(greatest, std::fabs(matrix[i]));
  return greatest;
}

using EdgeResults = std::vector<std::vector<double>>;

/// Outputs of compiled programs of a table's functions, from `First` on.
template <class T, class S, const auto& Table, int First = 0, class D, class... Points>
void add_compiled_edges(EdgeResults& results, const D& device, const Dims& shape, const Points&... points) {
  constexpr int count = static_cast<int>(std::size(Table)), here = std::min(edge_group, count - First);
  const auto tensor_of = [&](const std::vector<double>& values) {
    std::vector<T> elements{};
    for (const double value : values) elements.push_back(static_cast<T>(value));
    return from_values<S>(elements, shape).to(device);
  };
  const auto fetch = [&](const auto& output) {
    const auto copy = output.to(Cpu{0}).contiguous();
    synchronize(Cpu{0});
    std::vector<double>& values = results.emplace_back();
    for (std::int64_t i = 0; i < copy.elements(); ++i) values.push_back(static_cast<double>(copy.data()[i]));
  };
  std::apply([&](const auto&... output) { (fetch(output), ...); },
             compiled(EdgeProgram<Table, First, here>{})(tensor_of(points)...));
  if constexpr (First + edge_group < count)
    add_compiled_edges<T, S, Table, First + edge_group>(results, device, shape, points...);
}

/// Outputs of a graph that is lowered and interpreted now, of operands of type T.
template <class T>
void add_interpreted_edges(EdgeResults& results, const graph::Graph& graph, const std::vector<Dims>& shapes,
                           const std::vector<std::vector<double>>& points) {
  const compile::QuickTable table{graph, {}};
  const graph::SymbolValues symbols = compile::resolve_symbols(table.view(), shapes);
  std::vector<std::vector<T>> inputs{};
  std::vector<std::vector<std::byte>> outputs{}; // some are of other types
  std::vector<void*> input_addresses{}, output_addresses{};
  for (const std::vector<double>& values : points) {
    std::vector<T>& elements = inputs.emplace_back();
    for (const double value : values) elements.push_back(static_cast<T>(value));
    input_addresses.push_back(elements.data());
  }
  const auto bytes_of = [&](int id) { return size_of(graph.node(id).dtype); };
  for (const int id : graph.outputs) {
    const std::int64_t elements = graph.node(id).shape.evaluate(symbols).elements();
    output_addresses.push_back(outputs.emplace_back(static_cast<std::size_t>(elements) * bytes_of(id)).data());
  }
  compile::Executor<Cpu> executor{Cpu{}, table.view(), table.kernels(), compile::Arena::kept};
  executor.run(symbols, {.inputs = input_addresses, .outputs = output_addresses});
  synchronize(Cpu{});
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    std::vector<double>& values = results.emplace_back();
    const int id = graph.outputs[k];
    for (std::size_t at = 0; at < outputs[k].size(); at += bytes_of(id))
      values.push_back(load(graph.node(id).dtype, outputs[k].data() + at));
  }
}

/// Outputs of a table's functions.
template <class T, class S, const auto& Table, class D, class... Points>
EdgeResults edge_results(const D& device, const Dims& shape, const Points&... points) {
  EdgeResults results{};
  if constexpr (std::is_same_v<D, Cpu>) {
    constexpr int count = static_cast<int>(std::size(Table));
    for (int first = 0; first < count; first += edge_group) {
      graph::Graph graph{};
      const auto input = [&](const auto&) {
        graph::Extents extents{};
        for (int axis = 0; axis < S::rank; ++axis)
          extents.append(S::extent(axis) == dyn ? graph.symbol("") : graph::Extent{S::extent(axis), 0});
        return Value{graph, graph.add_input(dtype_of<T>, extents)};
      };
      const std::tuple operands{input(points)...};
      for (int f = first; f < std::min(first + edge_group, count); ++f)
        for (const Value& each :
             std::apply([&](const auto&... x) { return with_derivatives(Table[f], x...); }, operands))
          graph.outputs.push_back(each.id());
      add_interpreted_edges<T>(results, graph, std::vector<Dims>(sizeof...(points), shape), {points...});
    }
  } else {
    add_compiled_edges<T, S, Table>(results, device, shape, points...);
  }
  return results;
}

/// What differs between functions of a table in type T and the reference at points of all operands: one line each, or
/// nothing. Results may be some steps of T apart, or less than 128 of the smallest normal numbers that they are computed in:
/// functions that divide by an infinite exponential give 0 there.
template <class T, class S, const auto& Table, class D, class... Points>
std::string edge_differences(const D& device, const Dims& shape, const Points&... points) {
  using Limits = std::numeric_limits<T>;
  const double steps = 16;
  const EdgeResults results = edge_results<T, S, Table>(device, shape, points...);
  std::ostringstream text{};
  std::size_t next = 0;
  for (const auto& function : Table)
    for (std::size_t row = 0; const std::vector<double>& expected : edge_reference(function, shape, points...)) {
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const double right = expected[i], got = results.at(next).at(i);
        double at[]{points[i]..., 0}, scale = std::fabs(right);
        if (shape.rank == 2) { // a row's elements are sums, and known by its greatest
          const std::size_t width = expected.size() / static_cast<std::size_t>(shape[0]);
          at[0] = greatest_of(std::get<0>(std::tie(points...)), i / width, static_cast<std::size_t>(shape[1]));
          scale = 4 * std::max(1.0, greatest_of(expected, i / width, width));
        }
        const double rounded = static_cast<double>(static_cast<T>(right));
        const double margin = steps * static_cast<double>(Limits::epsilon()) * scale +
                              128 * static_cast<double>(std::numeric_limits<kernel::compute_t<T>>::min()) +
                              static_cast<double>(Limits::denorm_min());
        if (!agrees(got, right, margin) && got != rounded && !is_listed(edge_losses, function.name, row, at[0], at[1]))
          text << function.name << ", row " << row << " at " << at[0] << " and " << at[1] << ": " << got << ", not "
               << right << "\n";
      }
      ++row, ++next;
    }
  return text.str();
}

/// The same of all functions of one operand, of all of two, and of all of rows.
template <class T, class D> std::string edge_differences_of_one(const D& device) {
  const std::vector<double> points = edge_points<T>();
  return edge_differences<T, Shape<dyn>, edge_unary>(device, Dims(static_cast<std::int64_t>(points.size())), points);
}
template <class T, class D> std::string edge_differences_of_two(const D& device) {
  const auto [left, right] = edge_pairs<T>();
  return edge_differences<T, Shape<dyn>, edge_binary>(device, Dims(static_cast<std::int64_t>(left.size())), left,
                                                      right);
}
template <class T, class D> std::string edge_differences_of_rows(const D& device) {
  const std::vector<double> rows = edge_matrix<T>();
  return edge_differences<T, Shape<dyn, 4>, edge_rows>(device, Dims(static_cast<std::int64_t>(rows.size()) / 4, 4),
                                                       rows);
}

} // namespace twill::test
