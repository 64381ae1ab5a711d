#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Captured graphs of one binding. A graph has frozen its addresses and the place of its rows in the batch; it serves a
// run in which all of these are equal. The first run of a kind is always plain: libraries make their handles and choose
// their algorithms then. The second is captured, or the reason why it cannot be is kept. Read next:
// compile/run/gpu/capture.hpp.

#include <twill/core/config.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/memory/gpu/capture.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace twill { inline namespace v0 { namespace compile {

/// The frozen values of a captured run, besides its numbers' block.
struct FrozenAddresses {
  const void* arena = nullptr;
  std::int64_t first_row = 0; ///< 0 where nothing is drawn
  std::span<void* const> parameters{};
  std::span<void* const> outputs{};
  std::span<void* const> inputs{}; ///< those with fixed addresses; others are copied to fixed places
};

/// One kind of run, and its graph once there is one.
template <gpu::GpuDevice D> class StepGraph {
public:
  enum class State : unsigned char { unseen, seen, ready, refused };

  explicit StepGraph(const FrozenAddresses& frozen)
      : arena_{frozen.arena},
        first_row_{frozen.first_row},
        parameters_(frozen.parameters.begin(), frozen.parameters.end()),
        outputs_(frozen.outputs.begin(), frozen.outputs.end()),
        inputs_(frozen.inputs.begin(), frozen.inputs.end()) {}

  [[nodiscard]] bool is_for(const FrozenAddresses& frozen) const {
    const auto equal = [](const std::vector<void*>& own, std::span<void* const> other) {
      return std::equal(own.begin(), own.end(), other.begin(), other.end());
    };
    return arena_ == frozen.arena && first_row_ == frozen.first_row && equal(parameters_, frozen.parameters) &&
           equal(outputs_, frozen.outputs) && equal(inputs_, frozen.inputs);
  }

  State state = State::unseen;
  gpu::CapturedGraph<D> graph{}; ///< when ready; when refused it gives the reason

private:
  const void* arena_;
  std::int64_t first_row_;
  std::vector<void*> parameters_;
  std::vector<void*> outputs_;
  std::vector<void*> inputs_;
};

/// A few graphs, those that were used last.
template <gpu::GpuDevice D> class StepGraphs {
public:
  /// The record of a kind of run.
  StepGraph<D>& at(const FrozenAddresses& frozen) {
    for (std::size_t i = 0; i < graphs_.size(); ++i)
      if (graphs_[i]->is_for(frozen)) {
        std::rotate(graphs_.begin(), graphs_.begin() + static_cast<std::ptrdiff_t>(i),
                    graphs_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        return *graphs_.front();
      }
    if (graphs_.size() == most_graphs) graphs_.pop_back();
    graphs_.insert(graphs_.begin(), std::make_unique<StepGraph<D>>(frozen));
    return *graphs_.front();
  }

private:
  static constexpr std::size_t most_graphs = 32; ///< micro-batches of one step differ in their first row

  std::vector<std::unique_ptr<StepGraph<D>>> graphs_{};
};

}}} // namespace twill::v0::compile
