#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Carries out one rank's part of a schedule over any communicator. Sends and receives are started where the schedule has
// them and run beside the computation; an action waits for the message it needs and for nothing else. What a stage computes
// and where its tensors lie is the runner's: this file knows elements only. What was done comes back as events in seconds,
// which profile/gantt.hpp draws. Read next: parallel/pipeline/transfers.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/parallel/communicator.hpp>
#include <twill/parallel/pipeline/schedule.hpp>
#include <twill/parallel/pipeline/simulate.hpp>

#include <cstddef>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace twill::inline v0::pipeline::inline TWILL_ISA {

/// What passes between two stages at one time: so many tensors, one message each.
using Message = std::vector<parallel::Elements>;

/// What computes the stages of one rank. `input` and `output_gradient` give the memory to receive into, `output` and
/// `input_gradient` what is to be sent; a stage whose neighbour is on the same rank finds its input by itself. `output_is_sent`
/// and `input_gradient_is_sent` tell that those elements may be used again. A runner for schedules that split gradients
/// has `run_input_gradient` and `run_weight_gradient` as well.
template <class R>
concept StageRunner = requires(R& runner, int stage, int micro_batch) {
  runner.run_forward(stage, micro_batch);
  runner.run_backward(stage, micro_batch);
  { runner.input(stage, micro_batch) } -> std::same_as<Message>;
  { runner.output(stage, micro_batch) } -> std::same_as<Message>;
  { runner.output_gradient(stage, micro_batch) } -> std::same_as<Message>;
  { runner.input_gradient(stage, micro_batch) } -> std::same_as<Message>;
  runner.output_is_sent(stage, micro_batch);
  runner.input_gradient_is_sent(stage, micro_batch);
};

} // namespace twill::inline v0::pipeline::inline TWILL_ISA

namespace twill::inline v0::pipeline::detail::inline TWILL_ISA {

template <StageRunner R> void compute(R& runner, const Action& action) {
  const auto [work, stage, micro_batch] = action;
  if (work == Work::forward) return runner.run_forward(stage, micro_batch);
  if (work == Work::backward) return runner.run_backward(stage, micro_batch);
  if constexpr (requires { runner.run_weight_gradient(stage, micro_batch); }) {
    if (work == Work::input_gradient) return runner.run_input_gradient(stage, micro_batch);
    return runner.run_weight_gradient(stage, micro_batch);
  } else {
    throw ValueError("pipeline::run: the schedule splits gradients (" + to_string(action) +
                     ") and the runner computes them whole");
  }
}

/// The message that an action cannot start without, if it comes from another rank.
[[nodiscard]] constexpr Action needed_message(const Action& action) {
  return {action.work == Work::forward ? Work::receive_forward : Work::receive_backward, action.stage,
          action.micro_batch};
}

/// Messages under way on one rank.
template <parallel::Communicator C, StageRunner R> class Messages {
  using Handle = decltype(std::declval<C&>().start(std::declval<const parallel::Call&>()));
  struct UnderWay {
    Action action;
    std::vector<Handle> handles;
  };

public:
  Messages(const Schedule& schedule, C& communicator, R& runner)
      : schedule_{schedule}, communicator_{communicator}, runner_{runner} {}

  void start(const Action& action) {
    const auto [work, stage, micro_batch] = action;
    const int peer = schedule_.rank(counterpart(action).stage);
    using parallel::Call;
    if (is_sent(work)) {
      UnderWay& message = sent_.emplace_back(UnderWay{action, {}});
      for (const parallel::Elements& elements :
           work == Work::send_forward ? runner_.output(stage, micro_batch) : runner_.input_gradient(stage, micro_batch))
        message.handles.push_back(communicator_.start(Call::send(elements, peer)));
    } else {
      UnderWay& message = received_.emplace_back(UnderWay{action, {}});
      for (const parallel::Elements& elements : work == Work::receive_forward
                                                    ? runner_.input(stage, micro_batch)
                                                    : runner_.output_gradient(stage, micro_batch))
        message.handles.push_back(communicator_.start(Call::receive(elements, peer)));
    }
  }

  /// Waits for a message, if it is one of those under way.
  void wait_for(const Action& received) {
    for (std::size_t i = 0; i < received_.size(); ++i)
      if (received_[i].action == received) {
        for (Handle& handle : received_[i].handles) handle.wait();
        received_.erase(received_.begin() + static_cast<std::ptrdiff_t>(i));
        return;
      }
  }

  /// Gives back the elements of messages that have arrived; waits for all of them at the end.
  void settle_sent(bool all) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      bool is_done = true;
      for (const Handle& handle : sent_[i].handles) is_done = is_done && handle.is_done();
      if (!all && !is_done) {
        if (kept != i) sent_[kept] = std::move(sent_[i]);
        ++kept;
        continue;
      }
      for (Handle& handle : sent_[i].handles) handle.wait();
      const auto [work, stage, micro_batch] = sent_[i].action;
      work == Work::send_forward ? runner_.output_is_sent(stage, micro_batch)
                                 : runner_.input_gradient_is_sent(stage, micro_batch);
    }
    sent_.erase(sent_.begin() + static_cast<std::ptrdiff_t>(kept), sent_.end());
  }

private:
  const Schedule& schedule_;
  C& communicator_;
  R& runner_;
  std::vector<UnderWay> sent_{};
  std::vector<UnderWay> received_{};
};

} // namespace twill::inline v0::pipeline::detail::inline TWILL_ISA

namespace twill::inline v0::pipeline::inline TWILL_ISA {

/// Carries out what the schedule has for the communicator's rank and returns when its part and its messages are done; the
/// events are in seconds since `origin`.
/// throws: ValueError where the group has another size; what the runner throws, after telling the group; CommunicatorError
/// naming the rank that failed
template <parallel::Communicator C, StageRunner R>
List<TimedAction> run(const Schedule& schedule, C& communicator, R& runner, double origin = steady_seconds()) {
  List<TimedAction> events;
  if (communicator.size() != schedule.ranks)
    throw ValueError("pipeline::run: the schedule has " + std::to_string(schedule.ranks) + " ranks, the communicator " +
                     std::to_string(communicator.size()));
  const int rank = communicator.rank();
  detail::Messages<C, R> messages{schedule, communicator, runner}; // outlives the failure that ends its waits
  try {
    for (const Action& action : schedule.order(rank)) {
      if (!is_computed(action.work)) {
        messages.start(action);
        continue;
      }
      if (action.work != Work::weight_gradient) messages.wait_for(detail::needed_message(action));
      const double start = steady_seconds() - origin;
      detail::compute(runner, action);
      events.push_back({rank, action, start, steady_seconds() - origin});
      messages.settle_sent(false);
    }
    messages.settle_sent(true);
  } catch (...) {
    communicator.fail(std::current_exception());
    throw;
  }
  return events;
}

} // namespace twill::inline v0::pipeline::inline TWILL_ISA
