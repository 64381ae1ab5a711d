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
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace pipeline { namespace detail { inline namespace TWILL_ISA {

/// The prefix of the names of a stage's weights.
template <class P> [[nodiscard]] std::string prefix_of(std::size_t stage) {
  return P::Plan::has_ties ? std::string{} : std::to_string(stage) + ".";
}

/// Calls `f(number, network)` for each stage that is here, in order.
template <class P, class F> void for_each_numbered_stage(P& pipeline, F f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((pipeline.template has<I>() ? f(I, pipeline.template stage<I>()) : void()), ...);
  }
  (typename P::Sequence{});
}

/// throws: ValueError listing a state's missing and unexpected names, if there are any
void require_nothing_left(const std::vector<std::string>& missing, const std::vector<std::string>& unexpected);

/// The names of the weights of all stages, here or elsewhere.
template <class P> [[nodiscard]] std::set<std::string, std::less<>> names_of_all() {
  std::set<std::string, std::less<>> names;
  const auto infos = P::infos();
  for (std::size_t stage = 0; stage < infos.size(); ++stage)
    for (const graph::ParameterInfo& info : infos[stage])
      names.insert(prefix_of<P>(stage) + std::string{info.name.view()});
  return names;
}

/// Check of a state of one network against the expectations of all stages, here or elsewhere: equal on every rank.
class WholeStateCheck {
public:
  explicit WholeStateCheck(const nn::StateDict& state) : state_{&state} {}

  /// throws: ShapeError, ValueError naming the key and both sides
  void expect(std::string key, graph::ParameterInfo info);
  /// throws: ValueError listing what is missing and unexpected
  void finish() const;

private:
  const nn::StateDict* state_;
  std::set<std::string, std::less<>> known_{};
  std::vector<std::string> missing_{};
};

}}}}} // namespace twill::v0::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace pipeline { inline namespace TWILL_ISA {

/// Copies the weights and buffers of the stages that are here to host memory, in the order of the stages.
template <ScheduleKind S, FloatingScalar T, RankPlaces D, class... Parts>
[[nodiscard]] nn::StateDict state_dict(BasicPipeline<S, T, D, Parts...>& pipeline) {
  using P = BasicPipeline<S, T, D, Parts...>;
  nn::StateDict all{};
  detail::for_each_numbered_stage(pipeline, [&](std::size_t stage, auto& network) {
    const nn::StateDict own = nn::state_dict(network);
    for (const auto& [name, tensor] : own.entries()) {
      std::string key = detail::prefix_of<P>(stage) + name;
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
  std::vector<std::string> missing;
  std::vector<const nn::StoredTensor*> used;
  detail::for_each_numbered_stage(pipeline, [&](std::size_t stage, auto& network) {
    const auto infos = network.parameter_infos();
    for (const graph::ParameterInfo& info : infos) {
      const std::string key = detail::prefix_of<P>(stage) + std::string{info.name.view()};
      used.push_back(state.find(key));
      if (used.back() == nullptr)
        missing.push_back(key);
      else
        nn::require_fitting(key, info, *used.back(), false);
    }
  });
  std::vector<std::string> unexpected;
  const auto known = detail::names_of_all<P>();
  for (const auto& [name, tensor] : state.entries())
    if (!known.contains(name)) unexpected.push_back(name);
  detail::require_nothing_left(missing, unexpected);
  std::size_t next = 0;
  pipeline.for_each_stage([&](auto& network) {
    nn::StateDict own{};
    for (const graph::ParameterInfo& info : network.parameter_infos())
      own.add(std::string{info.name.view()}, *used[next++]);
    nn::load_state_dict(network, own);
  });
}

}}}} // namespace twill::v0::pipeline::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/model/state.ipp>
#endif
