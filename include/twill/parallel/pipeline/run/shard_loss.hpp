#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Losses of shards in reproducible pipelines: one program computes the loss of a shard, weighted by its rows, and the
// gradient of the result, by the formulas and in the order of sums of a network's own step; the losses are added along
// the tree of shards. Not in twill.hpp. Read next: parallel/pipeline/run/shard_runner.hpp.

#include <twill/compile/arguments.hpp>
#include <twill/compile/in_one_order.hpp>
#include <twill/compile/table_for.hpp>
#include <twill/compile/traced.hpp>
#include <twill/core/config.hpp>
#include <twill/parallel/data/reproducible.hpp>
#include <twill/parallel/pipeline/model/block.hpp>
#include <twill/parallel/pipeline/model/programs.hpp>
#include <twill/training/sources.hpp>

#include <array>
#include <cstddef>
#include <map>
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

/// The sources of a stage's programs under `Reproducible`: a result that is an image stays in the order of one network.
template <class S> struct SourceAsOneNetwork { using type = S; };
template <template <StageSource> class Made, StageOfImage F> struct SourceAsOneNetwork<Made<F>> {
  using type = Made<ImageAsComputed<F>>;
};
template <class S> using AsOneNetwork = compile::InOneOrder<typename SourceAsOneNetwork<S>::type>;

/// The weighted loss L of a result and targets, then the gradient of the result, both channels-last if it is an image.
/// T is the model's element type.
template <class L, FloatingScalar T, class Result, class Targets, bool IsImage> struct LossOfShard {
  static constexpr graph::Graph trace() {
    graph::Graph graph{dtype_of<T>};
    compile::with_arguments<Result, Targets>(graph, [&](graph::Value result, graph::Value targets) {
      graph.may_fix_symbols = true; // targets may have static extents for those of the result
      const graph::Value loss = L{}(result, targets);
      if (!loss.shape().elements().is_one())
        graph.refuse(graph::Problem::gradient_of_a_value_that_is_not_a_scalar, loss.rank(), 0, {});
      if (graph.fault.any()) return;
      const auto [whole, weight] = training::weighted(loss);
      List<int> results{};
      results.push_back(result.id());
      const int gradient = gradients(graph, {{loss.id(), weight.id()}}, results)[0];
      graph.outputs.push_back(whole.id());
      graph.outputs.push_back(gradient >= 0 ? gradient : nn::zero_like(graph, result.id()));
    });
    if (!IsImage || graph.fault.any()) return graph;
    graph.inputs.items[0].is_channels_last = true;
    graph.channels_last_outputs = List<char>(2, 0);
    graph.channels_last_outputs.items[1] = 1;
    return graph;
  }
  static constexpr compile::CallName called() { return {.call = "train_step"}; }
};

/// Refuses a loss that computes the gradient of an image in another order than the image's: one device adds it up in
/// that order, such as for a bias.    throws: ValueError
void require_gradient_as_computed(graph::Graph loss);

/// The losses of the shards of one step on the rank of the last stage, computed one after another.
template <class L, FloatingScalar T, HostDevice D> class ShardLosses {
public:
  using gradient_type = Block<D>; ///< begins the backward pass

  /// requires: the program outlives it
  ShardLosses(const std::vector<parallel::Rows>& shards, Program<D>& program)
      : shards_{&shards}, program_{&program}, sum_{static_cast<int>(shards.size())} {}

  /// Says of which shard the next loss is.
  void name(int shard) { shard_ = shard; }

  /// Adds the loss of the shard; returns the gradient of its result, which a stage has made.
  /// throws: ValueError if the result is an image, and its gradient is not computed in the order of it
  template <class Stage, AnyTensor Targets> gradient_type of(const Block<D>& result, const Targets& targets) {
    constexpr bool is_image = StageOfImage<typename Stage::Source>;
    using Made = LossOfShard<L, T, compile::argument_t<typename Stage::Output>, compile::argument_t<Targets>, is_image>;
    using Source = compile::InOneOrder<Made>;
    if constexpr (is_image) {
      static const bool is_computed_so = (require_gradient_as_computed(compile::trace_of<Source>()), true);
      static_cast<void>(is_computed_so);
    }
    const compile::TableView table = compile::TableFor<Source, D>::view();
    nn::RunContext context{};
    context.run_scalars = compile::RunScalars{table.run_scalars};
    const double rows = static_cast<double>(shards_->back().begin + shards_->back().count);
    context.run_scalars.set(training::loss_weight_scalar,
                            static_cast<double>((*shards_)[static_cast<std::size_t>(shard_)].count) / rows);
    const std::array<void*, 2> inputs{result.data, const_cast<void*>(static_cast<const void*>(targets.data()))};
    const auto symbols = compile::resolve_symbols(table, std::array<Dims, 2>{result.shape, targets.shape()});
    Blocks<D> made = program_->template run<Source>(targets.device(), symbols, inputs, {}, context);
    synchronize(targets.device());
    sum_.push(shard_, *static_cast<const T*>(made[0].data), [](T& left, T right) { left += right; });
    return std::move(made[1]);
  }

  /// The loss of the whole batch.    requires: those of all shards were added
  [[nodiscard]] T take() { return sum_.take(); }

private:
  const std::vector<parallel::Rows>* shards_;
  Program<D>* program_;
  ShardTree<T> sum_;
  int shard_ = 0;
};

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/run/shard_loss.ipp>
#endif
