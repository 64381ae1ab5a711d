#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Weight parts of ZeRO stage 3 (Rajbhandari et al., 2020), in which each rank holds only its part: between steps the
// network has no trainable weights, and in a step those are fetched from all ranks bucket by bucket, see
// parallel/data/gathers.hpp, into memory taken from the pool for the length of a run. The first step divides the
// weights; `gather` makes them whole again until the next one. Read next: parallel/data/zero.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/data/gathers.hpp>
#include <twill/parallel/data/whole_weights.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// One rank's parts of all weights. `Model` runs and starts calls.
template <class Model, ComputeDevice D> class WeightParts {
  using Handle = decltype(std::declval<Model&>().start(std::declval<const Call&>()));

public:
  WeightParts(Model& model, const Buckets& layout)
      : model_{&model},
        network_{model.module().state().get()},
        layout_{layout},
        parts_{network_->device, static_cast<std::size_t>(part_bytes(layout, model.size()))} {
    std::size_t offset = 0;
    for (const Bucket& bucket : layout_.buckets) {
      offsets_.push_back(offset);
      if (!bucket.is_whole) offset += static_cast<std::size_t>(bucket.bytes() / model.size());
    }
    const auto count = static_cast<std::int64_t>(parts_.bytes() / sizeof(float)); // gaps between weights are sent, too
    Tensor<float, D, Shape<dyn>>(parts_, static_cast<float*>(parts_.data()), Dims(count), Dims(1)).fill(0.0f);
    pending_.resize(layout_.buckets.size());
  }

  WeightParts(const WeightParts&) = delete;
  WeightParts& operator=(const WeightParts&) = delete;

  /// Element `first` of this rank's part of the weight whose gradient is a result.
  [[nodiscard]] void* part_address(std::size_t output, std::size_t, std::int64_t first) const {
    const BucketEntry& entry = layout_.entries[output];
    const Elements own = part(static_cast<std::size_t>(entry.bucket));
    const std::int64_t place =
        std::clamp<std::int64_t>(entry.offset + first - own.count * model_->rank(), 0, own.count);
    return static_cast<std::byte*>(own.data) + static_cast<std::size_t>(place) * size_of(own.dtype);
  }

  /// The addresses of all weights and buffers in a run, valid after their fetch.
  [[nodiscard]] std::span<void* const> addresses() const { return addresses_; }

  /// Nothing to do: a rank keeps only its updated parts.
  template <class Memory> void finish_update(Memory&, const std::vector<Part>&) const {}

  /// Takes this rank's parts out of whole weights and releases these, once.
  /// throws: ValueError while another step has the parts
  void cut() {
    if (!network_->is_whole()) {
      if (!is_cut_) network_->require_whole("train_step");
      return;
    }
    is_cut_ = true;
    detail::for_each_weight(*network_, [&](std::size_t output, std::size_t i) {
      const Part own = part_of(layout_, layout_.entries[output], model_->rank(), model_->size());
      const std::size_t size = size_of(network_->infos[i].dtype);
      const auto* const weight = static_cast<const std::byte*>(network_->buffers[i].data());
      detail::copy_on(network_->device, part_address(output, i, own.begin),
                      weight + static_cast<std::size_t>(own.begin) * size,
                      static_cast<std::size_t>(own.count()) * size);
      network_->give_up(i);
    });
  }

  /// Makes all weights of the network whole, or, if that fails, leaves them in parts. All ranks call this together.
  /// throws: CommunicatorError, OutOfMemoryError, ValueError while another step has the parts
  void gather() {
    if (network_->is_whole()) return;
    if (!is_cut_) network_->require_whole("gather_weights");
    try {
      fetch_all();
    } catch (...) {
      detail::for_each_weight(*network_, [&](std::size_t, std::size_t i) { network_->give_up(i); });
      throw;
    }
    is_cut_ = false;
    network_->note_update();
  }

  /// Takes the memory of a run. throws: OutOfMemoryError
  void begin(const GatherPlan& plan) {
    plan_ = &plan;
    whole_ = memory::Buffer<D>(network_->device, static_cast<std::size_t>(plan.bytes));
    addresses_.clear();
    for (const memory::Buffer<D>& buffer : network_->buffers) addresses_.push_back(buffer.data());
    detail::for_each_weight(*network_, [&](std::size_t output, std::size_t i) {
      const BucketEntry& entry = layout_.entries[output];
      const Elements all = whole(static_cast<std::size_t>(entry.bucket));
      addresses_[i] = static_cast<std::byte*>(all.data) + static_cast<std::size_t>(entry.offset) * size_of(all.dtype);
    });
  }

  /// Returns the memory, after the run has been given to the device.
  void end() {
    for (std::size_t bucket = 0; bucket < pending_.size(); ++bucket) wait(bucket);
    whole_.reset();
  }

  /// Begins to fetch a bucket from all ranks.
  void start(std::size_t bucket) {
    pending_[bucket].emplace(model_->start(Call::all_gather(part(bucket), whole(bucket))));
  }
  /// Returns when a bucket is there. throws: CommunicatorError
  void wait(std::size_t bucket) {
    if (!pending_[bucket]) return;
    Handle handle = std::move(*pending_[bucket]);
    pending_[bucket].reset();
    handle.wait();
  }

  /// The device memory of the weights between steps, before anything runs: the parts, and frozen weights whole.
  [[nodiscard]] static std::int64_t bytes(const compile::TableView& table, const Buckets& layout, int ranks) {
    std::int64_t sum = compile::pool_bytes(part_bytes(layout, ranks));
    for (const graph::ParameterInfo& info : table.parameters)
      if (info.role == graph::Role::frozen_weight || info.role == graph::Role::buffer)
        sum += compile::pool_bytes(compile::bytes_of(info.dtype, info.shape, {}));
    return sum;
  }

private:
  void fetch_all() {
    network_->take_back();
    for (std::size_t bucket = 0; bucket < layout_.buckets.size(); ++bucket) {
      const Bucket& info = layout_.buckets[bucket];
      if (info.is_whole) continue;
      const memory::Buffer<D> all(network_->device, static_cast<std::size_t>(info.bytes()));
      model_->run(Call::all_gather(part(bucket), {all.data(), info.count, info.dtype}));
      detail::for_each_weight(*network_, layout_, bucket, [&](std::size_t output, std::size_t i) {
        const BucketEntry& entry = layout_.entries[output];
        const std::size_t size = size_of(info.dtype);
        detail::copy_on(network_->device, network_->buffers[i].data(),
                        static_cast<const std::byte*>(all.data()) + static_cast<std::size_t>(entry.offset) * size,
                        static_cast<std::size_t>(entry.count) * size);
      });
    }
  }

  [[nodiscard]] static std::int64_t part_bytes(const Buckets& layout, int ranks) {
    std::int64_t bytes = 0;
    for (const Bucket& bucket : layout.buckets)
      if (!bucket.is_whole) bytes += bucket.bytes() / ranks;
    return bytes;
  }
  [[nodiscard]] Elements part(std::size_t bucket) const {
    const Bucket& info = layout_.buckets[bucket];
    return {static_cast<std::byte*>(parts_.data()) + offsets_[bucket], info.count / model_->size(), info.dtype};
  }
  [[nodiscard]] Elements whole(std::size_t bucket) const {
    const Bucket& info = layout_.buckets[bucket];
    return {static_cast<std::byte*>(whole_.data()) + plan_->offsets[bucket], info.count, info.dtype};
  }

  Model* model_;
  nn::NetworkState<D>* network_;
  Buckets layout_;
  memory::Buffer<D> parts_;
  memory::Buffer<D> whole_{}; ///< during a run
  std::vector<std::size_t> offsets_{};
  std::vector<void*> addresses_{};
  const GatherPlan* plan_ = nullptr;
  bool is_cut_ = false;                          ///< the weights are here in parts
  std::vector<std::optional<Handle>> pending_{}; ///< destroyed before the memory, and waits then
};

/// Host callbacks of a run: fetches each bucket of weights during the work with the one before it, and waits for it
/// before the first launch that reads it.
template <class Weights> class FetchWeights final : public compile::HostCallback {
public:
  FetchWeights(Weights& weights, const GatherPlan& plan) : weights_{&weights}, plan_{&plan} {
    std::vector<int> places{};
    for (const Gathered& fetch : plan.fetches) {
      places.push_back(fetch.fetched);
      places.push_back(fetch.first);
    }
    set_places(std::move(places));
  }

  void act(int place, const compile::Binding&) override {
    for (const Gathered& fetch : plan_->fetches)
      if (fetch.fetched == place) weights_->start(static_cast<std::size_t>(fetch.bucket));
    for (const Gathered& fetch : plan_->fetches)
      if (fetch.first == place) weights_->wait(static_cast<std::size_t>(fetch.bucket));
  }

private:
  Weights* weights_;
  const GatherPlan* plan_;
};

}}}} // namespace twill::v0::parallel::TWILL_ISA
