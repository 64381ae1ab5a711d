// SPDX-License-Identifier: Apache-2.0
//
// The interface of operations with a kernel of their own: several results, attributes, element types of operands, dense
// operands, gradients through each result.

#include <catch2/catch.hpp>
#include <twill/compile.hpp>
#include <twill/graph/gradient.hpp>
#include <twill/graph/operation.hpp>
#include <twill/tensor.hpp>

#include <cstdint>

namespace {

using namespace twill;
using graph::Value;

// split(x) -> (first * x, second * x), and the position of each element as it lies in memory

constexpr void split_vjp(graph::Graph& graph, int node, const graph::Cotangents& cotangents,
                         graph::InputGradients& gradients) {
  const graph::Node& split = graph.node(node);
  const auto first = static_cast<double>(graph.attribute(split, 0));
  const auto second = static_cast<double>(graph.attribute(split, 1));
  Value total = graph::broadcast_to(graph::constant(graph, split.dtype, 0), split.shape);
  if (cotangents[0] >= 0) total = total + Value{graph, cotangents[0]} * first;
  if (cotangents[1] >= 0) total = total + Value{graph, cotangents[1]} * second;
  gradients.set(0, total);
}

inline constexpr graph::Operation split_operation{
    .name = "split", .vjp = &split_vjp, .results = 3, .wants_dense = true};

struct Parts {
  Value first, second, position;
};

constexpr Parts split(Value x, std::int64_t first, std::int64_t second) {
  const Value a = graph::add_operation(split_operation, {x}, x.dtype(), x.shape(), {first, second});
  return {a, graph::add_result(a, 1, x.dtype(), x.shape()), graph::add_result(a, 2, DType::int64, x.shape())};
}

// how many elements are above zero, typed by what it reads

inline constexpr graph::Operation count_operation{.name = "count", .typed_by = 0};

constexpr Value count(Value x) { return graph::add_operation(count_operation, {x}, DType::int64, {}); }

int results_without_memory = 0;

} // namespace

template <> struct twill::KernelOf<&split_operation> {
  template <class T> static void run(const Team&, const kernel::Launch& launch) {
    const auto* x = static_cast<const T*>(launch.operands[0].data);
    auto* first = static_cast<T*>(launch.operands[1].data);
    auto* second = static_cast<T*>(launch.operands[2].data);
    auto* position = static_cast<std::int64_t*>(launch.operands[3].data);
    for (int k = 1; k < 4; ++k) results_without_memory += launch.operands[k].data == nullptr;
    for (std::int64_t i = 0; i < launch.shapes[0].elements(); ++i) {
      if (first != nullptr) first[i] = static_cast<T>(launch.attributes[0]) * x[i];
      if (second != nullptr) second[i] = static_cast<T>(launch.attributes[1]) * x[i];
      if (position != nullptr) position[i] = i;
    }
  }
};

template <> struct twill::KernelOf<&count_operation> {
  template <class T> static void run(const Team&, const kernel::Launch& launch) {
    const Dims& shape = launch.shapes[0];
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < shape[0]; ++i)
      for (std::int64_t k = 0; k < shape[1]; ++k)
        found +=
            static_cast<const T*>(
                launch.operands[0].data)[i * launch.operands[0].strides[0] + k * launch.operands[0].strides[1]] > 0;
    *static_cast<std::int64_t*>(launch.operands[1].data) = found;
    CHECK(launch.dtypes[0] == dtype_of<T>);
    CHECK(launch.dtypes[1] == DType::int64);
  }
};

namespace {

TEST_CASE("an operation has several results and attributes", "[ops]") {
  const auto x = arange<float>(15).reshape<Shape<3, 5>>();
  results_without_memory = 0;
  const auto [sum, position] = compiled([](auto v) {
    const Parts twice = split(v, 2, 3);
    const Parts again = split(v, 5, 7); // other attributes: another node
    return std::tuple{twice.first + twice.second + again.second, twice.position};
  })(x);
  synchronize(Cpu{});
  for (int i = 0; i < 15; ++i) {
    CHECK(sum.data()[i] == 12.0f * static_cast<float>(i));
    CHECK(position.data()[i] == i);
  }
  CHECK(results_without_memory == 1); // the positions of the second; result 0 is always written
}

TEST_CASE("equal operations with equal attributes are one launch", "[ops]") {
  struct Twice {
    static constexpr graph::Graph trace() {
      graph::Graph graph{};
      const Value x{graph, graph.add_input(DType::float32, graph::extents_of(Dims(4)))};
      graph.outputs.push_back((split(x, 2, 3).first + split(x, 2, 3).second).id());
      return graph;
    }
  };
  STATIC_REQUIRE(compile::Compiled<Twice>::sizes.instructions == 2);
}

TEST_CASE("gradients come through every result of an operation", "[ops]") {
  const auto x = full<double, Shape<4>>(1.5);
  const auto both = grad([](auto v) {
    const Parts parts = split(v, 2, 3);
    return sum(parts.first * parts.second);
  })(x);
  const auto only_second = grad([](auto v) { return sum(square(split(v, 2, 3).second)); })(x);
  for (int i = 0; i < 4; ++i) {
    CHECK(both.data()[i] == 18.0);        // 6 x^2
    CHECK(only_second.data()[i] == 27.0); // 9 x^2
  }
}

TEST_CASE("an operation that wants it gets its operands in row-major order", "[ops]") {
  const auto x = arange<float>(15).reshape<Shape<3, 5>>();
  const auto first = compiled([](auto v) { return split(transpose(v), 1, 1).first; })(x);
  CHECK(first.shape() == Dims(5, 3));
  CHECK(first.data()[1] == 5.0f);
}

TEST_CASE("an operation is compiled for the element type that it reads", "[ops]") {
  const auto x = arange<double>(15).reshape<Shape<3, 5>>();
  CHECK(compiled([](auto v) { return count(transpose(v)); })(x).item() == 14);
  CHECK(compiled([](auto v) { return count(graph::cast(v, DType::int32) - 7); })(x).item() == 7);
}

} // namespace
