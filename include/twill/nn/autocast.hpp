#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Automatic mixed precision: `nn::Network<nn::Autocast<Mlp>> model` keeps weights, gradients and updates in float32
// (master weights) and computes matrix products and convolutions in half precision. Softmax, norms, losses,
// exponentials, logarithms, powers and sums use float32, and mixed operands take the widest type. It is a mode of the
// trace, free at run time; names of weights stay. For float16 see also optim/loss_scale.hpp. Read next: nn/network.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/functions.hpp>
#include <twill/nn/declared_inputs.hpp>

#include <tuple>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// Sets the type of matrix products for the life of this object.
class AutocastScope {
public:
  constexpr AutocastScope(graph::Graph& graph, DType narrow) : graph_{&graph}, previous_{graph.autocast} {
    graph.autocast = narrow;
  }
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;
  constexpr ~AutocastScope() { graph_->autocast = previous_; }

private:
  graph::Graph* graph_;
  DType previous_;
};

template <class M, DType Narrow, class Inputs> struct AutocastModel;
template <class M, DType Narrow, class First, class... Rest>
struct AutocastModel<M, Narrow, std::tuple<First, Rest...>> {
  static constexpr graph::Value forward(First first, Rest... rest) {
    const AutocastScope scope{first.graph(), Narrow};
    return M::forward(first, rest...);
  }
};

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A model whose matrix products and convolutions are computed in half or bfloat16.
template <Model M, NarrowFloat Narrow = half>
struct Autocast : detail::AutocastModel<M, dtype_of<Narrow>, inputs_t<M>> {
  static_assert(
      !requires { M::budget_bytes; },
      "twill: Autocast: the model has a budget that would be lost; write nn::Fit<nn::Autocast<Model>, ...>");
  using autocast_type = Narrow;
};

/// f without mixed precision, inside a model traced with it: `nn::in_float32(x, [](auto x) { … })`. x becomes float32.
template <class F> [[nodiscard]] constexpr graph::Value in_float32(graph::Value x, const F& f) {
  const detail::AutocastScope scope{x.graph(), DType::float32};
  return f(graph::widened(x));
}

}}}} // namespace twill::v0::nn::TWILL_ISA
