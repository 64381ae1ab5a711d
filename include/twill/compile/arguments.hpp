#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Conversion between tensors and traced values: the types of tensors declare the inputs of a trace, and the outputs of
// a compiled table give tensor types back. A `dyn` extent becomes a symbol of its own; extents that the function
// combines are compared when it runs. Read next: compile/function.hpp.

#include <twill/compile/table_for.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/value.hpp>
#include <twill/tensor/tensor.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// An argument of a traced function, by element type and shape.
template <Scalar T, AnyShape S> struct Argument {
  static constexpr DType dtype = dtype_of<T>;
  static constexpr graph::Value declare(graph::Graph& graph) {
    graph::Extents shape{};
    for (int axis = 0; axis < S::rank; ++axis)
      shape.append(S::extent(axis) == dyn ? graph.symbol("") : graph::Extent{S::extent(axis), 0});
    return {graph, graph.add_input(dtype_of<T>, shape)};
  }
};

}}}} // namespace twill::v0::compile::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

template <class X> struct ArgumentOf;
template <class T, class D, class S> struct ArgumentOf<Tensor<T, D, S>> { using type = Argument<T, S>; };

template <class Table, std::size_t K, std::size_t... Axis> auto output_shape(std::index_sequence<Axis...>) {
  [[maybe_unused]] constexpr graph::Extents shape = Table::template output<K>().shape; // of rank 0: no axis
  return Shape<(shape.axes[Axis].is_static() ? shape.axes[Axis].factor : dyn)...>{};
}

template <class Table, std::size_t K>
using OutputShape = decltype(output_shape<Table, K>(
    std::make_index_sequence<static_cast<std::size_t>(Table::template output<K>().shape.rank)>{}));

template <class S, std::size_t K, std::size_t... Axis> auto shown_shape(std::index_sequence<Axis...>) {
  [[maybe_unused]] constexpr graph::Extents shape = Signature<S>::frozen.outputs[K].shape; // of rank 0: no axis
  return Shape<(shape.axes[Axis].is_static() ? shape.axes[Axis].factor : dyn)...>{};
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The argument for a tensor of this type.
template <class X> using argument_t = typename detail::ArgumentOf<std::remove_cvref_t<X>>::type;

/// The tensor type of output K of a source on a device kind.
template <Source S, std::size_t K, class D>
using output_t =
    Tensor<scalar_t<TableFor<S, D>::template output<K>().dtype>, D, detail::OutputShape<TableFor<S, D>, K>>;

/// The tensor type of output K from the trace alone, see compile/signature.hpp.
template <Source S, std::size_t K, class D>
using shown_output_t =
    Tensor<scalar_t<Signature<S>::frozen.outputs[K].dtype>, D,
           decltype(detail::shown_shape<S, K>(
               std::make_index_sequence<static_cast<std::size_t>(Signature<S>::frozen.outputs[K].shape.rank)>{}))>;

/// Calls f with a value for each argument, declared in order.
template <class... Arguments, class F> constexpr auto with_arguments(graph::Graph& graph, const F& f) {
  const std::tuple values{Arguments::declare(graph)...}; // braces: in order
  return std::apply(f, values);
}

/// Marks the result of a traced function as outputs: a value, or an array or tuple of values.
constexpr void add_outputs(graph::Graph& graph, graph::Value value) { graph.outputs.push_back(value.id()); }
template <std::size_t N> constexpr void add_outputs(graph::Graph& graph, const std::array<graph::Value, N>& values) {
  for (const graph::Value& value : values) graph.outputs.push_back(value.id());
}
template <class... Values> constexpr void add_outputs(graph::Graph& graph, const std::tuple<Values...>& values) {
  std::apply([&](const auto&... value) { (add_outputs(graph, value), ...); }, values);
}

}}}} // namespace twill::v0::compile::TWILL_ISA
