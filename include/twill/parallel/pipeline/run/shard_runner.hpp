#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stage runner of reproducible pipeline steps: a micro-batch is a shard of the batch, and a stage's gradients of each
// micro-batch are taken from its network and added along the tree of shards, in whatever order a schedule computes
// them. So are the losses, weighted by rows and rounded like those of the network's own step. Not in twill.hpp. Read
// next: parallel/pipeline/run/reproducible_step.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/data/reproducible.hpp>
#include <twill/parallel/pipeline/model/ties.hpp>
#include <twill/parallel/pipeline/run/runner.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// Sums along the tree of shards of values that come in any order: `add(left, right)` adds the right one to the left.
template <class Value> class ShardTree {
public:
  explicit ShardTree(int shards) : stack_{shards} {}

  template <class Add> void push(int shard, Value value, const Add& add) {
    early_.insert_or_assign(shard, std::move(value));
    for (auto next = early_.find(next_); next != early_.end(); next = early_.find(++next_)) {
      sums_.push_back(std::move(next->second));
      early_.erase(next);
      stack_.push({next_, next_ + 1}, [&](std::size_t left, std::size_t right) {
        add(sums_[left], sums_[right]);
        sums_.pop_back();
      });
    }
  }
  /// The sum over all shards.    requires: all were pushed
  [[nodiscard]] Value take() { return std::move(sums_.front()); }

private:
  parallel::detail::ShardStack stack_;
  std::map<int, Value> early_{}; ///< shards that wait for one before them
  int next_ = 0;
  std::vector<Value> sums_{}; ///< the nodes of the stack
};

/// The loss of the shard that is computed now, weighted and rounded as by a network's own step.
template <FloatingScalar T> struct ShardLoss {
  double weight = 0;
  T value{};
};

/// A loss that also writes its value.
template <class L, FloatingScalar T> struct RecordedLoss {
  L loss;
  ShardLoss<T>* shard;

  template <class Result, class Targets> auto operator()(const Result& result, const Targets& targets) const {
    auto value = loss(result, targets);
    using Wide = typename decltype(value)::Value::value_type;
    shard->value = static_cast<T>(value.item() * static_cast<Wide>(shard->weight));
    return value;
  }
};

/// The tensor with each row on a cache line of its own, or right after the row before: shards, which are copied unless
/// they are in one piece, begin on a cache line as in every allocation, so no kernel meets another alignment.
template <class T, ComputeDevice D, class S> [[nodiscard]] Tensor<T, D, S> with_rows_apart(const Tensor<T, D, S>& x) {
  if constexpr (!HostDevice<D>) {
    return x;
  } else {
    if (x.elements() == 0) return x;
    constexpr auto line = static_cast<std::int64_t>(64 / sizeof(T));
    const Dims shape = x.shape();
    Dims strides = contiguous_strides(shape);
    strides[0] = (strides[0] + line - 1) / line * line;
    memory::Buffer<D> buffer(x.device(), static_cast<std::size_t>(shape[0] * strides[0]) * sizeof(T));
    auto* const first = static_cast<T*>(buffer.data());
    const Tensor<T, D, S> apart(std::move(buffer), first, shape, strides);
    apart.copy_from(x);
    return apart;
  }
}

/// Buffers that a stage's forward passes write, such as running statistics: each shard finds the values from before the
/// step, and those that shard 0 writes stay, as on one device.
template <HostDevice D> class StageBuffers {
public:
  /// requires: the network outlives it, and its device has nothing left to do
  explicit StageBuffers(nn::NetworkState<D>& network) : network_{&network} {
    for (std::size_t i = 0; i < network.infos.size(); ++i)
      if (network.infos[i].role == graph::Role::buffer) numbers_.push_back(i);
    before_ = values();
  }

  /// Calls `run()`, the forward pass of a shard, which waits for the device.
  template <class Run> void run(int shard, const Run& run) {
    if (numbers_.empty() || shard == 0) return run();
    struct Restored {
      const StageBuffers* buffers;
      Values values;
      ~Restored() { buffers->write(values); }
    };
    const Restored restored{this, values()};
    write(before_);
    run();
  }

private:
  using Values = std::vector<std::vector<std::byte>>;

  [[nodiscard]] Values values() const {
    Values all{};
    for (const std::size_t i : numbers_) {
      const memory::Buffer<D>& buffer = network_->buffers[i];
      all.emplace_back(buffer.bytes());
      std::memcpy(all.back().data(), buffer.data(), buffer.bytes());
    }
    return all;
  }
  void write(const Values& values) const {
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      std::memcpy(network_->buffers[numbers_[i]].data(), values[i].data(), values[i].size());
  }

  nn::NetworkState<D>* network_;
  std::vector<std::size_t> numbers_{};
  Values before_{};
};

