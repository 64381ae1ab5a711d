#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Cuts an epoch's order into batches. The last one is smaller when the sizes do not divide, unless it is dropped; since
// gradients are weighted by rows, keeping it is right, and the default. Read next: data/loader.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace twill::inline v0::data::inline TWILL_ISA {

/// What happens to a last batch that is smaller than the others.
enum class LastBatch { keep, drop };

/// How many batches `samples` make.
[[nodiscard]] constexpr std::int64_t batch_count(std::int64_t samples, std::int64_t batch_size, LastBatch last) {
  return last == LastBatch::keep ? (samples + batch_size - 1) / batch_size : samples / batch_size;
}

/// The order of an epoch, seen as batches of indices.
class Batches {
public:
  /// Cuts an order into batches. throws: ValueError for a batch size below 1
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

} // namespace twill::inline v0::data::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/data/batching.ipp>
#endif
