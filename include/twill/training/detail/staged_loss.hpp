#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The loss of a network on a batch, in stages: for steps that need gradients more than once. Arguments are those of a
// planned step: the model's inputs, then the loss's targets.

#include <twill/core/config.hpp>
#include <twill/nn/network.hpp>

#include <cstddef>
#include <tuple>
#include <utility>

namespace twill { inline namespace v0 { namespace training { namespace detail { inline namespace TWILL_ISA {

/// Whether these tensors are the inputs of the network's model and the targets of the loss; else it does not compile.
template <FixedString Call, class L, class Network, AnyTensor... Tensors> consteval bool fits_loss() {
  using M = typename Network::model_type;
  using T = typename Network::Element;
  using D = typename Network::device_type;
  nn::check_inputs<nn::CallOf<Call, M>, T, D, L, Tensors...>();
  return nn::arguments_fit<M, T, D, L, Tensors...>;
}

/// The tracked loss of a network; `backward()` adds to the gradients of the weights.
template <class L, class Network, AnyTensor... Tensors>
[[nodiscard]] auto staged_loss(const Network& network, const Tensors&... tensors) {
  constexpr std::size_t inputs = std::tuple_size_v<nn::inputs_t<typename Network::model_type>>;
  const std::tuple<const Tensors&...> all{tensors...};
  return [&]<std::size_t... I, std::size_t... J>(std::index_sequence<I...>, std::index_sequence<J...>) {
    return L{}(network.forward(std::get<I>(all)...), std::get<inputs + J>(all)...);
  }
  (std::make_index_sequence<inputs>{}, std::make_index_sequence<sizeof...(Tensors) - inputs>{});
}

}}}}} // namespace twill::v0::training::detail::TWILL_ISA
