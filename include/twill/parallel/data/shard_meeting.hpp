#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sums inside a model's run, as synchronised batch norm makes them, over all shards of a batch: the shards of a rank
// run in turn, each up to its next sum; when all have come, the first of them adds up the values along the tree of
// shards, those of other ranks included, and hands the sum to each. Not in twill.hpp. Read next:
// parallel/group/rank_sums.hpp, parallel/data/reproducible.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/elementwise/comparison.hpp>
#include <twill/expr/operators.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/parallel/data/reproducible.hpp>
#include <twill/parallel/data/whole_weights.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/turns.hpp>
#include <twill/tensor/tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// The meetings of one rank's shards. `Model` runs calls.
template <class Model, ComputeDevice D> class ShardMeeting {
public:
  ShardMeeting(Model& model, D device, const Reproducible& policy)
      : model_{&model},
        device_{device},
        shards_{policy.shards},
        addends_(static_cast<std::size_t>(policy.shards_of(model.rank(), model.size()).count())),
        turns_{addends_.size()} {
    for (int rank = 0; rank < model.size(); ++rank) {
      const ShardRange own = policy.shards_of(rank, model.size());
      nodes_.push_back(detail::nodes_of(own, shards_).nodes);
      sent_ = std::max(sent_, nodes_.back().size());
      if (rank == model.rank()) first_ = own.begin;
    }
  }

  /// One shard's turn to run. Its `sum` is the sum over all shards, in place, of what each gives.
  class Turn {
  public:
    Turn(ShardMeeting& meeting, std::size_t place) : meeting_{&meeting}, place_{place} {}
    void sum(const Elements& own) { meeting_->meet(place_, own); }

  private:
    ShardMeeting* meeting_;
    std::size_t place_;
  };

  /// Calls `run(place, turn)` for each shard of the rank. throws: the first exception of any
  template <class Run> void run_all(const Run& run) {
    turns_.run_all([&](std::size_t place) {
      Turn turn{*this, place};
      run(place, turn);
    });
  }

private:
  void meet(std::size_t place, const Elements& own) {
    addends_[place] = own;
    turns_.pause();
    if (place > 0) return; // the first shard goes on first, when all have come
    if (own.dtype == DType::float64)
      add_up<double>();
    else if (own.dtype == DType::float32)
      add_up<float>();
    else
      throw ValueError(join_text({"Reproducible: sums inside a model are of float32 or float64, got ", name(own.dtype),
                                  "; compute the sum in float"}));
  }

  template <class T> void add(T* to, T* from, std::int64_t count) const {
    auto sum = tensor_over<Shape<dyn>>(to, Dims(count), device_);
    sum += tensor_over<Shape<dyn>>(from, Dims(count), device_);
  }

  /// Adds up nodes in their order, in place. Returns the nodes that are left.
  template <class T>
  [[nodiscard]] std::vector<T*> joined(const List<ShardRange>& nodes, std::vector<T*> places,
                                       std::int64_t count) const {
    detail::ShardStack stack{shards_};
    std::vector<T*> left_over{};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      left_over.push_back(places[i]);
      stack.push(nodes[i], [&](std::size_t left, std::size_t right) {
        add(left_over[left], left_over[right], count);
        left_over.resize(right);
      });
    }
    return left_over;
  }

  template <class T> void add_up() {
    const std::int64_t count = addends_.front().count;
    const std::size_t bytes = addends_.front().bytes();
    List<ShardRange> leaves{};
    std::vector<T*> places{};
    for (std::size_t place = 0; place < addends_.size(); ++place) {
      const int shard = first_ + static_cast<int>(place);
      leaves.push_back({shard, shard + 1});
      places.push_back(static_cast<T*>(addends_[place].data));
    }
    const std::vector<T*> own = joined(leaves, std::move(places), count);
    if (model_->size() == 1) return hand_out(own.front(), bytes);
    const auto ranks = static_cast<std::size_t>(model_->size());
    const auto each = static_cast<std::int64_t>(sent_) * count;
    const memory::Buffer<D> all(device_, ranks * sent_ * bytes);
    auto* const first = static_cast<T*>(all.data());
    T* const mine = first + each * model_->rank();
    for (std::size_t node = 0; node < own.size(); ++node)
      detail::copy_on(device_, mine + static_cast<std::int64_t>(node) * count, own[node], bytes);
    model_->run(Call::all_gather({mine, each, dtype_of<T>}, {first, each * model_->size(), dtype_of<T>}));
    List<ShardRange> nodes{};
    std::vector<T*> received{};
    for (std::size_t rank = 0; rank < ranks; ++rank)
      for (std::size_t node = 0; node < nodes_[rank].size(); ++node) {
        nodes.push_back(nodes_[rank][node]);
        received.push_back(first + each * static_cast<std::int64_t>(rank) + static_cast<std::int64_t>(node) * count);
      }
    hand_out(joined(nodes, std::move(received), count).front(), bytes);
  }

  void hand_out(const void* sum, std::size_t bytes) const {
    for (const Elements& addend : addends_)
      if (addend.data != sum) detail::copy_on(device_, addend.data, sum, bytes);
  }

  Model* model_;
  D device_;
  int shards_;
  int first_ = 0;                         ///< of this rank
  std::size_t sent_ = 1;                  ///< nodes of a rank, at most
  std::vector<List<ShardRange>> nodes_{}; ///< of each rank
  std::vector<Elements> addends_{};
  detail::Turns turns_;
};

}}}} // namespace twill::v0::parallel::TWILL_ISA
