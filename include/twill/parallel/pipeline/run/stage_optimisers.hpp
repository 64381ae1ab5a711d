#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Optimisers of the stages that are here, each with all of the rule's states or with a replica's part of them. Together
// their states equal one network's: names without stages, whole tensors, a count of steps. Loading needs no peer, and
// fits any other division among stages, layers and replicas. Read next: parallel/pipeline/run/rank_step.hpp.

#include <twill/core/config.hpp>
#include <twill/optim/loss_scale.hpp>
#include <twill/parallel/data/buckets.hpp>
#include <twill/parallel/data/part_update.hpp>
#include <twill/parallel/data/whole_weights.hpp>
#include <twill/parallel/group/rank_sums.hpp>
#include <twill/parallel/model/whole_tensors.hpp>
#include <twill/parallel/pipeline/model/stage_rules.hpp>
#include <twill/parallel/pipeline/model/state.hpp>
#include <twill/training/optimiser.hpp>

#include <algorithm>
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

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// The trainable weights of a stage, the last one first, in buckets divided into this number of equal parts. Weight k
/// is entry k + 1, as if the loss came before it.
[[nodiscard]] parallel::Buckets weight_buckets(ListView<graph::ParameterInfo> infos,
                                               const parallel::BucketOptions& options, int parts);

