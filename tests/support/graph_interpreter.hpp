#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What a traced graph means, said as plainly as possible: every node becomes an array of doubles, one after another, in
// naive loops. Each result is rounded to its element type. Tests compare everything that the compiler makes of a graph with
// this. Read next: tests/support/table_interpreter.hpp.

#include <twill/core/half.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/graph/graph.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/program.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace twill::test {

/// A tensor of any element type, whose elements stand as doubles.
struct Array {
  Dims shape{};
  std::vector<double> elements{};
};

/// The double after a visit to its element type. What no integer is comes from an integer divided by zero, which gives 0.
inline double rounded(double number, DType dtype) {
  if (!is_floating(dtype) && dtype != DType::boolean && !std::isfinite(number)) number = 0;
  switch (dtype) {
  case DType::boolean:
    return number != 0 ? 1 : 0;
  case DType::uint8:
    return static_cast<double>(static_cast<std::uint8_t>(number));
  case DType::int32:
    return static_cast<double>(static_cast<std::int32_t>(number));
  case DType::int64:
    return static_cast<double>(static_cast<std::int64_t>(number));
  case DType::float16:
    return static_cast<double>(static_cast<float>(half(number)));
  case DType::bfloat16:
    return static_cast<double>(static_cast<float>(bfloat16(number)));
  case DType::float32:
    return static_cast<double>(static_cast<float>(number));
  case DType::float64:
    return number;
  default: // a type that models do not have
    break;
  }
  return number;
}

namespace detail {

template <int P> double apply_primitive(kernel::Primitive primitive, const double* x) {
  constexpr auto candidate = static_cast<kernel::Primitive>(P);
  if (primitive != candidate) {
    if constexpr (P + 1 < kernel::primitive_count) return apply_primitive<P + 1>(primitive, x);
    throw std::logic_error("no such primitive");
  }
  constexpr int arity = kernel::info(candidate).arity;
  constexpr bool bitwise = candidate >= kernel::Primitive::bitwise_and && candidate <= kernel::Primitive::gcd;
  const auto integer = [&](int i) { return static_cast<std::int64_t>(x[i]); };
  if constexpr (candidate == kernel::Primitive::invert)
    return static_cast<double>(kernel::apply<candidate>(integer(0)));
  else if constexpr (arity == 1)
    return static_cast<double>(kernel::apply<candidate>(x[0]));
  else if constexpr (bitwise)
    return static_cast<double>(kernel::apply<candidate>(integer(0), integer(1)));
  else if constexpr (arity == 2)
    return static_cast<double>(kernel::apply<candidate>(x[0], x[1]));
  else if constexpr (candidate == kernel::Primitive::where)
    return x[0] != 0 ? x[1] : x[2];
  else if constexpr (candidate == kernel::Primitive::fma)
    return x[0] * x[1] + x[2];
  else if constexpr (arity == 3)
    return kernel::apply<candidate>(x[0], x[1], x[2]);
  else
    return static_cast<double>(kernel::apply<candidate>(integer(0), integer(1), integer(2), integer(3)));
}

} // namespace detail

/// One primitive on doubles; truth values are 0 and 1.
inline double apply_primitive(kernel::Primitive primitive, const double* operands) {
  return detail::apply_primitive<0>(primitive, operands);
}

inline double identity_of(kernel::Reduction reduction) {
  using enum kernel::Reduction;
  switch (reduction) {
  case sum:
  case any:
    return 0;
  case product:
  case all:
    return 1;
  case max:
    return -HUGE_VAL;
  case min:
    return HUGE_VAL;
  }
  return 0;
}

inline double combine(kernel::Reduction reduction, double a, double b) {
  using enum kernel::Reduction;
  switch (reduction) {
  case sum:
    return a + b;
  case product:
    return a * b;
  case max:
    return kernel::apply<kernel::Primitive::maximum>(a, b);
  case min:
    return kernel::apply<kernel::Primitive::minimum>(a, b);
  case any:
    return a != 0 || b != 0 ? 1 : 0;
  case all:
    return a != 0 && b != 0 ? 1 : 0;
  }
  return 0;
}

