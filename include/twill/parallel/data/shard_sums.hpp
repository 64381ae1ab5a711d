#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sums of gradients along the tree of shards, on one rank and over all: each backward pass writes its results to a free
// place, which is added to its sibling as soon as both are there, so about log2(shards) places exist. Then the nodes of
// all ranks go, divided into a part for each rank, to the rank of that part, which adds them up in the order of the
// tree. Additions are single ones of two elements, so no order but the tree's is in the bits. Not in twill.hpp. Read
// next: parallel/data/reproducible.hpp.

#include <twill/core/config.hpp>
#include <twill/elementwise/comparison.hpp>
#include <twill/expr/operators.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/parallel/data/bucket_memory.hpp>
#include <twill/parallel/data/reproducible.hpp>
#include <twill/parallel/data/shard_memory.hpp>
#include <twill/parallel/data/whole_weights.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/tensor/create.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// The places of one rank, for results of type T in the layout of its buckets. `Model` starts calls.
template <class Model, FloatingScalar T, ComputeDevice D> class ShardSums {
  using Handle = decltype(std::declval<Model&>().start(std::declval<const Call&>()));

public:
  /// `at_once`: all shards of a rank write their results before the first of them is added.
  ShardSums(Model& model, D device, Buckets layout, const Reproducible& policy, bool at_once)
      : model_{&model},
        layout_{std::move(layout)},
        sizes_{layout_, policy, model.size(), at_once, sizeof(T)},
        stack_{policy.shards} {
    for (int rank = 0; rank < model.size(); ++rank)
      nodes_.push_back(detail::nodes_of(policy.shards_of(rank, model.size()), policy.shards).nodes);
    for (std::size_t place = sizes_.places; place > 0; --place) free_.push_back(place - 1);
    places_ = zeros(device, sizes_.places * static_cast<std::size_t>(sizes_.place));
    received_ = zeros(device, static_cast<std::size_t>(sizes_.received));
  }

  ShardSums(const ShardSums&) = delete;
  ShardSums& operator=(const ShardSums&) = delete;

  /// A place for the results of a shard.
  [[nodiscard]] std::size_t take_place() {
    const std::size_t place = free_.back();
    free_.pop_back();
    return place;
  }
  /// The addresses of the results in a place.
  [[nodiscard]] std::vector<void*> addresses(std::size_t place) const {
    std::vector<void*> all{};
    for (const BucketEntry& entry : layout_.entries)
      all.push_back(at(place, static_cast<std::size_t>(entry.bucket)) + entry.offset);
    return all;
  }

  /// Takes in the results of a shard from their place, after those of the shard before it.
  void push(int shard, std::size_t place) {
    nodes_here_.push_back(place);
    stack_.push({shard, shard + 1}, [&](std::size_t left, std::size_t right) {
      add(places_, at(nodes_here_[left], 0), at(nodes_here_[right], 0), sizes_.place);
      free_.push_back(nodes_here_[right]);
      nodes_here_.resize(right);
    });
  }

  /// Sums the nodes of all ranks into buckets: into this rank's parts of those that are divided if it `keeps_parts`,
  /// else into the whole. All ranks call this together. throws: CommunicatorError
  template <class Memory> void reduce(Memory& memory, bool keeps_parts) {
    stack_.clear();
    for (std::size_t bucket = 0; bucket < layout_.buckets.size(); ++bucket) {
      const bool is_part = keeps_parts && !layout_.buckets[bucket].is_whole;
      T* const whole = at(nodes_here_.front(), bucket);
      if (model_->size() == 1) {
        copy(is_part ? memory.part(bucket).data : memory.elements(bucket).data, whole, layout_.buckets[bucket].count);
        continue;
      }
      const std::int64_t each = sizes_.padded[bucket] / model_->size();
      T* const sum = meet(bucket, each);
      if (is_part) {
        copy(memory.part(bucket).data, sum, each);
      } else {
        model_->run(Call::all_gather({sum, each, dtype_of<T>}, {whole, sizes_.padded[bucket], dtype_of<T>}));
        copy(memory.elements(bucket).data, whole, layout_.buckets[bucket].count);
      }
    }
    free_.insert(free_.end(), nodes_here_.begin(), nodes_here_.end());
    nodes_here_.clear();
  }

private:
  [[nodiscard]] static memory::Buffer<D> zeros(const D& device, std::size_t count) {
    memory::Buffer<D> buffer(device, count * sizeof(T));
    const Dims shape(static_cast<std::int64_t>(count));
    Tensor<T, D, Shape<dyn>>(buffer, static_cast<T*>(buffer.data()), shape, Dims(1)).fill(T{});
    return buffer;
  }

  [[nodiscard]] T* at(std::size_t place, std::size_t bucket) const {
    return static_cast<T*>(places_.data()) + static_cast<std::int64_t>(place) * sizes_.place + sizes_.offsets[bucket];
  }

  void copy(void* to, const T* from, std::int64_t count) const {
    detail::copy_on(places_.device(), to, from, static_cast<std::size_t>(count) * sizeof(T));
  }

  static void add(const memory::Buffer<D>& buffer, T* to, T* from, std::int64_t count) {
    const Tensor<T, D, Shape<dyn>> addend(buffer, from, Dims(count), Dims(1));
    Tensor<T, D, Shape<dyn>>(buffer, to, Dims(count), Dims(1)) += addend;
  }

  /// Sends each rank its part of this rank's nodes, and sums this rank's part of all.
  [[nodiscard]] T* meet(std::size_t bucket, std::int64_t each) {
    auto* const received = static_cast<T*>(received_.data());
    const std::int64_t padded = sizes_.padded[bucket];
    std::vector<Handle> calls{};
    for (std::size_t node = 0; node < sizes_.sent; ++node)
      calls.push_back(model_->start(
          Call::all_to_all({at(nodes_here_[std::min(node, nodes_here_.size() - 1)], bucket), padded, dtype_of<T>},
                           {received + static_cast<std::int64_t>(node) * padded, padded, dtype_of<T>})));
    for (Handle& call : calls) call.wait();
    std::vector<T*> parts{};
    for (std::size_t rank = 0; rank < nodes_.size(); ++rank)
      for (std::size_t node = 0; node < nodes_[rank].size(); ++node) {
        parts.push_back(received + static_cast<std::int64_t>(node) * padded + static_cast<std::int64_t>(rank) * each);
        stack_.push(nodes_[rank][node], [&](std::size_t left, std::size_t right) {
          add(received_, parts[left], parts[right], each);
          parts.resize(right);
        });
      }
    stack_.clear();
    return parts.front();
  }

  Model* model_;
  Buckets layout_;
  detail::ShardPlaces sizes_;
  detail::ShardStack stack_;
  std::vector<List<ShardRange>> nodes_{}; ///< of each rank
  memory::Buffer<D> places_{};
  memory::Buffer<D> received_{};          ///< parts of all ranks' nodes
  std::vector<std::size_t> nodes_here_{}; ///< the places of this rank's nodes
  std::vector<std::size_t> free_{};       ///< places without a node
};

}}}} // namespace twill::v0::parallel::TWILL_ISA