/// Sharded optimiser of a stage with several replicas, which divide the rule's states (ZeRO, Rajbhandari et al., 2020):
/// each has those for its part of the weights, updates this part from gradients that all have, and fetches the others'
/// parts. The bits equal those of a full update on each, except for rules that sum over the elements of a weight, which
/// add in another order. Like `training::Optimiser`, but steps are collective calls of replicas.
template <class Network, optim::Rule R, parallel::Communicator C> class SharedOptimiser {
  using D = typename Network::device_type;
  using Source = UpdateStage<typename Network::model_type, typename Network::Element, R, optim::Updated::parts>;
  using Update = parallel::PartUpdate<Source, D>;

public:
  SharedOptimiser(Network& network, R given, C& replicas, const parallel::BucketOptions& options)
      : rule{std::move(given)},
        network_{network.state()},
        replicas_{&replicas},
        run_scalars_{table().run_scalars},
        numbers_{run_scalars_},
        layout_{weight_buckets(network_->infos, options, replicas.size())},
        update_{*network_, parallel::parts_of(layout_, replicas.rank(), replicas.size()),
                compile::Arena::for_each_run} {}

  [[nodiscard]] static compile::TableView table() { return Update::table(); }

  /// One step over all weights, whose gradients are those of all replicas. throws: CommunicatorError
  void step() {
    numbers_.write(rule, steps_ + 1, run_scalars_);
    parallel::AddUpRankSums sums{table(), [this](const parallel::Call& call) { replicas_->run(call); }};
    std::vector<std::size_t> weights{};
    for (std::size_t i = 0; i < network_->infos.size(); ++i)
      if (network_->infos[i].role == graph::Role::weight) weights.push_back(i);
    const auto element = [this](const memory::Buffer<D>& buffer, std::size_t i, std::int64_t first) -> void* {
      return static_cast<std::byte*>(buffer.data()) +
             static_cast<std::size_t>(first) * size_of(network_->infos[i].dtype);
    };
    update_.run(
        *network_, run_scalars_.bits(), sums,
        [&](std::size_t k, std::int64_t first) { return element(network_->gradients[weights[k]], weights[k], first); },
        [&](std::size_t, std::size_t i, std::int64_t first) { return element(network_->buffers[i], i, first); });
    fetch_parts();
    network_->note_update();
    ++steps_;
  }

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  void set(std::string_view name, double number) { run_scalars_.set_if_present(name, number); }

  /// A single number of the rule. throws: ValueError when there is none of this name
  [[nodiscard]] double state(std::string_view name) const { return update_.state().item(name); }
  [[nodiscard]] std::optional<double> find_state(std::string_view name) const {
    return update_.state().find_item(name);
  }
  /// The factor of the next loss's gradient. Waits for the last step.
  [[nodiscard]] double scale() requires optim::ScaledRule<R> {
    if constexpr (D::has_memory) return state(optim::loss_scale_state);
    return 1;
  }

  /// The whole of one of the rule's states, by its number, on this device: a collective call of the replicas.
  [[nodiscard]] memory::Buffer<D> gather(std::size_t number) {
    std::vector<std::vector<parallel::Part>> parts{};
    for (int rank = 0; rank < replicas_->size(); ++rank)
      parts.push_back(parallel::parts_of(layout_, rank, replicas_->size()));
    return update_.state().gather(number, parts, replicas_->rank(),
                                  [this](const parallel::Call& call) { replicas_->run(call); });
  }

  /// Takes this replica's parts of whole states. requires: they match
  void load_state_dict(const nn::StateDict& state) {
    const training::CountedStates given = training::without_steps(state);
    if (given.states.size() == 0) update_.state().reset();
    for (std::size_t i = 0; i < update_.state().infos().size() && given.states.size() > 0; ++i)
      update_.state().take(i, update_.parts(), given.states.find(update_.state().infos()[i].name.view())->bytes.data());
    steps_ = given.steps;
  }

  R rule; ///< its options may change between steps

private:
  /// Sends this replica's parts of the weights to the others, and receives theirs.
  void fetch_parts() {
    std::int64_t most = 0;
    for (const parallel::Bucket& bucket : layout_.buckets) most = std::max(most, bucket.bytes());
    const memory::Buffer<D> memory(network_->device, static_cast<std::size_t>(most));
    auto* const first = static_cast<std::byte*>(memory.data());
    const auto for_each_run = [&](std::size_t bucket, const auto& f) { // f(weight, in the bucket, size, part)
      parallel::detail::for_each_weight(*network_, layout_, bucket, [&](std::size_t entry, std::size_t i) {
        const std::size_t size = size_of(network_->infos[i].dtype);
        f(static_cast<std::byte*>(network_->buffers[i].data()),
          first + static_cast<std::size_t>(layout_.entries[entry].offset) * size, size, update_.parts()[entry - 1]);
      });
    };
    for (std::size_t bucket = 0; bucket < layout_.buckets.size(); ++bucket) {
      const parallel::Bucket& info = layout_.buckets[bucket];
      const std::int64_t each = info.count / replicas_->size();
      auto* const own = first + static_cast<std::size_t>(each * replicas_->rank()) * size_of(info.dtype);
      for_each_run(bucket, [&](std::byte* weight, std::byte* packed, std::size_t size, const parallel::Part& part) {
        const auto begin = static_cast<std::size_t>(part.begin) * size;
        parallel::detail::copy_on(network_->device, packed + begin, weight + begin,
                                  static_cast<std::size_t>(part.count()) * size);
      });
      replicas_->run(parallel::Call::all_gather({own, each, info.dtype}, {first, info.count, info.dtype}));
      for_each_run(bucket, [&](std::byte* weight, std::byte* packed, std::size_t size, const parallel::Part& part) {
        const auto begin = static_cast<std::size_t>(part.begin) * size;
        const auto end = static_cast<std::size_t>(part.end) * size;
        const auto all = static_cast<std::size_t>(part.whole) * size;
        parallel::detail::copy_on(network_->device, weight, packed, begin);
        parallel::detail::copy_on(network_->device, weight + end, packed + end, all - end);
      });
    }
    synchronize(network_->device);
  }

  std::shared_ptr<nn::NetworkState<D>> network_;
  C* replicas_;
  compile::RunScalars run_scalars_;
  training::RuleNumbers<R> numbers_;
  parallel::Buckets layout_;
  Update update_;
  std::int64_t steps_ = 0;
};

/// The states after a number of weights and buffers in the table of an update. Those of a weight are divided like it.
[[nodiscard]] std::vector<graph::ParameterInfo> divided_states(ListView<graph::ParameterInfo> network,
                                                               ListView<graph::ParameterInfo> table);