/// The index of each axis at a row-major position.
inline Dims index_at(const Dims& shape, std::int64_t position) {
  Dims index = shape;
  for (int axis = shape.rank - 1; axis >= 0; --axis) {
    index[axis] = position % shape[axis];
    position /= shape[axis];
  }
  return index;
}

inline std::int64_t position_of(const Dims& index, const Dims& strides) {
  std::int64_t position = 0;
  for (int axis = 0; axis < index.rank; ++axis) position += index[axis] * strides[axis];
  return position;
}

/// What a graph reads: arrays for its inputs and parameters in order, numbers for its symbols and run_scalars.
struct Environment {
  graph::SymbolValues symbols{};
  std::vector<Array> inputs{};
  std::vector<Array> parameters{};
  std::vector<double> run_scalars{};
};

/// What it leaves behind: its outputs, and all parameters after its assignments.
struct Results {
  std::vector<Array> outputs{};
  std::vector<Array> parameters{};
};

using OperationKernel = void (*)(const Team& team, const kernel::Launch& launch);

/// Kernels of doubles that stand for operations whose meaning is not written here, by name; tests that have compared them with
/// plain loops put them in. Results are one array, operands lie densely.
inline std::map<std::string_view, OperationKernel>& known_operations() {
  static std::map<std::string_view, OperationKernel> kernels{};
  return kernels;
}

namespace detail {

inline void run_operation(const graph::Graph& graph, const graph::Node& node, std::vector<Array>& values, Array& result,
                          OperationKernel run) {
  std::vector<Dims> shapes{};
  std::vector<kernel::Operand> operands{};
  const auto add = [&](Array& array) {
    shapes.push_back(array.shape);
    operands.push_back({});
    operands.back().data = array.elements.data();
    for (int axis = 0; axis < array.shape.rank; ++axis)
      operands.back().strides[static_cast<std::size_t>(axis)] = contiguous_strides(array.shape)[axis];
  };
  for (int i = 0; i < node.arity; ++i) add(values[static_cast<std::size_t>(node.input(i))]);
  add(result);
  const std::vector<DType> dtypes(shapes.size(), DType::float64);
  run(Team::serial(),
      {result.shape, operands.data(), shapes.data(), dtypes.data(), graph.attributes.data() + node.index + 1});
}

} // namespace detail

/// Runs the operation that is node `id`: its result 0 goes to `result`, further ones to the values of their nodes.
using RunOperation = void (*)(const graph::Graph& graph, int id, std::vector<Array>& values, Array& result);

