#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Optimisers of the stages of one rank, with states equal to one network's: names without stages, whole tensors, a
// count of steps. A state is gathered over the communicators onto every rank; loading needs no peer, and fits any other
// division among stages, layers and replicas. Read next: parallel/pipeline/run/rank_step.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/model/whole_tensors.hpp>
#include <twill/parallel/pipeline/model/stage_rules.hpp>
#include <twill/parallel/pipeline/model/state.hpp>
#include <twill/parallel/pipeline/run/shared_optimiser.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace pipeline { namespace detail { inline namespace TWILL_ISA {

/// The states after a number of weights and buffers in the table of an update. Those of a weight are divided like it.
[[nodiscard]] std::vector<graph::ParameterInfo> divided_states(std::span<const graph::ParameterInfo> network,
                                                               std::span<const graph::ParameterInfo> table);

/// `Data` joins the replicas, which divide the states selected by Z.
template <class P, optim::Rule R, parallel::Communicator Data, class Z> class StageOptimisers {
  template <std::size_t I> using NetworkOf = typename std::tuple_element_t<I, typename P::Stages>::Network;
  static constexpr bool is_shared = Z::stage > 0;
  static_assert(Z::stage <= 1, "twill: zero: ranks of a pipeline share out the optimiser's states, zero<1>, at most");

public:
  template <std::size_t I>
  using Of = std::conditional_t<is_shared, SharedOptimiser<NetworkOf<I>, R, Data>, StageOptimiser<NetworkOf<I>, R>>;

  /// requires: replicas, if these divide any states
  StageOptimisers(P& pipeline, const R& rule, Data* replicas, const parallel::BucketOptions& buckets) {
    for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      if (!pipeline.template has<I>()) return;
      if constexpr (is_shared)
        std::get<I>(all_) = std::make_unique<Of<I>>(pipeline.template stage<I>(), rule, *replicas, buckets);
      else
        std::get<I>(all_) = std::make_unique<Of<I>>(pipeline.template stage<I>(), rule);
    });
  }

  /// requires: the stage is here
  template <std::size_t I> [[nodiscard]] auto& at() { return *std::get<I>(all_); }
  /// Calls `f(optimiser)` for each stage that is here, in order.
  template <class F> void for_each(F f) const {
    std::apply([&](const auto&... own) { ((own ? f(*own) : void()), ...); }, all_);
  }

  void update(const R& rule, const GradientSums& sums) {
    for_each([&](auto& own) { update_stage(own, rule, sums); });
  }

  [[nodiscard]] std::int64_t steps() const {
    std::int64_t steps = 0;
    for_each([&](const auto& own) { steps = own.steps(); });
    return steps;
  }

  /// A single number of the rule.    throws: ValueError if the stages here have none of this name
  [[nodiscard]] double state(std::string_view name) const {
    std::optional<double> found;
    for_each([&](const auto& own) { found = found ? found : own.find_state(name); });
    if (!found) for_each([&](const auto& own) { static_cast<void>(own.state(name)); });
    return *found;
  }

  /// A collective call of all ranks.    throws: CommunicatorError
  template <parallel::Communicator C> [[nodiscard]] nn::StateDict state_dict(const P& pipeline, C& communicator) {
    nn::StateDict whole{};
    for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      const int owner = P::ScheduleType::rank_of(static_cast<int>(I), P::ranks);
      const std::vector<graph::ParameterInfo> states = states_of<I>();
      for (std::size_t i = 0; i < states.size(); ++i) {
        std::string key = prefix_of<P>(I) + std::string{states[i].name.view()};
        if (whole.find(key) != nullptr) continue; // of a tied weight, or of the rule as a whole
        const auto add = [&](const void* own) {
          whole.add(std::move(key), parallel::whole_tensor(communicator, pipeline.groups(), states[i], owner, own));
        };
        if (!std::get<I>(all_)) {
          add(nullptr);
        } else if constexpr (is_shared) {
          const auto gathered = at<I>().gather(i);
          add(gathered.data());
        } else {
          add(at<I>().states()[i].data());
        }
      }
    });
    train::add_steps(whole, steps());
    return whole;
  }

  /// throws: ShapeError, ValueError if a state of one network does not match, equally on every rank
  void require_loadable(const nn::StateDict& state) const {
    const train::CountedStates given = train::without_steps(state);
    if (given.states.size() == 0 && given.steps == 0) return; // of a rule that made no step
    WholeStateCheck check{given.states};
    for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      for (const graph::ParameterInfo& info : states_of<I>())
        check.expect(prefix_of<P>(I) + std::string{info.name.view()}, info);
    });
    check.finish();
  }

  /// Takes the local stages' part of such a state. throws: as above, with nothing changed
  void load_state_dict(const P& pipeline, const nn::StateDict& state) {
    require_loadable(state);
    const train::CountedStates given = train::without_steps(state);
    for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      if (!std::get<I>(all_)) return;
      nn::StateDict own{};
      if (given.states.size() > 0)
        for (const graph::ParameterInfo& info : states_of<I>()) {
          const std::string key = prefix_of<P>(I) + std::string{info.name.view()};
          const nn::StoredTensor& tensor = *given.states.find(key);
          const kernel::RankGroup* const group =
              info.shard.is_part() ? pipeline.groups().find(info.shard.axis) : nullptr;
          own.add(std::string{info.name.view()},
                  group != nullptr ? parallel::part_of_stored(info, key, tensor, group->rank()) : tensor);
        }
      train::add_steps(own, given.steps);
      at<I>().load_state_dict(own);
    });
  }

private:
  template <std::size_t... I> static auto tuple_of(std::index_sequence<I...>) -> std::tuple<std::unique_ptr<Of<I>>...>;

  template <class F> static void for_each_number(F f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (f(std::integral_constant<std::size_t, I>{}), ...); }
    (typename P::Sequence{});
  }
  template <std::size_t I> [[nodiscard]] static std::vector<graph::ParameterInfo> states_of() {
    return divided_states(NetworkOf<I>::parameter_infos(), Of<I>::table().parameters);
  }

  decltype(tuple_of(typename P::Sequence{})) all_{};
};

}}}}} // namespace twill::v0::pipeline::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/run/stage_optimisers.ipp>
#endif
