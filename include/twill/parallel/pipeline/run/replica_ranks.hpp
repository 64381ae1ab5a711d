#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Exchange between replicas of a pipeline's stages: the rows of each, its buffers, and its gradients, in buckets. A
// stage's gradients are complete after its last micro-batch, so its buckets are reduced from there on while the other
// stages of the rank, and those before it, still work. All replicas carry out one schedule, so their calls have one
// order. Read next: parallel/pipeline/run/rank_step.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/data/buckets.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/numbers.hpp>
#include <twill/parallel/pipeline/model/ties.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// Options of the exchange between replicas of a pipeline's stages.
struct ReplicaOptions {
  parallel::BucketOptions buckets{}; ///< of their gradients
  bool broadcasts_buffers = true;    ///< those of the first replica, before each step
};

/// The rows of all replicas before a replica's own, and their total number.
struct ReplicaRows {
  std::int64_t first = 0;
  std::int64_t all = 0;
};

/// This replica's rows of the whole batch, by its number of rows: replicas are in order. All replicas call it.
template <parallel::Communicator C> [[nodiscard]] ReplicaRows rows_among(C& replicas, std::int64_t rows) {
  parallel::Numbers<C> numbers{replicas, 1};
  numbers.values()[0] = static_cast<double>(rows);
  ReplicaRows found{};
  int rank = 0;
  for (const double other : numbers.all()) {
    if (rank++ < replicas.rank()) found.first += static_cast<std::int64_t>(other);
    found.all += static_cast<std::int64_t>(other);
  }
  return found;
}

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// A weight or buffer of a local stage.
struct Place {
  std::size_t stage = 0;
  std::size_t index = 0;
};

/// Tensors of one element type that are sent as one.
template <ComputeDevice D> struct StageBucket {
  DType dtype = DType::float32;
  std::vector<Place> places{};
  std::vector<std::int64_t> offsets{}; ///< in elements
  std::int64_t count = 0;
  memory::Buffer<D> memory{}; ///< none if one tensor is sent alone

  void add(const Place& place, DType type, const parallel::BucketEntry& entry) {
    dtype = type;
    places.push_back(place);
    offsets.push_back(entry.offset);
    count += entry.count;
  }
  [[nodiscard]] std::int64_t bytes() const { return count * static_cast<std::int64_t>(size_of(dtype)); }

  /// Copies all tensors in; `buffer_of(place)` has them. Returns the elements to send.
  template <class BufferOf> [[nodiscard]] parallel::Elements fill(const D& device, const BufferOf& buffer_of) {
    if (places.size() == 1) {
      const memory::Buffer<D>& own = buffer_of(places[0]);
      return {own.data(), static_cast<std::int64_t>(own.bytes() / size_of(dtype)), dtype};
    }
    if (!memory) memory = memory::Buffer<D>(device, static_cast<std::size_t>(bytes()));
    for (std::size_t i = 0; i < places.size(); ++i) {
      const memory::Buffer<D>& own = buffer_of(places[i]);
      copy_bytes(device, at(i), device, own.data(), own.bytes(), CopyOptions{});
    }
    synchronize(device);
    return {memory.data(), count, dtype};
  }
  /// Copies them out again.
  template <class BufferOf> void spread(const D& device, const BufferOf& buffer_of) const {
    for (std::size_t i = 0; i < places.size() && places.size() > 1; ++i) {
      const memory::Buffer<D>& own = buffer_of(places[i]);
      copy_bytes(device, own.data(), device, at(i), own.bytes(), CopyOptions{});
    }
    synchronize(device);
  }

private:
  [[nodiscard]] void* at(std::size_t i) const {
    return static_cast<std::byte*>(memory.data()) + static_cast<std::size_t>(offsets[i]) * size_of(dtype);
  }
};