/// The array of every node. Operations are run by `run_operation`, without one as said above.
inline std::vector<Array> evaluate_nodes(const graph::Graph& graph, const Environment& environment,
                                         RunOperation run_operation = nullptr) {
  using graph::Kind;
  std::vector<Array> values(graph.nodes.size());
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const graph::Node& node = graph.nodes[id];
    Array result{node.shape.evaluate(environment.symbols), {}};
    const auto count = static_cast<std::size_t>(result.shape.elements());
    result.elements.assign(count, 0);
    const auto input = [&](int k) -> const Array& { return values[static_cast<std::size_t>(node.input(k))]; };
    const auto for_each = [&](auto&& f) {
      for (std::size_t i = 0; i < count; ++i)
        result.elements[i] = f(i, index_at(result.shape, static_cast<std::int64_t>(i)));
    };
    switch (node.kind) {
    case Kind::input:
      result = environment.inputs[static_cast<std::size_t>(node.index)];
      break;
    case Kind::parameter:
      result = environment.parameters[static_cast<std::size_t>(node.index)];
      break;
    case Kind::constant:
      result.elements[0] = node.value / static_cast<double>(node.over.evaluate(environment.symbols));
      break;
    case Kind::run_scalar:
      result.elements[0] = environment.run_scalars[static_cast<std::size_t>(node.index)];
      break;
    case Kind::iota:
      for_each([](std::size_t i, const Dims&) { return static_cast<double>(i); });
      break;
    case Kind::primitive:
      for_each([&](std::size_t i, const Dims&) {
        double operands[4]{};
        for (int k = 0; k < node.arity; ++k) operands[k] = input(k).elements[i];
        return apply_primitive(node.primitive, operands);
      });
      break;
    case Kind::cast:
    case Kind::reshape:
    case Kind::stop_gradient:
    case Kind::rule:
    case Kind::after:
    case Kind::assign:
      result.elements = input(node.kind == Kind::assign ? 1 : 0).elements;
      break;
    case Kind::broadcast: {
      const Dims from = input(0).shape;
      const Dims strides = contiguous_strides(from);
      for_each([&](std::size_t, const Dims& index) {
        std::int64_t position = 0;
        for (int axis = 0; axis < from.rank; ++axis)
          if (from[axis] != 1) position += index[axis + result.shape.rank - from.rank] * strides[axis];
        return input(0).elements[static_cast<std::size_t>(position)];
      });
      break;
    }
    case Kind::transpose: {
      const Dims strides = contiguous_strides(input(0).shape);
      for_each([&](std::size_t, const Dims& index) {
        std::int64_t position = 0;
        for (int axis = 0; axis < index.rank; ++axis)
          position += index[axis] * strides[node.permutation[static_cast<std::size_t>(axis)]];
        return input(0).elements[static_cast<std::size_t>(position)];
      });
      break;
    }
    case Kind::reduce: {
      const Dims from = input(0).shape;
      const Dims strides = contiguous_strides(from);
      for_each([&](std::size_t, const Dims& index) {
        double total = identity_of(node.reduction);
        for (std::int64_t i = 0; i < from[node.axis]; ++i)
          total = combine(
              node.reduction, total,
              input(0).elements[static_cast<std::size_t>(position_of(index, strides) + i * strides[node.axis])]);
        return total;
      });
      break;
    }
    case Kind::result:
      if (run_operation == nullptr) throw std::logic_error("the interpreter knows no operation of several results");
      result = std::move(values[id]);
      break;
    case Kind::slice:
      if (node.index >= 0) throw std::logic_error("the interpreter knows no loops");
      result.elements.assign(input(0).elements.begin(), // the first example of a batch
                             input(0).elements.begin() + node.shape.evaluate(environment.symbols).elements());
      break;
    case Kind::carry:
    case Kind::stack:
    case Kind::close:
    case Kind::leave:
      throw std::logic_error("the interpreter knows no loops");
    case Kind::operation: {
      if (run_operation != nullptr) {
        run_operation(graph, static_cast<int>(id), values, result);
        break;
      }
      if (const auto known = known_operations().find(node.operation->name); known != known_operations().end()) {
        detail::run_operation(graph, node, values, result, known->second);
        break;
      }
      if (node.operation->name != "matmul") throw std::logic_error("the interpreter does not know this operation");
      const int last = node.shape.rank - 1;
      const Dims left = contiguous_strides(input(0).shape);
      const Dims right = contiguous_strides(input(1).shape);
      const std::int64_t inner = input(0).shape[last];
      for_each([&](std::size_t, const Dims& index) {
        Dims row = index;
        Dims column = index;
        row[last] = 0;
        column[last - 1] = 0;
        double total = 0;
        for (std::int64_t i = 0; i < inner; ++i)
          total += input(0).elements[static_cast<std::size_t>(position_of(row, left) + i * left[last])] *
                   input(1).elements[static_cast<std::size_t>(position_of(column, right) + i * right[last - 1])];
        return total;
      });
      break;
    }
    }
    for (double& element : result.elements) element = rounded(element, node.dtype);
    values[id] = std::move(result);
  }
  return values;
}

/// Outputs and parameters after one run.
inline Results evaluate(const graph::Graph& graph, const Environment& environment,
                        RunOperation run_operation = nullptr) {
  const std::vector<Array> values = evaluate_nodes(graph, environment, run_operation);
  Results results{{}, environment.parameters};
  for (int output : graph.outputs) results.outputs.push_back(values[static_cast<std::size_t>(output)]);
  for (std::size_t id = 0; id < graph.nodes.size(); ++id)
    if (graph.nodes[id].kind == graph::Kind::assign)
      results.parameters[static_cast<std::size_t>(graph.node(graph.nodes[id].input(0)).index)] = values[id];
  return results;
}

} // namespace twill::test
