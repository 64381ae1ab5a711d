#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sharded optimiser of a stage with several replicas, which divide the rule's states (ZeRO, Rajbhandari et al., 2020):
// each has those for its part of the weights, updates this part from gradients that all have, and fetches the others'
// parts. The bits equal those of a full update on each, except for rules that sum over the elements of a weight, which
// add in another order. Read next: parallel/data/part_update.hpp.

#include <twill/core/config.hpp>
#include <twill/optim/loss_scale.hpp>
#include <twill/parallel/data/buckets.hpp>
#include <twill/parallel/data/part_update.hpp>
#include <twill/parallel/data/whole_weights.hpp>
#include <twill/parallel/group/rank_sums.hpp>
#include <twill/parallel/pipeline/model/stage_rules.hpp>
#include <twill/train/optimiser.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace pipeline { namespace detail { inline namespace TWILL_ISA {

/// The trainable weights of a stage, the last one first, in buckets divided into this number of equal parts. Weight k
/// is entry k + 1, as if the loss came before it.
[[nodiscard]] parallel::Buckets weight_buckets(std::span<const graph::ParameterInfo> infos,
                                               const parallel::BucketOptions& options, int parts);

/// One replica's part in the updates of a stage. Like `train::Optimiser`, but steps are collective calls of replicas.
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
    const train::CountedStates given = train::without_steps(state);
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
  train::RuleNumbers<R> numbers_;
  parallel::Buckets layout_;
  Update update_;
  std::int64_t steps_ = 0;
};

}}}}} // namespace twill::v0::pipeline::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/run/shared_optimiser.ipp>
#endif