/// Runs the stages of one rank like a `ModelRunner`, whose micro-batches are all shards of the batch.
template <class P, class L, class X, class Y>
class ShardRunner : public ModelRunner<P, RecordedLoss<L, typename P::Element>, X, Y> {
  using T = typename P::Element;
  using D = typename P::device_type;
  using Base = ModelRunner<P, RecordedLoss<L, T>, X, Y>;
  using Gradients = std::vector<memory::Buffer<D>>;

public:
  /// requires: `loss` writes to `newest`, and all outlive the runner
  ShardRunner(P& pipeline, const Schedule& schedule, const RecordedLoss<L, T>& loss, ShardLoss<T>& newest,
              const std::vector<parallel::Rows>& shards, const X& x, const Y& targets, int rank,
              const StageCheckpointing& checkpointing)
      : Base{pipeline, schedule, loss, shards, x, targets, rank, checkpointing},
        states_{pipeline.template states<D>()},
        shards_{shards},
        newest_{newest},
        losses_{schedule.micro_batches},
        gradients_(states_.size(), ShardTree<Gradients>{schedule.micro_batches}) {
    for (const auto& state : states_) {
      buffers_.emplace_back();
      if (state) buffers_.back().emplace(*state);
    }
  }

  void run_forward(int stage, int shard) {
    buffers_[static_cast<std::size_t>(stage)]->run(shard, [&] { Base::run_forward(stage, shard); });
  }
  void run_backward(int stage, int shard) {
    with_loss(stage, shard, [&] { Base::run_backward(stage, shard); });
    take_gradients(stage, shard);
  }
  void run_input_gradient(int stage, int shard) {
    with_loss(stage, shard, [&] { Base::run_input_gradient(stage, shard); });
  }
  void run_weight_gradient(int stage, int shard) {
    Base::run_weight_gradient(stage, shard);
    take_gradients(stage, shard);
  }

  /// Gives the stages that are here the sums of their gradients, when all are computed.
  void leave_gradients() {
    for (std::size_t stage = 0; stage < states_.size(); ++stage)
      if (states_[stage]) states_[stage]->gradients = gradients_[stage].take();
  }
  /// The loss of the whole batch, on the rank of the last stage.
  [[nodiscard]] T loss() { return losses_.take(); }

private:
  template <class Run> void with_loss(int stage, int shard, const Run& run) {
    if (stage + 1 < P::stages) return run();
    const std::int64_t all_rows = shards_.back().begin + shards_.back().count;
    newest_.weight =
        static_cast<double>(shards_[static_cast<std::size_t>(shard)].count) / static_cast<double>(all_rows);
    run();
    losses_.push(shard, newest_.value, [](T& left, T right) { left += right; });
  }

  void take_gradients(int stage, int shard) {
    nn::NetworkState<D>& state = *states_[static_cast<std::size_t>(stage)];
    gradients_[static_cast<std::size_t>(stage)].push(
        shard, std::exchange(state.gradients, Gradients(state.gradients.size())),
        [&](const Gradients& left, const Gradients& right) {
          for (std::size_t i = 0; i < left.size(); ++i)
            if (left[i])
              state.add(state.device, state.infos[i].dtype, state.infos[i].shape.elements().factor, left[i].data(),
                        right[i].data());
          synchronize(state.device);
        });
  }

  StageStates<D> states_;
  const std::vector<parallel::Rows>& shards_;
  ShardLoss<T>& newest_;
  ShardTree<T> losses_;
  std::vector<ShardTree<Gradients>> gradients_;           ///< of each stage
  std::vector<std::optional<StageBuffers<D>>> buffers_{}; ///< of the stages that are here
};

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA
