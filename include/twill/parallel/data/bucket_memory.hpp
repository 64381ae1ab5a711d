#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Gradient buckets of one rank, and the calls that reduce them during the backward pass: after the launch that finishes
// a bucket its reduction starts, in the order of the buckets on every rank; the launch that reads or overwrites it
// waits for it. If only parts of the reduced gradients are kept, buckets share memory: a bucket lives until the next
// one is complete, so that it can be reduced meanwhile. Read next: parallel/data/distributed_step.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/memory/offsets.hpp>
#include <twill/parallel/data/buckets.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/rank_sums.hpp>
#include <twill/tensor/create.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// The share of the reduced gradients that a rank receives and keeps.
enum class Kept : std::uint8_t {
  all,      ///< all of them
  part,     ///< its part, in buckets that exist as a whole
  part_only ///< its part; buckets exist while needed
};

/// Offsets of buckets, in bytes.
struct BucketOffsets {
  List<std::int64_t> offsets{};
  std::int64_t bytes = 0;
  std::int64_t part_bytes = 0; ///< of the parts, if they have memory of their own

  constexpr BucketOffsets() = default;
};

/// Lays out buckets of a program. With `Kept::part_only` a bucket shares memory with any that begins after its
/// successor is complete; whole ones live to the end.
[[nodiscard]] constexpr BucketOffsets lay_out(const compile::TableView& table, const Buckets& buckets, Kept kept,
                                              int ranks) {
  BucketOffsets result{};
  const BucketPlaces places = places_of(table, buckets);
  List<memory::Lifetime> lifetimes{};
  for (std::size_t i = 0; i < buckets.buckets.size(); ++i) {
    const Bucket& bucket = buckets.buckets[i];
    result.offsets.push_back(result.bytes);
    result.bytes += bucket.bytes();
    if (!bucket.is_whole) result.part_bytes += bucket.bytes() / ranks;
    int last = static_cast<int>(table.instructions.size());
    for (std::size_t next = i + 1; next < buckets.buckets.size() && !bucket.is_whole; ++next) {
      if (buckets.buckets[next].is_whole) continue;
      last = places.complete[next] - 1;
      break;
    }
    if (last < places.complete[i]) last = places.complete[i];
    // After the program the parts pass through all buckets again, except whole ones.
    lifetimes.push_back({bucket.bytes(), bucket.is_whole ? 0 : places.begun[i], last});
  }
  if (kept != Kept::part_only) {
    result.part_bytes = 0;
    return result;
  }
  const memory::OffsetPlan plan = memory::plan_offsets(lifetimes, 64);
  for (std::size_t i = 0; i < lifetimes.size(); ++i) result.offsets[i] = plan.offsets[i];
  result.bytes = plan.total_bytes;
  return result;
}

