#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Shards of weights, the part of each that one rank updates. A bucket is divided into equal parts, one for each rank,
// independently of the weights in it. An update is elementwise in the weights, or sums over their elements, so the same
// program, with launches shortened to the parts, updates it: the bits equal those of a full update, unless something is
// summed. States exist only for the part, see parallel/data/sharded_state.hpp (Rajbhandari et al., ZeRO, 2020).

#include <twill/compile/run/executor.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/network.hpp>
#include <twill/parallel/data/buckets.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Elements [begin, end) of a weight.
struct Part {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t whole = 0; ///< elements of the weight

  [[nodiscard]] constexpr std::int64_t count() const { return end - begin; }

  /// Elements written by an update: launches for one element also compute numbers needed by all ranks, so every rank
  /// updates a weight of one element, in stand-in memory if it is another rank's.
  [[nodiscard]] constexpr std::int64_t updated() const { return whole == 1 ? 1 : count(); }
  [[nodiscard]] constexpr bool needs_stand_in() const { return whole == 1 && count() == 0; }
};

/// A rank's part of an entry of a bucket.
[[nodiscard]] constexpr Part part_of(const Buckets& buckets, const BucketEntry& entry, int rank, int ranks) {
  const std::int64_t each = buckets.buckets[static_cast<std::size_t>(entry.bucket)].count / ranks;
  const auto inside = [&](std::int64_t place) {
    return std::clamp<std::int64_t>(place - entry.offset, 0, entry.count);
  };
  return {inside(each * rank), inside(each * (rank + 1)), entry.count};
}

/// The parts of all trainable weights, in their order: weight k is result k + 1.
[[nodiscard]] std::vector<Part> parts_of(const Buckets& buckets, int rank, int ranks);

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// The trainable weight of a parameter of a table, or of a state of it; -1: none.
[[nodiscard]] int weight_of(std::span<const graph::ParameterInfo> infos, std::size_t parameter);

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Shortens the launches of an update to parts of the weights. Addresses of weights, gradients and states are then
/// those of the first element of the part.
class ShortenUpdate final : public compile::BindingEdit {
public:
  explicit ShortenUpdate(std::vector<Part> parts) : parts_{std::move(parts)} {}

  /// throws: ValueError for an update that mixes elements of a weight other than by a sum over all of them
  TWILL_BODY void apply(const compile::TableView& table, compile::Binding& binding) const override;

private:
  /// The weight of more than one element that corresponds elementwise to a value; -1: none.
  [[nodiscard]] int weight_of(const compile::TableView& table, std::size_t number,
                              const std::vector<int>& of_temporaries) const;

  [[noreturn]] static void refuse();

  std::vector<Part> parts_;
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/data/shards.ipp>
#endif
