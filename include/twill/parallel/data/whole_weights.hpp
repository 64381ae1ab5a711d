#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Whole weights of a step whose ranks update a part of each: after an update the other ranks' parts return through the
// buckets. For ranks that hold only their parts see parallel/data/weight_parts.hpp. Read next: parallel/data/zero.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/data/bucket_memory.hpp>
#include <twill/parallel/data/shards.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// Calls `f(result, parameter)` for each trainable weight: weight k is result k + 1 of a program of gradients.
template <ComputeDevice D, class F> void for_each_weight(const nn::NetworkState<D>& network, const F& f) {
  std::size_t output = 0;
  for (std::size_t i = 0; i < network.infos.size(); ++i)
    if (network.infos[i].role == graph::Role::weight) f(++output, i);
}

/// Calls `f(result, parameter)` for each trainable weight of one bucket.
template <ComputeDevice D, class F>
void for_each_weight(const nn::NetworkState<D>& network, const Buckets& layout, std::size_t bucket, const F& f) {
  for_each_weight(network, [&](std::size_t output, std::size_t i) {
    if (static_cast<std::size_t>(layout.entries[output].bucket) == bucket) f(output, i);
  });
}

/// Copies within a device; nothing if there are no bytes.
template <ComputeDevice D> void copy_on(const D& device, void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) copy_bytes(device, to, device, from, bytes, CopyOptions{});
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// The weights in the network's memory.
template <class Model, ComputeDevice D> class WholeWeights {
public:
  explicit WholeWeights(Model& model) : network_{model.module().state().get()} {}

  /// Element `first` of the weight whose gradient is a result.
  [[nodiscard]] void* part_address(std::size_t output, std::size_t parameter, std::int64_t first) const {
    static_cast<void>(output);
    return static_cast<std::byte*>(network_->buffers[parameter].data()) +
           static_cast<std::size_t>(first) * size_of(network_->infos[parameter].dtype);
  }

  /// All weights and buffers, for a forward and a backward pass.
  [[nodiscard]] std::span<void* const> addresses() const { return network_->addresses(); }

  /// After an update of the parts: fetches the other ranks'. Each bucket is unpacked during the transfer of the next.
  template <class Memory> void finish_update(Memory& memory, const std::vector<Part>& parts) const {
    std::size_t under_way = memory.size();
    for (std::size_t bucket = 0; bucket < memory.size(); ++bucket) {
      if (memory.layout().buckets[bucket].is_whole) continue;
      detail::for_each_weight(*network_, memory.layout(), bucket, [&](std::size_t output, std::size_t i) {
        const Part& own = parts[output - 1];
        detail::copy_on(network_->device, memory.part_address(output, own.begin), part_address(output, i, own.begin),
                        static_cast<std::size_t>(own.count()) * size_of(network_->infos[i].dtype));
      });
      memory.start_gather(bucket);
      if (under_way < memory.size()) unpack(memory, parts, under_way);
      under_way = bucket;
    }
    if (under_way < memory.size()) unpack(memory, parts, under_way);
  }

  /// The device memory of the weights, before anything runs.
  [[nodiscard]] static std::int64_t bytes(const compile::TableView& table, const Buckets&, int) {
    return compile::memory_use(table, {}).weights;
  }

private:
  template <class Memory> void unpack(Memory& memory, const std::vector<Part>& parts, std::size_t bucket) const {
    memory.wait(bucket);
    detail::for_each_weight(*network_, memory.layout(), bucket, [&](std::size_t output, std::size_t i) {
      const Part& own = parts[output - 1];
      const std::size_t size = size_of(network_->infos[i].dtype);
      const auto* const all = static_cast<const std::byte*>(memory.addresses()[output]);
      auto* const weight = static_cast<std::byte*>(network_->buffers[i].data());
      const auto begin = static_cast<std::size_t>(own.begin) * size;
      const auto end = static_cast<std::size_t>(own.end) * size;
      const auto count = static_cast<std::size_t>(memory.layout().entries[output].count) * size;
      detail::copy_on(network_->device, weight, all, begin);
      detail::copy_on(network_->device, weight + end, all + end, count - end);
    });
  }

  nn::NetworkState<D>* network_;
};

}}}} // namespace twill::v0::parallel::TWILL_ISA
