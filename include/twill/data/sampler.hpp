#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Samplers, the orders of an epoch's samples, and the batches that an order is cut into. Orders are pure functions of
// (seed, epoch, number of samples), equal on every machine, with any number of workers and after a restart, so a
// position in an epoch is one number. Shuffling is Fisher and Yates' algorithm in Durstenfeld's form (1964), driven by
// Philox. Read next: data/loader.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/philox.hpp>
#include <twill/core/text.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace data { inline namespace TWILL_ISA {

/// The order of an epoch: indices below `size`. A compiler cannot check that equal arguments give equal orders.
template <class S>
concept Sampler = requires(const S& sampler, std::int64_t size, std::int64_t epoch) {
  { sampler.order(size, epoch) } -> std::same_as<std::vector<std::int64_t>>;
};

/// 0, 1, 2, ...
struct SequentialSampler {
  [[nodiscard]] std::vector<std::int64_t> order(std::int64_t size, std::int64_t /*epoch*/) const;
};

/// Each sample once, in an order that a seed and the epoch decide. For i = size - 1 down to 1, the elements i and j are
/// exchanged, where j = draw(i) mod (i + 1) and draw(i) are the two low words (the first the lower) of Philox 4x32-10
/// with counter (i low, i high, epoch low, epoch high) and the seed as key. The remainder prefers small j by less than
/// size / 2^64.
struct ShuffledSampler {
  std::uint64_t seed = 0; ///< the same seed gives the same orders

  [[nodiscard]] std::vector<std::int64_t> order(std::int64_t size, std::int64_t epoch) const;

private:
  [[nodiscard]] std::uint64_t draw(std::uint64_t i, std::uint64_t epoch) const;
};

/// The first `count` samples of the inner order: short epochs, with other samples in each if the inner order is
/// shuffled.
template <Sampler Inner> struct LimitedSampler {
  Inner inner{};          ///< whose order is cut
  std::int64_t count = 0; ///< samples in an epoch

  [[nodiscard]] std::vector<std::int64_t> order(std::int64_t size, std::int64_t epoch) const {
    if (count < 0) throw ValueError("LimitedSampler: count is at least 0, got " + std::to_string(count));
    auto indices = inner.order(size, epoch);
    if (count < static_cast<std::int64_t>(indices.size())) indices.resize(static_cast<std::size_t>(count));
    return indices;
  }
};
/// Deduced from the inner sampler.
template <Sampler Inner, class... Rest> LimitedSampler(Inner, Rest...) -> LimitedSampler<Inner>; // clang 16 has none

/// The use of the samples left over when the size is no multiple of the number of ranks.
enum class Leftover {
  repeat, ///< The order starts again until all ranks have equally many: gradients can be averaged.
  drop,   ///< They are left out in this epoch: equally many as well, and no sample twice.
  keep,   ///< The first ranks get one more: every sample once, and gradients have to be weighted by rows.
};

/// The share of one of several ranks: positions rank, rank + ranks, rank + 2 ranks, ... of the inner order.
template <Sampler Inner> struct ShardedSampler {
  Inner inner{};                        ///< whose order is shared
  int rank = 0;                         ///< from 0
  int ranks = 1;                        ///< how many there are
  Leftover leftover = Leftover::repeat; ///< for samples that do not divide evenly

  [[nodiscard]] std::vector<std::int64_t> order(std::int64_t size, std::int64_t epoch) const {
    if (ranks < 1 || rank < 0 || rank >= ranks)
      throw ValueError("ShardedSampler: rank is in [0, ranks), got rank " + std::to_string(rank) + " of " +
                       std::to_string(ranks));
    const auto whole = inner.order(size, epoch);
    const auto count = static_cast<std::int64_t>(whole.size());
    const std::int64_t even = leftover == Leftover::drop ? count / ranks * ranks : (count + ranks - 1) / ranks * ranks;
    const std::int64_t end = leftover == Leftover::keep ? count : (count == 0 ? 0 : even);
    std::vector<std::int64_t> share;
    share.reserve(static_cast<std::size_t>((end + ranks - 1) / ranks));
    for (std::int64_t position = rank; position < end; position += ranks)
      share.push_back(whole[static_cast<std::size_t>(position % count)]);
    return share;
  }
};

/// Whether an epoch keeps a last batch that is smaller than the others. Gradients are weighted by rows, so keeping it
/// is right.
enum class LastBatch { keep, drop };

/// How many batches `samples` make.
[[nodiscard]] constexpr std::int64_t batch_count(std::int64_t samples, std::int64_t batch_size, LastBatch last) {
  return last == LastBatch::keep ? (samples + batch_size - 1) / batch_size : samples / batch_size;
}

/// The order of an epoch, cut into batches of indices.
class Batches {
public:
  /// throws: ValueError for a batch size below 1
  Batches(std::vector<std::int64_t> order, std::int64_t batch_size, LastBatch last);

  /// How many batches there are.
  [[nodiscard]] std::int64_t count() const { return count_; }

  /// The indices of one batch, valid as long as this object. requires: 0 <= batch < count()
  [[nodiscard]] std::span<const std::int64_t> operator[](std::int64_t batch) const;

private:
  std::vector<std::int64_t> order_;
  std::int64_t batch_size_;
  std::int64_t count_ = 0;
};

}}}} // namespace twill::v0::data::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/data/sampler.ipp>
#endif
