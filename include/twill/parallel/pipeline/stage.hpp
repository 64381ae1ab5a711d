#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// One stage of a pipeline: a network, and what it holds of the micro-batches that are under way. A forward pass keeps what its
// backward pass needs and nothing else; inputs, outputs and gradients live from the action that makes them to the last that
// reads them, so a stage never holds more micro-batches than its schedule has in flight. Read next:
// parallel/pipeline/pipeline.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/leaf.hpp>
#include <twill/nn/network.hpp>
#include <twill/parallel/communicator.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>

namespace twill::inline v0::pipeline::detail::inline TWILL_ISA {

/// The elements of a contiguous tensor.
template <class X> [[nodiscard]] parallel::Elements elements_of(const X& x) {
  return {const_cast<void*>(static_cast<const void*>(x.data())), static_cast<std::int64_t>(x.elements()),
          dtype_of<typename X::value_type>};
}

/// Takes a value out of a map.    requires: it is there
template <class Value> [[nodiscard]] Value take(std::map<int, Value>& values, int key) {
  auto node = values.extract(key);
  return std::move(node.mapped());
}

} // namespace twill::inline v0::pipeline::detail::inline TWILL_ISA

namespace twill::inline v0::pipeline::inline TWILL_ISA {

/// A model of one input, its rows first; `IsFirst` where nobody wants the input's gradient.
template <nn::Model M, ComputeDevice D, FloatingScalar T, bool IsFirst> class Stage {
  using Declared = nn::DeclaredInput<std::tuple_element_t<0, nn::inputs_t<M>>, T>;
  static_assert(std::tuple_size_v<nn::inputs_t<M>> == 1, "twill: a stage of a pipeline has one input");

public:
  using Network = nn::Network<M, D, T>;
  using Input = typename Declared::template tensor<D>;
  using Argument = std::conditional_t<IsFirst, Input, nn::Leaf<Input>>;
  using Result = nn::Tracked<nn::ModelStage<M, T, true>, D, Argument>;
  using Output = typename Result::Value;

  /// A micro-batch between its forward and its backward pass.
  struct Kept {
    Argument argument;
    Result result;
  };

  explicit Stage(const D& device) : network{device} {}

  Network network;
  nn::RunContext context{}; ///< of this step: its draws are those of the whole batch

  std::map<int, Input> inputs{}; ///< received, or given
  std::map<int, Kept> kept{};
  std::map<int, Output> outputs{};        ///< until they are sent, or read by a stage of the same rank
  std::map<int, Output> cotangents{};     ///< received: gradients of outputs
  std::map<int, Input> input_gradients{}; ///< until they are sent, or read by a stage of the same rank

  /// Computes the output of a micro-batch whose first row is this one of the whole batch.
  void forward(int micro_batch, std::int64_t first_row) {
    nn::RunContext own = context;
    own.first_row = first_row;
    const Argument argument(detail::take(inputs, micro_batch));
    Result result(network.state(), std::move(own), argument);
    outputs.insert_or_assign(micro_batch, result.value());
    kept.emplace(micro_batch, Kept{argument, std::move(result)});
  }

  /// Adds to the gradients of the weights, and leaves that of the input; `run(result)` is the backward pass.
  template <class F> void backward(int micro_batch, F run) {
    const Kept own = detail::take(kept, micro_batch);
    run(own.result);
    if constexpr (!IsFirst) input_gradients.insert_or_assign(micro_batch, own.argument.gradient());
  }

  /// Gives up everything of an unfinished step.
  void clear() { inputs.clear(), kept.clear(), outputs.clear(), cotangents.clear(), input_gradients.clear(); }
};

} // namespace twill::inline v0::pipeline::inline TWILL_ISA
