#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// State dictionary of all stages of a pipeline. A cut model has the names of the whole, so its state loads into one
// network and back; a tied weight is there once. If each stage is a separate model, names begin with the number of the
// stage: "1.hidden.weight". Read next: nn/state_dict.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/shards.hpp>
#include <twill/nn/state_dict.hpp>
#include <twill/parallel/pipeline/model/pipeline.hpp>

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// The name of a weight, buffer or state of a stage among those of the whole pipeline P.
template <class P> [[nodiscard]] std::string state_key(std::size_t stage, std::string_view name) {
  return (P::Plan::has_ties ? std::string{} : std::to_string(stage) + ".") + std::string{name};
}

/// Check of a state dictionary against the expectations of stages.
class StateCheck {
public:
  /// A check of this state, which outlives it.
  explicit StateCheck(const nn::StateDict& state) : state_{&state} {}

  /// Notes whether the state has a tensor of this name that fits the weight.
  void expect(std::string key, const graph::ParameterInfo& info);
  /// Expects the tensor of one network, which this one may be a part of.
  void expect_whole(std::string key, graph::ParameterInfo info);
  /// Allows a name that is not read here.
  void allow(std::string key) { known_.insert(std::move(key)); }
  /// throws: ShapeError, ValueError listing all that differs, naming the keys and both sides
  void finish();

private:
  const nn::StateDict* state_;
  std::set<std::string, std::less<>> known_{};
  nn::LoadReport report_{};
};

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// Calls `f(number, network)` for each stage that is here, in order.
template <class P, class F> void for_each_numbered_stage(P& pipeline, F f) {
  P::for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    if (pipeline.template has<I>()) f(I, pipeline.template stage<I>());
  });
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// Copies the weights and buffers of the stages that are here to host memory, in the order of the stages.
template <ScheduleKind S, FloatingScalar T, RankPlaces D, class... Parts>
[[nodiscard]] nn::StateDict state_dict(BasicPipeline<S, T, D, Parts...>& pipeline) {
  using P = BasicPipeline<S, T, D, Parts...>;
  nn::StateDict all{};
  detail::for_each_numbered_stage(pipeline, [&](std::size_t stage, auto& network) {
    const nn::StateDict own = nn::state_dict(network);
    for (const auto& [name, tensor] : own.entries()) {
      std::string key = state_key<P>(stage, name);
      if (all.find(key) == nullptr) all.add(std::move(key), tensor);
    }
  });
  return all;
}

/// Overwrites the weights and buffers of the stages that are here, from a state of these or of all. Nothing is written
/// when something does not match.
/// throws: ShapeError, ValueError naming the key and both sides, or listing what is missing and unexpected
template <ScheduleKind S, FloatingScalar T, RankPlaces D, class... Parts>
void load_state_dict(BasicPipeline<S, T, D, Parts...>& pipeline, const nn::StateDict& state) {
  using P = BasicPipeline<S, T, D, Parts...>;
  const auto key_of = [](std::size_t stage, const graph::ParameterInfo& info) {
    return state_key<P>(stage, info.name.view());
  };
  StateCheck check{state};
  const auto infos = P::infos();
  detail::for_each_numbered_stage(pipeline, [&](std::size_t stage, auto&) {
    for (const graph::ParameterInfo& info : infos[stage]) check.expect(key_of(stage, info), info);
  });
  for (std::size_t stage = 0; stage < infos.size(); ++stage)
    for (const graph::ParameterInfo& info : infos[stage]) check.allow(key_of(stage, info));
  check.finish();
  detail::for_each_numbered_stage(pipeline, [&](std::size_t stage, auto& network) {
    nn::StateDict own{};
    for (const graph::ParameterInfo& info : infos[stage])
      own.add(std::string{info.name.view()}, *state.find(key_of(stage, info)));
    nn::load_state_dict(network, own);
  });
}

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/model/state.ipp>
#endif
