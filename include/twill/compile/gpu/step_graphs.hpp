#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The captured graphs of one binding. A graph has frozen the addresses it works on and where its rows stand in the batch;
// a run is a graph's when all of that is equal. The first run of a sort is always plain: libraries make their handles and
// choose their algorithms then. The second is captured, and what could not be is remembered with the reason. Read next:
// compile/gpu/executor.hpp.

#include <twill/core/config.hpp>
#include <twill/device/gpu/runtime.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace twill::inline v0::compile {

/// What a captured run has frozen, beside its numbers' block.
struct FrozenAddresses {
  const void* arena = nullptr;
  std::int64_t first_row = 0; ///< 0 where nothing is drawn
  std::span<void* const> parameters{};
  std::span<void* const> outputs{};
};

/// One sort of run, and its graph once there is one.
template <gpu::Runtime R> class StepGraph {
public:
  enum class State : unsigned char { unseen, seen, ready, refused };

  explicit StepGraph(const FrozenAddresses& frozen)
      : arena_{frozen.arena},
        first_row_{frozen.first_row},
        addresses_(frozen.parameters.begin(), frozen.parameters.end()),
        parameter_count_{frozen.parameters.size()} {
    addresses_.insert(addresses_.end(), frozen.outputs.begin(), frozen.outputs.end());
  }
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;
  /// requires: its last launch is done
  ~StepGraph() {
    if (state == State::ready) static_cast<void>(R::destroy_graph(graph));
  }

  [[nodiscard]] bool is_for(const FrozenAddresses& frozen) const {
    const std::span all{addresses_};
    const auto equal = [](std::span<void* const> a, std::span<void* const> b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end());
    };
    return arena_ == frozen.arena && first_row_ == frozen.first_row &&
           equal(all.first(parameter_count_), frozen.parameters) &&
           equal(all.subspan(parameter_count_), frozen.outputs);
  }

  State state = State::unseen;
  typename R::Graph graph{}; ///< when ready
  std::string refusal{};     ///< why it was refused

private:
  const void* arena_;
  std::int64_t first_row_;
  std::vector<void*> addresses_;
  std::size_t parameter_count_;
};

/// A few of them, those that were used last.
template <gpu::Runtime R> class StepGraphs {
public:
  /// The record of a sort of run. `before_dropping()` is called before the oldest of too many is destroyed.
  template <class F> StepGraph<R>& at(const FrozenAddresses& frozen, F&& before_dropping) {
    for (std::size_t i = 0; i < graphs_.size(); ++i)
      if (graphs_[i]->is_for(frozen)) {
        std::rotate(graphs_.begin(), graphs_.begin() + static_cast<std::ptrdiff_t>(i),
                    graphs_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        return *graphs_.front();
      }
    if (graphs_.size() == most_graphs) {
      before_dropping();
      graphs_.pop_back();
    }
    graphs_.insert(graphs_.begin(), std::make_unique<StepGraph<R>>(frozen));
    return *graphs_.front();
  }

  [[nodiscard]] bool any_ready() const {
    return std::any_of(graphs_.begin(), graphs_.end(),
                       [](const auto& graph) { return graph->state == StepGraph<R>::State::ready; });
  }

private:
  static constexpr std::size_t most_graphs = 32; ///< micro-batches of one step differ in their first row

  std::vector<std::unique_ptr<StepGraph<R>>> graphs_{};
};

} // namespace twill::inline v0::compile
