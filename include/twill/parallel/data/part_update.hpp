#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Partial updates: a compiled update of weights, reduced to one rank's part of each, with the rule's states for only
// that part. The caller places gradients and weights; the states are here. A weight of one element is computed on all
// ranks; ranks that do not own it use stand-in memory, whose numbers stay zero. Read next: parallel/data/zero.hpp.

#include <twill/compile/plan/memory_use.hpp>
#include <twill/compile/run/executor.hpp>
#include <twill/compile/run/host_callback.hpp>
#include <twill/compile/table_for.hpp>
#include <twill/core/config.hpp>
#include <twill/parallel/data/sharded_state.hpp>
#include <twill/parallel/data/shards.hpp>
#include <twill/tensor/create.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// The update of `Source`, whose inputs are the gradients and whose parameters the weights, then the states.
template <class Source, ComputeDevice D> class PartUpdate {
  static constexpr std::size_t line = 64;

public:
  /// `parts[k]` is this rank's part of trainable weight k.
  PartUpdate(const nn::NetworkState<D>& network, std::vector<Part> parts, compile::Arena arena)
      : parts_{std::move(parts)},
        shorten_{parts_},
        executor_{network.device, table(), compile::TableFor<Source, D>::template kernels<team_t<D>>(), arena},
        state_{network, table().parameters, parts_},
        stand_ins_{network.device, static_cast<std::size_t>(stand_in_bytes(parts_))} {
    executor_.edit(shorten_);
    const auto count = static_cast<std::int64_t>(stand_ins_.bytes() / sizeof(float));
    Tensor<float, D, Shape<dyn>>(stand_ins_, static_cast<float*>(stand_ins_.data()), Dims(count), Dims(1)).fill(0.0f);
  }

  PartUpdate(const PartUpdate&) = delete;
  PartUpdate& operator=(const PartUpdate&) = delete;

  [[nodiscard]] static compile::TableView table() { return compile::TableFor<Source, D>::view(); }
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] ShardedState<D>& state() { return state_; }
  [[nodiscard]] const ShardedState<D>& state() const { return state_; }

  /// Updates the parts. `gradient_of(k, first)` is the address of element `first` of the gradient of trainable weight
  /// k, and `weight_of(k, i, first)` that of the weight itself, which is parameter i of the network.
  template <class Gradients, class Weights>
  void run(const nn::NetworkState<D>& network, std::span<const std::uint64_t> run_scalars,
           compile::HostCallback& callback, const Gradients& gradient_of, const Weights& weight_of) {
    read_.clear();
    written_.clear();
    auto* stand_in = static_cast<std::byte*>(stand_ins_.data());
    for (std::size_t i = 0; i < network.infos.size(); ++i) {
      written_.push_back(network.buffers[i].data());
      if (network.infos[i].role != graph::Role::weight) continue;
      const std::size_t k = read_.size();
      if (parts_[k].needs_stand_in()) {
        read_.push_back(stand_in);
        written_.back() = stand_in + line;
        stand_in += 2 * line;
      } else {
        read_.push_back(gradient_of(k, parts_[k].begin));
        written_.back() = weight_of(k, i, parts_[k].begin);
      }
    }
    written_.insert(written_.end(), state_.addresses().begin(), state_.addresses().end());
    executor_.run({}, {.inputs = read_,
                       .parameters = written_,
                       .run_scalars = run_scalars,
                       .callback = &callback,
                       .groups = &network.groups});
  }

  /// Its memory, before anything runs.
  [[nodiscard]] static compile::MemoryUse memory(const std::vector<Part>& parts) {
    compile::MemoryUse use = compile::memory_use(table(), {});
    use.states = compile::pool_bytes(ShardedState<D>::bytes(table().parameters, parts));
    use.kept = compile::pool_bytes(stand_in_bytes(parts));
    return use;
  }

private:
  /// A gradient and a weight for each one owned by another rank.
  [[nodiscard]] static std::int64_t stand_in_bytes(const std::vector<Part>& parts) {
    std::int64_t bytes = 0;
    for (const Part& part : parts)
      if (part.needs_stand_in()) bytes += 2 * line;
    return bytes;
  }

  std::vector<Part> parts_;
  ShortenUpdate shorten_;
  compile::Executor<D> executor_;
  ShardedState<D> state_;
  memory::Buffer<D> stand_ins_; ///< gradients, which stay zero, and weights, which therefore do
  std::vector<void*> read_{};
  std::vector<void*> written_{};
};

}}}} // namespace twill::v0::parallel::TWILL_ISA
