#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Runner of a single rank with peers: it tells ranks with the same stages when the gradients of a stage are complete,
// and all others of an exception that ends it. Read next: parallel/pipeline/run/rank_step.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/pipeline/run/runner.hpp>

#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace pipeline { namespace detail { inline namespace TWILL_ISA {

/// A runner that reports when the gradients of a stage are complete, `complete(stage)`, and reports an exception of an
/// action to the world before any other group: a group that only learns of it would be a worse witness.
template <class Runner, parallel::Communicator C, class Complete> class TellingRunner : public Runner {
public:
  template <class... Arguments>
  TellingRunner(C* world, Complete complete, int micro_batches, Arguments&&... arguments)
      : Runner(std::forward<Arguments>(arguments)...),
        world_{world},
        complete_{std::move(complete)},
        micro_batches_{micro_batches} {}

  void run_forward(int stage, int m) {
    told([&] { Runner::run_forward(stage, m); });
  }
  void run_backward(int stage, int m) {
    told([&] { Runner::run_backward(stage, m); });
    count(stage);
  }
  void run_input_gradient(int stage, int m) {
    told([&] { Runner::run_input_gradient(stage, m); });
  }
  void run_weight_gradient(int stage, int m) {
    told([&] { Runner::run_weight_gradient(stage, m); });
    count(stage);
  }

private:
  template <class F> void told(F f) {
    try {
      f();
    } catch (const parallel::CommunicatorError&) {
      throw; // already reported to the waiting ranks
    } catch (...) {
      if (world_ != nullptr) world_->fail(std::current_exception());
      throw;
    }
  }
  void count(int stage) {
    const auto number = static_cast<std::size_t>(stage);
    if (done_.size() <= number) done_.resize(number + 1, 0);
    if (++done_[number] == micro_batches_) complete_(number);
  }

  C* world_;
  Complete complete_;
  int micro_batches_;
  std::vector<int> done_{}; ///< micro-batches of each stage
};

}}}}} // namespace twill::v0::pipeline::detail::TWILL_ISA
