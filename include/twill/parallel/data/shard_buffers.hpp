#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Buffers that a model writes in its run, such as running statistics, where one rank runs several shards: each shard
// finds the values from before the step, those that shard 0 writes stay, and those of the others are dropped, like
// those of replicas other than the first. Not in twill.hpp. Read next: parallel/data/reproducible_step.hpp.

#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/nn/network_state.hpp>
#include <twill/parallel/data/whole_weights.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// The parameters of a program that are buffers which it writes, by their numbers.
[[nodiscard]] std::vector<std::size_t> written_buffers(const compile::TableView& table);

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Copies of the buffers that a program writes, for the shards of one rank.
template <ComputeDevice D> class ShardBuffers {
public:
  explicit ShardBuffers(const compile::TableView& table) : numbers_{detail::written_buffers(table)} {}

  [[nodiscard]] bool empty() const { return numbers_.empty(); }

  /// Keeps the values from before the step. `count` shards run at once, and each has a copy.
  void begin(const nn::NetworkState<D>& network, std::size_t count) {
    if (copies_.size() < count) copies_.resize(count);
    make(network, before_);
    for (std::size_t i = 0; i < numbers_.size(); ++i) copy(before_[i], network.buffers[numbers_[i]]);
  }

  /// The parameters of the run of a shard: shard 0 has those given, another one copy number `place` of the buffers.
  [[nodiscard]] std::vector<void*> parameters(const nn::NetworkState<D>& network, std::span<void* const> given,
                                              int shard, std::size_t place) {
    std::vector<void*> addresses(given.begin(), given.end());
    if (empty() || shard == 0) return addresses;
    make(network, copies_[place]);
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      copy(copies_[place][i], before_[i]);
      addresses[numbers_[i]] = copies_[place][i].data();
    }
    return addresses;
  }

private:
  using Values = std::vector<memory::Buffer<D>>;

  void make(const nn::NetworkState<D>& network, Values& values) const {
    for (std::size_t i = values.size(); i < numbers_.size(); ++i)
      values.emplace_back(network.device, network.buffers[numbers_[i]].bytes());
  }
  static void copy(const memory::Buffer<D>& to, const memory::Buffer<D>& from) {
    detail::copy_on(to.device(), to.data(), from.data(), from.bytes());
  }

  std::vector<std::size_t> numbers_;
  Values before_{};
  std::vector<Values> copies_{};
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/data/shard_buffers.ipp>
#endif
