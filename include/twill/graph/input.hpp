#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Inputs of a model, by shape: `Input<Dim<"batch">, 784> image`. A named dimension is the same number wherever the
// model names it. The names stay in the trace and never reach a kernel. Read next: nn/network.hpp.

#include <twill/core/text.hpp>
#include <twill/graph/value.hpp>

#include <cstddef>
#include <string_view>

namespace twill { inline namespace v0 {
namespace graph {

/// A dimension's name as a value; users write `Dim<"batch">`.
template <FixedString DimensionName> struct NamedExtent {
  static constexpr std::string_view name = DimensionName.view(); ///< as it is written in `Dim<"batch">`
};

/// One extent of an `Input`: a number, or a named dimension.
struct InputExtent {
  std::int64_t number = 0; ///< `dyn` where it has a name
  std::string_view name{}; ///< empty where it is a number

  /// A number.
  constexpr InputExtent(std::int64_t extent) : number{extent} {}
  /// A named dimension, known at run time.
  template <class Named>
  requires requires { Named::name; }
  constexpr InputExtent(Named) : number{dyn}, name{Named::name} {}
};

} // namespace graph

/// A named extent that is known only at run time, for the list of an `Input`.
template <FixedString DimensionName> inline constexpr graph::NamedExtent<DimensionName> Dim{};

/// An input of element type Type (void: the model's own) whose extents are numbers or named dimensions.
template <class Type, auto... ExtentsOfInput> class BasicInput : public graph::Value {
public:
  using Element = Type;
  static constexpr int rank = static_cast<int>(sizeof...(ExtentsOfInput)); ///< How many axes it has.

  /// Wraps a node that is an input.
  constexpr explicit BasicInput(graph::Value value) : graph::Value{value} {}

  /// Adds the input to a graph.
  [[nodiscard]] static constexpr BasicInput declare(graph::Graph& graph) {
    graph::Extents shape{};
    const auto append = [&](graph::InputExtent extent) {
      shape.append(extent.number == dyn ? graph.symbol(extent.name) : graph::Extent{extent.number, 0});
    };
    (append(graph::InputExtent{ExtentsOfInput}), ...);
    DType dtype = graph.element;
    if constexpr (Scalar<Type>) dtype = dtype_of<Type>;
    return BasicInput{graph::Value{graph, graph.add_input(dtype, shape)}};
  }
};

/// A tensor of the model's own element type.
template <auto... ExtentsOfInput> using Input = BasicInput<void, ExtentsOfInput...>;

/// A tensor of a given element type: token numbers, masks.
template <Scalar T, auto... ExtentsOfInput> using InputOf = BasicInput<T, ExtentsOfInput...>;

}} // namespace twill::v0
