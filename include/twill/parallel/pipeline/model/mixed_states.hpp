#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Weights of stages on devices of several kinds: tied weights and sums over all gradients are computed as on one kind,
// except that values sent between stages go through the host. Read next: parallel/pipeline/run/step.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/pipeline/model/places.hpp>
#include <twill/parallel/pipeline/model/stage_rules.hpp>
#include <twill/parallel/pipeline/model/ties.hpp>

#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace pipeline { inline namespace TWILL_ISA {

/// The weights of each stage, whose kinds of device are D, in order; null for stages elsewhere.
template <ComputeDevice... D> struct MixedStates {
  std::tuple<std::shared_ptr<nn::NetworkState<D>>...> stages{};

  /// Calls `f(state)` for one stage.    requires: it is here
  template <class F> void visit(std::size_t stage, F f) const {
    [&]<std::size_t... I>(std::index_sequence<I...>) { ((stage == I ? f(*std::get<I>(stages)) : void()), ...); }
    (std::index_sequence_for<D...>{});
  }

  /// The stages on devices of one kind; null for the others.
  template <ComputeDevice E> [[nodiscard]] StageStates<E> on() const {
    StageStates<E> found(sizeof...(D));
    std::size_t number = 0;
    const auto take = [&]<class Own>(const std::shared_ptr<nn::NetworkState<Own>>& state) {
      if constexpr (std::same_as<Own, E>) found[number] = state;
      ++number;
    };
    std::apply([&](const auto&... state) { (take(state), ...); }, stages);
    return found;
  }
};

/// Gives each owner of a tied weight the sum of the gradients of all.
/// requires: no stage is running
template <ComputeDevice... D>
void add_tied_gradients(const MixedStates<D...>& stages, const std::vector<TiedWeight>& tied) {
  detail::add_tied_gradients_of(tied, [&](std::size_t stage, const auto& f) { stages.visit(stage, f); });
}

}}}} // namespace twill::v0::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace pipeline { namespace detail { inline namespace TWILL_ISA {

/// Calls `f(states)` for each stage that is here, alone among the states of its kind.
template <ComputeDevice... D, class F> void for_each_alone(const MixedStates<D...>& stages, F f) {
  std::size_t number = 0;
  const auto call = [&]<class Own>(const std::shared_ptr<nn::NetworkState<Own>>& state) {
    StageStates<Own> alone(sizeof...(D));
    alone[number++] = state;
    if (state) f(alone);
  };
  std::apply([&](const auto&... state) { (call(state), ...); }, stages.stages);
}

/// The sums over all gradients that a rule needs.
template <FloatingScalar T, optim::Rule R, ComputeDevice... D>
[[nodiscard]] GradientSums sums_of_gradients(const MixedStates<D...>& stages, const std::vector<TiedWeight>& tied,
                                             const R& rule, double scale) {
  GradientSums sums{};
  for_each_alone(stages, [&](const auto& alone) { sums += sums_of_gradients<T>(alone, tied, rule, scale); });
  return sums;
}

}}}}} // namespace twill::v0::pipeline::detail::TWILL_ISA