/// The weights of a stage in the order in which their gradients are sent, the last one first, or its buffers.
template <ComputeDevice D>
[[nodiscard]] std::vector<StageBucket<D>> stage_buckets(const nn::NetworkState<D>& state, std::size_t stage,
                                                        graph::Role role, const parallel::BucketOptions& options) {
  std::vector<StageBucket<D>> buckets{};
  parallel::detail::BucketFiller filler{options, 1};
  for (std::size_t k = state.infos.size(); k-- > 0;) {
    const graph::ParameterInfo& info = state.infos[k];
    if (info.role != role) continue;
    const parallel::BucketEntry entry = filler.add(info.dtype, info.shape.elements().factor);
    buckets.resize(std::max(buckets.size(), static_cast<std::size_t>(entry.bucket) + 1));
    buckets[static_cast<std::size_t>(entry.bucket)].add({stage, k}, info.dtype, entry);
  }
  return buckets;
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// The gradients of the local stages, and their buffers, among the replicas of these stages.
template <parallel::Communicator C, ComputeDevice D> class ReplicaRanks {
  using Handle = decltype(std::declval<C&>().start(std::declval<const parallel::Call&>()));

public:
  ReplicaRanks(C& replicas, const StageStates<D>& states, const ReplicaOptions& options) : replicas_{&replicas} {
    for (std::size_t stage = 0; stage < states.size(); ++stage) {
      if (!states[stage]) continue;
      for (auto& bucket : detail::stage_buckets(*states[stage], stage, graph::Role::weight, options.buckets))
        gradients_.push_back(std::move(bucket));
      if (!options.broadcasts_buffers) continue;
      for (auto& bucket : detail::stage_buckets(*states[stage], stage, graph::Role::buffer, options.buckets))
        buffers_.push_back(std::move(bucket));
    }
  }

  [[nodiscard]] C& communicator() const { return *replicas_; }
  /// The number of calls that sum all local gradients.
  [[nodiscard]] std::size_t buckets() const { return gradients_.size(); }

  /// Overwrites the buffers by those of the first replica.
  void agree_on_buffers(const StageStates<D>& states) {
    const auto buffer_of = [&](const detail::Place& place) -> const memory::Buffer<D>& {
      return states[place.stage]->buffers[place.index];
    };
    for (detail::StageBucket<D>& bucket : buffers_) {
      const D device = device_of(states, bucket);
      replicas_->run(parallel::Call::broadcast(bucket.fill(device, buffer_of), 0));
      bucket.spread(device, buffer_of);
    }
  }

  /// Begins to sum the gradients of a stage, which are complete.
  void start(const StageStates<D>& states, std::size_t stage) {
    for (detail::StageBucket<D>& bucket : gradients_)
      if (bucket.places[0].stage == stage)
        under_way_.push_back({&bucket, replicas_->start(parallel::Call::all_reduce(
                                           bucket.fill(device_of(states, bucket), gradient_of(states))))});
  }

  /// Returns when all started calls are done: gradients are those of all replicas.    throws: CommunicatorError
  void finish(const StageStates<D>& states) {
    for (UnderWay& reduction : under_way_) {
      reduction.handle.wait();
      reduction.bucket->spread(device_of(states, *reduction.bucket), gradient_of(states));
    }
    under_way_.clear();
  }

  /// Forgets the calls of an unfinished step.
  void clear() { under_way_.clear(); }

private:
  struct UnderWay {
    detail::StageBucket<D>* bucket;
    Handle handle;
  };

  [[nodiscard]] static D device_of(const StageStates<D>& states, const detail::StageBucket<D>& bucket) {
    return states[bucket.places[0].stage]->device;
  }
  [[nodiscard]] static auto gradient_of(const StageStates<D>& states) {
    return [&states](const detail::Place& place) -> const memory::Buffer<D>& {
      return states[place.stage]->gradients[place.index];
    };
  }

  C* replicas_;
  std::vector<detail::StageBucket<D>> gradients_{};
  std::vector<detail::StageBucket<D>> buffers_{};
  std::vector<UnderWay> under_way_{}; ///< destroyed before the memory, and waits then
};

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA
