#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Gradient buckets: runs of memory that one call sums over all ranks. A compiled backward pass determines in which
// order its results are finished and after which launch, so buckets are filled in that order, each is reduced during
// the rest of the pass, identically on every rank. A bucket holds one element type and is closed when it reaches its
// limit, the first of each type early (PyTorch's DDP, Li et al., 2020). Read next: parallel/data/distributed.hpp.

#include <twill/compile/run/host_callback.hpp>
#include <twill/core/config.hpp>
#include <twill/core/list.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Options of gradient buckets: the bytes at which one is closed and sent.
struct BucketOptions {
  std::int64_t first_bucket_bytes = std::int64_t{1} << 20; ///< of the first of each element type, which is sent early
  std::int64_t bucket_bytes = std::int64_t{25} << 20;      ///< of the others
};

/// One result of a program in its bucket, in elements of the bucket's type.
struct BucketEntry {
  int bucket = -1;
  std::int64_t offset = 0;
  std::int64_t count = 0;
};

struct Bucket {
  DType dtype = DType::float32;
  std::int64_t count = 0; ///< elements, including gaps between the entries
  bool is_whole = false;  ///< every rank gets all of it, though others are divided into parts

  [[nodiscard]] constexpr std::int64_t bytes() const { return count * static_cast<std::int64_t>(size_of(dtype)); }
};

/// The places of all results of a program; the entries in the order of the results.
struct Buckets {
  List<BucketEntry> entries{};
  List<Bucket> buckets{};

  constexpr Buckets() = default;
};

/// The first and the last write of a program to each bucket, as places of a `HostCallback`.
struct BucketPlaces {
  List<int> begun{};
  List<int> complete{};

  constexpr BucketPlaces() = default;
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// The value of each result of a table; -1 if there is none.
[[nodiscard]] constexpr List<int> output_values(const compile::TableView& table) {
  List<int> values(static_cast<std::size_t>(table.outputs), -1);
  for (std::size_t v = 0; v < table.values.size(); ++v)
    if (table.values[v].storage == compile::Storage::output) values.items[table.values[v].index] = static_cast<int>(v);
  return values;
}

/// The results in the order in which they are finished.
[[nodiscard]] constexpr List<int> finishing_order(const compile::TableView& table, const List<int>& values) {
  const auto finished = [&](int output) {
    return table.values[static_cast<std::size_t>(values[static_cast<std::size_t>(output)])].last_use;
  };
  List<int> order{};
  for (int output = 0; output < table.outputs; ++output) {
    order.push_back(output);
    for (std::size_t k = order.size() - 1; k > 0 && finished(order[k - 1]) > finished(output); --k) {
      order[k] = order[k - 1];
      order[k - 1] = output;
    }
  }
  return order;
}

[[nodiscard]] constexpr std::int64_t rounded_up(std::int64_t count, std::int64_t granule) {
  return (count + granule - 1) / granule * granule;
}

/// Buckets under construction: a tensor takes the next place in the open bucket of its type, which is closed when it
/// reaches its limit.
class BucketFiller {
public:
  /// Tensors begin at multiples of `line` bytes, or right after each other.
  constexpr explicit BucketFiller(const BucketOptions& options, std::int64_t line = 64)
      : options_{options}, line_{line} {}

  constexpr BucketEntry add(DType dtype, std::int64_t count) {
    std::size_t type = 0;
    while (type < open_.size() && open_[type].dtype != dtype) ++type;
    if (type == open_.size()) open_.push_back({dtype, -1, true});
    Open& open = open_[type];
    if (open.bucket < 0) {
      open.bucket = static_cast<int>(buckets_.size());
      buckets_.push_back({dtype, 0});
    }
    Bucket& bucket = buckets_[static_cast<std::size_t>(open.bucket)];
    const BucketEntry entry{open.bucket, bucket.count, count};
    bucket.count += rounded_up(count, granule(dtype));
    if (bucket.bytes() >= (open.is_first ? options_.first_bucket_bytes : options_.bucket_bytes))
      open = {dtype, -1, false};
    return entry;
  }
  /// A tensor in a bucket of its own, which is not divided into parts.
  constexpr BucketEntry add_whole(DType dtype, std::int64_t count) {
    buckets_.push_back({dtype, rounded_up(count, granule(dtype)), true});
    return {static_cast<int>(buckets_.size()) - 1, 0, count};
  }
  /// The buckets, which can be divided into this number of parts.
  [[nodiscard]] constexpr List<Bucket> finished(int parts) const {
    List<Bucket> result = buckets_;
    for (Bucket& bucket : result)
      if (!bucket.is_whole) bucket.count = rounded_up(bucket.count, (parts > 0 ? parts : 1) * granule(bucket.dtype));
    return result;
  }

private:
  struct Open {
    DType dtype;
    int bucket;    ///< -1 after the last was closed
    bool is_first; ///< of its type
  };
  [[nodiscard]] constexpr std::int64_t granule(DType dtype) const {
    const auto size = static_cast<std::int64_t>(size_of(dtype));
    return line_ > size ? line_ / size : 1;
  }

  BucketOptions options_;
  std::int64_t line_;
  List<Open> open_{};
  List<Bucket> buckets_{};
};

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// The places where a table's program begins and finishes each bucket.
[[nodiscard]] constexpr BucketPlaces places_of(const compile::TableView& table, const Buckets& buckets) {
  const auto end = static_cast<int>(table.instructions.size());
  BucketPlaces places{};
  places.begun = List<int>(buckets.buckets.size(), end);
  places.complete = List<int>(buckets.buckets.size(), 0);
  const List<int> values = detail::output_values(table);
  for (std::size_t output = 0; output < values.size(); ++output) {
    const compile::ValueInfo& value = table.values[static_cast<std::size_t>(values[output])];
    const int bucket = buckets.entries[output].bucket;
    const int begun = compile::place_before(table, value.first_use);
    const int complete = compile::place_after(table, value.last_use);
    if (begun < places.begun.items[bucket]) places.begun.items[bucket] = begun;
    if (complete > places.complete.items[bucket]) places.complete.items[bucket] = complete;
  }
  // Reduced in this order, whatever the program: other ranks may run another one.
  for (std::size_t i = 1; i < places.complete.size(); ++i)
    if (places.complete[i] < places.complete[i - 1]) places.complete[i] = places.complete[i - 1];
  return places;
}

/// Puts the results of a program, with static shapes, into buckets. Each begins on its own cache line; a bucket is a
/// multiple of `parts` times a cache line, so that it can be divided into equal parts; then result 0, the loss, stays
/// whole, in its own bucket. No parts: nothing is divided.
[[nodiscard]] constexpr Buckets fill_buckets(const compile::TableView& table, BucketOptions options = {},
                                             int parts = 0) {
  Buckets result{};
  result.entries = List<BucketEntry>(static_cast<std::size_t>(table.outputs), BucketEntry{});
  const List<int> values = detail::output_values(table);
  detail::BucketFiller filler{options};
  for (int output : detail::finishing_order(table, values)) {
    const compile::ValueInfo& value = table.values[static_cast<std::size_t>(values.items[output])];
    const std::int64_t count = value.shape.elements().factor;
    result.entries.items[output] =
        parts > 0 && output == 0 ? filler.add_whole(value.dtype, count) : filler.add(value.dtype, count);
  }
  result.buckets = filler.finished(parts);
  return result;
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