/// The buckets of a rank in the memory of its device. `Model` starts calls: `model.start(call)`.
template <class Model, ComputeDevice D> class BucketMemory {
  using Handle = decltype(std::declval<Model&>().start(std::declval<const Call&>()));

public:
  BucketMemory(Model& model, D device, const compile::TableView& table, Buckets buckets, Kept kept)
      : model_{&model},
        layout_{std::move(buckets)},
        kept_{kept},
        places_{lay_out(table, layout_, kept, model.size())},
        memory_{device, static_cast<std::size_t>(places_.bytes)},
        parts_{device, static_cast<std::size_t>(places_.part_bytes)} {
    for (std::size_t bucket = 0; bucket < size(); ++bucket) clear(bucket); // gaps between entries are summed, too
    pending_.resize(size());
    std::size_t part = 0;
    for (std::size_t bucket = 0; bucket < size(); ++bucket) {
      part_offsets_.push_back(part);
      if (!layout_.buckets[bucket].is_whole)
        part += static_cast<std::size_t>(layout_.buckets[bucket].bytes()) / ranks();
    }
    for (const BucketEntry& entry : layout_.entries)
      addresses_.push_back(at(elements(static_cast<std::size_t>(entry.bucket)), entry.offset));
  }

  BucketMemory(const BucketMemory&) = delete;
  BucketMemory& operator=(const BucketMemory&) = delete;

  [[nodiscard]] Model& model() const { return *model_; }
  [[nodiscard]] const Buckets& layout() const { return layout_; }
  [[nodiscard]] std::size_t size() const { return layout_.buckets.size(); }

  /// Whether buckets reuse the memory of others.
  [[nodiscard]] bool shares_memory() const { return kept_ == Kept::part_only; }

  /// The addresses of all results, in their order.
  [[nodiscard]] std::span<void* const> addresses() const { return addresses_; }

  [[nodiscard]] Elements elements(std::size_t bucket) const {
    const Bucket& info = layout_.buckets[bucket];
    return {static_cast<std::byte*>(memory_.data()) + places_.offsets[bucket], info.count, info.dtype};
  }

  /// This rank's part of a bucket, if it is kept.
  [[nodiscard]] Elements part(std::size_t bucket) const {
    const Elements all = elements(bucket);
    const std::int64_t each = all.count / model_->size();
    if (kept_ == Kept::part_only)
      return {static_cast<std::byte*>(parts_.data()) + part_offsets_[bucket], each, all.dtype};
    return {at(all, each * model_->rank()), each, all.dtype};
  }

  /// This rank's part of a result, which begins with its element `first`.
  [[nodiscard]] void* part_address(std::size_t output, std::int64_t first) const {
    const BucketEntry& entry = layout_.entries[output];
    const Elements own = part(static_cast<std::size_t>(entry.bucket));
    return at(own, std::clamp<std::int64_t>(entry.offset + first - own.count * model_->rank(), 0, own.count));
  }

  /// The whole of a result.
  template <class T> [[nodiscard]] Tensor<T, D, Shape<dyn>> view(std::size_t output) const {
    return {memory_, static_cast<T*>(addresses_[output]), Dims(layout_.entries[output].count), Dims(1)};
  }

  /// Makes all gradients of a bucket zero.
  void clear(std::size_t bucket) const {
    const Elements all = elements(bucket);
    const auto count = static_cast<std::int64_t>(all.bytes() / sizeof(float));
    Tensor<float, D, Shape<dyn>>(memory_, static_cast<float*>(all.data), Dims(count), Dims(1)).fill(0.0f);
  }

  /// Begins to sum a bucket over all ranks.
  void start(std::size_t bucket) {
    const Elements all = elements(bucket);
    const bool is_cut = kept_ != Kept::all && !layout_.buckets[bucket].is_whole;
    pending_[bucket].emplace(model_->start(is_cut ? Call::reduce_scatter(all, part(bucket)) : Call::all_reduce(all)));
  }

  /// Begins to sum a bucket on a rank that adds nothing.
  void start_empty() {
    for (std::size_t bucket = 0; bucket < size(); ++bucket) {
      wait_for_memory_of(bucket);
      clear(bucket);
      start(bucket);
    }
  }

  /// Begins to fetch the parts of all ranks into a bucket.
  void start_gather(std::size_t bucket) {
    pending_[bucket].emplace(model_->start(Call::all_gather(part(bucket), elements(bucket))));
  }

  /// Returns when the started call is done. throws: CommunicatorError
  void wait(std::size_t bucket) {
    if (!pending_[bucket]) return;
    Handle handle = std::move(*pending_[bucket]);
    pending_[bucket].reset();
    handle.wait();
  }
  void wait_for_all() {
    for (std::size_t bucket = 0; bucket < size(); ++bucket) wait(bucket);
  }

  /// Waits for the buckets whose memory another one will overwrite.
  void wait_for_memory_of(std::size_t bucket) {
    const std::int64_t begin = places_.offsets[bucket];
    const std::int64_t end = begin + layout_.buckets[bucket].bytes();
    for (std::size_t other = 0; other < size(); ++other)
      if (other != bucket && places_.offsets[other] < end &&
          places_.offsets[other] + layout_.buckets[other].bytes() > begin)
        wait(other);
  }

private:
  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(model_->size()); }
  [[nodiscard]] static void* at(const Elements& all, std::int64_t element) {
    return static_cast<std::byte*>(all.data) + static_cast<std::size_t>(element) * size_of(all.dtype);
  }

  Model* model_;
  Buckets layout_;
  Kept kept_;
  BucketOffsets places_;
  memory::Buffer<D> memory_;
  memory::Buffer<D> parts_;
  std::vector<std::size_t> part_offsets_{};
  std::vector<void*> addresses_{};
  std::vector<std::optional<Handle>> pending_{}; ///< destroyed before the memory, and waits then
};

/// Host callbacks of a backward pass: sums the model's sums over ranks, starts each bucket after the launch that
/// finishes it, and waits where another one reuses its memory.
template <class Memory> class StartBuckets final : public compile::HostCallback {
public:
  StartBuckets(Memory& memory, const compile::TableView& table, bool has_rows)
      : memory_{&memory}, places_{places_of(table, memory.layout())}, sums_{table}, has_rows_{has_rows} {
    std::vector<int> places{places_.complete.begin(), places_.complete.end()};
    places.insert(places.end(), sums_.places().begin(), sums_.places().end());
    if (memory.shares_memory()) places.insert(places.end(), places_.begun.begin(), places_.begun.end());
    set_places(std::move(places));
  }

  void act(int place, const compile::Binding& binding) override {
    sums_.add_up(place, binding, [this](const Call& call) { memory_->model().run(call); });
    for (std::size_t bucket = 0; bucket < memory_->size(); ++bucket) {
      if (places_.complete[bucket] != place) continue;
      if (!has_rows_) memory_->clear(bucket); // a mean over no rows is not a number
      memory_->start(bucket);
    }
    for (std::size_t bucket = 0; bucket < memory_->size() && memory_->shares_memory(); ++bucket)
      if (places_.begun[bucket] == place) memory_->wait_for_memory_of(bucket);
  }

private:
  Memory* memory_;
  BucketPlaces places_;
  RankSums sums_;
  bool has_rows_;
};

/// Host callbacks of an update: waits for each bucket before the first launch that reads it. Input k is result k + 1.
template <class Memory> class AwaitBuckets final : public compile::HostCallback {
public:
  AwaitBuckets(Memory& memory, const compile::TableView& table)
      : memory_{&memory}, first_(memory.size(), static_cast<int>(table.instructions.size())) {
    for (const compile::ValueInfo& value : table.values) {
      if (value.storage != compile::Storage::input || value.first_use < 0) continue;
      const std::size_t output = static_cast<std::size_t>(value.index) + 1;
      if (output >= memory.layout().entries.size()) continue;
      int& first = first_[static_cast<std::size_t>(memory.layout().entries[output].bucket)];
      first = std::min(first, compile::place_before(table, value.first_use));
    }
    set_places(first_);
  }

  void act(int place, const compile::Binding&) override {
    for (std::size_t bucket = 0; bucket < first_.size(); ++bucket)
      if (first_[bucket] == place) memory_->wait(bucket);
  }

private:
  Memory* memory_;
  std::vector<int> first_;
};

}}}} // namespace twill::v0::parallel::TWILL_ISA