/// The optimisers of the stages that are here. `Data` joins the replicas, which divide the states selected by Z.
template <class P, optim::Rule R, parallel::Communicator Data, class Z> class StageOptimisers {
  template <std::size_t I> using NetworkOf = typename std::tuple_element_t<I, typename P::Stages>::Network;
  static constexpr bool is_shared = Z::stage > 0;
  static_assert(Z::stage <= 1, "twill: zero: ranks of a pipeline share out the optimiser's states, zero<1>, at most");

public:
  template <std::size_t I>
  using Of = std::conditional_t<is_shared, SharedOptimiser<NetworkOf<I>, R, Data>, StageOptimiser<NetworkOf<I>, R>>;

  /// None.
  StageOptimisers() = default;
  /// requires: replicas, if these divide any states
  StageOptimisers(P& pipeline, const R& rule, Data* replicas, const parallel::BucketOptions& buckets) {
    P::for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      if (!pipeline.template has<I>()) return;
      if constexpr (is_shared)
        std::get<I>(all_) = std::make_shared<Of<I>>(pipeline.template stage<I>(), rule, *replicas, buckets);
      else
        std::get<I>(all_) = std::make_shared<Of<I>>(pipeline.template stage<I>(), rule);
    });
  }
  /// Shares the optimisers of other stages.
  void join(const StageOptimisers& others) {
    P::for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      if (std::get<I>(others.all_)) std::get<I>(all_) = std::get<I>(others.all_);
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
  /// The factor of the next loss's gradient. Waits for the last step.
  [[nodiscard]] double loss_scale() const {
    double scale = 1;
    if constexpr (optim::ScaledRule<R>) for_each([&](auto& own) { scale = own.scale(); });
    return scale;
  }

  /// The states of all stages and the count of steps. `whole_of(number, info, data)` returns a state of a stage as one
  /// network has it; the data are null for a stage elsewhere.
  template <class WholeOf> [[nodiscard]] nn::StateDict state_dict(WholeOf whole_of) const {
    nn::StateDict whole{};
    P::for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I> number) {
      const std::vector<graph::ParameterInfo> states = states_of<I>();
      for (std::size_t i = 0; i < states.size(); ++i) {
        std::string key = key_of<I>(states[i]);
        if (whole.find(key) != nullptr) continue; // of a tied weight, or of the rule as a whole
        const auto add = [&](const void* own) { whole.add(std::move(key), whole_of(number, states[i], own)); };
        if (!std::get<I>(all_)) {
          add(nullptr);
        } else if constexpr (is_shared) {
          const auto gathered = std::get<I>(all_)->gather(i);
          add(gathered.data());
        } else {
          add(std::get<I>(all_)->states()[i].data());
        }
      }
    });
    training::add_steps(whole, steps());
    return whole;
  }

  /// throws: ShapeError, ValueError if a state of one network does not match, equally on every rank
  void require_loadable(const nn::StateDict& state) const {
    const training::CountedStates given = training::without_steps(state);
    if (given.states.size() == 0 && given.steps == 0) return; // of a rule that made no step
    StateCheck check{given.states};
    P::for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      for (const graph::ParameterInfo& info : states_of<I>()) check.expect_whole(key_of<I>(info), info);
    });
    check.finish();
  }

  /// Takes the local stages' part of such a state. throws: as above, with nothing changed
  void load_state_dict(const P& pipeline, const nn::StateDict& state) {
    require_loadable(state);
    const training::CountedStates given = training::without_steps(state);
    P::for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      if (!std::get<I>(all_)) return;
      nn::StateDict own{};
      if (given.states.size() > 0)
        for (const graph::ParameterInfo& info : states_of<I>()) {
          const std::string key = key_of<I>(info);
          const nn::StoredTensor& tensor = *given.states.find(key);
          const kernel::RankGroup* const group =
              info.shard.is_part() ? pipeline.groups().find(info.shard.axis) : nullptr;
          own.add(std::string{info.name.view()},
                  group != nullptr ? parallel::part_of_stored(info, key, tensor, group->rank()) : tensor);
        }
      training::add_steps(own, given.steps);
      at<I>().load_state_dict(own);
    });
  }

private:
  template <std::size_t... I> static auto tuple_of(std::index_sequence<I...>) -> std::tuple<std::shared_ptr<Of<I>>...>;

  template <std::size_t I> [[nodiscard]] static std::vector<graph::ParameterInfo> states_of() {
    return divided_states(NetworkOf<I>::parameter_infos(), Of<I>::table().parameters);
  }
  template <std::size_t I> [[nodiscard]] static std::string key_of(const graph::ParameterInfo& info) {
    return state_key<P>(I, info.name.view());
  }

  decltype(tuple_of(typename P::Sequence{})) all_{};
};

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/run/stage_optimisers.ipp>
#endif
