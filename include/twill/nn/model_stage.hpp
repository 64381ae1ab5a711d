#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Traces of models, as stages of element type T: the tag type from which every execution of a model is compiled, in
// stages or as one planned step. Read next: nn/network.hpp.

#include <twill/compile/signature.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/nn/declared_inputs.hpp>
#include <twill/nn/stage.hpp>

#include <atomic>
#include <concepts>
#include <tuple>
#include <type_traits>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Declares the inputs of a model in a graph and traces it.
template <Model M> [[nodiscard]] constexpr graph::Value trace_model(graph::Graph& graph) {
  return [&]<class... Inputs>(std::type_identity<std::tuple<Inputs...>>) {
    const std::tuple<Inputs...> inputs{Inputs::declare(graph)...}; // braces: in order
    return graph::Value{std::apply([](const auto&... input) { return M::forward(input...); }, inputs)};
  }(std::type_identity<inputs_t<M>>{});
}

/// The stage of a model of element type T, in training (with dropout) or not.
template <Model M, FloatingScalar T, bool Training> struct ModelStage {
  using model_type = M;
  using unfitted_type = ModelStage<unfitted_t<M>, T, Training>;
  static constexpr graph::Graph make_graph() {
    graph::Graph graph{dtype_of<T>};
    graph.training = Training;
    return graph;
  }
  static constexpr graph::Value build(graph::Graph& graph) { return trace_model<M>(graph); }
  /// The table sizes of the model's programs, by the size of its trace.
  static constexpr compile::TableSizes room() {
    return compile::room_around(compile::Signature<PlainForward<ModelStage<M, T, true>>>::sizes);
  }
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail {

/// Warns once, through the warning sink, that host devices emulate float16: stored in two bytes, computed in float32
/// with a rounding after each operation.
inline void say_that_half_is_emulated() {
  static std::atomic<bool> is_said{false};
  if (!is_said.exchange(true))
    warn("float16: host devices emulate it, in float32 with a rounding after each operation; bfloat16 is faster "
         "where the processor has its instructions, and float32 everywhere");
}

inline namespace TWILL_ISA {

/// Whether a model of T computes in float16, directly or by mixed precision.
template <class M, class T> inline constexpr bool computes_in_half = std::same_as<T, half>;
template <class M, class T>
requires requires { typename M::autocast_type; }
inline constexpr bool computes_in_half<M, T> = std::same_as<typename M::autocast_type, half> || std::same_as<T, half>;

} // namespace TWILL_ISA

}}}} // namespace twill::v0::nn::detail
