#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Execution of one rank's part of a schedule over any communicator. Sends and receives are started where the schedule
// has them and run in parallel with the computation; an action waits for the message it needs, a send for the one
// before it from the same stage, and nothing waits for anything else. So memory depends on the schedule, not on the
// speed of ranks; and since the schedule ends where every send waits, so does the run. The runner knows the computation
// of a stage and its tensors: this file sees only elements. Actions and messages are returned as events in seconds,
// which profile/gantt.hpp draws. Read next: parallel/pipeline/schedule/simulate.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/pipeline/schedule/schedule.hpp>
#include <twill/parallel/pipeline/schedule/timeline.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// The tensors sent between two stages at one time, one message each.
using Message = std::vector<parallel::Elements>;

/// Computes the stages of one rank. `input` and `output_gradient` return the memory to receive into, `output` and
/// `input_gradient` the elements to send; a stage whose neighbour is on the same rank finds its input itself.
/// `output_is_sent` and `input_gradient_is_sent` say that those elements may be used again. A runner for schedules that
/// split gradients has `run_input_gradient` and `run_weight_gradient` as well. One with `failed()` hears of the
/// current exception, which ends the run, before the group does.
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

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

template <StageRunner R> void compute(R& runner, const Action& action) {
  const Work work = action.work;
  const int stage = action.stage, micro_batch = action.micro_batch;
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

/// The message needed to start an action, if it comes from another rank.
[[nodiscard]] constexpr Action needed_message(const Action& action) {
  return {action.work == Work::forward ? Work::receive_forward : Work::receive_backward, action.stage,
          action.micro_batch};
}

/// A handle that knows when its call finished, after the wait; others are told when that was noticed.
template <class Handle>
concept knows_time = requires(const Handle& handle) {
  { handle.finished_s() } -> std::same_as<double>;
};

/// Messages in flight on one rank.
template <parallel::Communicator C, StageRunner R> class Messages {
  using Handle = decltype(std::declval<C&>().start(std::declval<const parallel::Call&>()));
  struct UnderWay {
    Action action;
    std::vector<Handle> handles;
    double start = 0;
    double seen = 0; ///< when its end was noticed
    std::int64_t bytes = 0;

    void begin(Handle handle, const parallel::Elements& elements) {
      handles.push_back(std::move(handle));
      bytes += static_cast<std::int64_t>(elements.bytes());
    }
    void look() {
      for (const Handle& handle : handles)
        if (!handle.is_done()) return;
      if (seen == 0) seen = steady_seconds();
    }
  };

public:
  Messages(const Schedule& schedule, C& communicator, R& runner)
      : schedule_{schedule}, communicator_{communicator}, runner_{runner} {}

  void start(const Action& action) {
    const auto [work, stage, micro_batch] = action;
    const int peer = schedule_.rank(counterpart(action).stage);
    using parallel::Call;
    if (is_sent(work)) {
      finish_sent(work, stage);
      UnderWay& message = sent_.emplace_back(UnderWay{action, {}, steady_seconds()});
      for (const parallel::Elements& elements :
           work == Work::send_forward ? runner_.output(stage, micro_batch) : runner_.input_gradient(stage, micro_batch))
        message.begin(communicator_.start(Call::send(elements, peer)), elements);
    } else {
      UnderWay& message = received_.emplace_back(UnderWay{action, {}, steady_seconds()});
      for (const parallel::Elements& elements : work == Work::receive_forward
                                                    ? runner_.input(stage, micro_batch)
                                                    : runner_.output_gradient(stage, micro_batch))
        message.begin(communicator_.start(Call::receive(elements, peer)), elements);
    }
  }

  /// Waits for a message, if it is one of those in flight.
  void wait_for(const Action& received) {
    for (std::size_t i = 0; i < received_.size(); ++i)
      if (received_[i].action == received) {
        finish(received_[i]);
        received_.erase(received_.begin() + static_cast<std::ptrdiff_t>(i));
        return;
      }
  }

  /// Records finished messages whose handles do not know the time.
  void look() {
    if constexpr (!knows_time<Handle>)
      for (std::vector<UnderWay>* messages : {&sent_, &received_})
        for (UnderWay& message : *messages) message.look();
  }

  /// Waits for all messages that are still being sent.
  void finish_sent() {
    for (UnderWay& message : sent_) give_back(message);
    sent_.clear();
  }

  /// The finished messages, in seconds of the steady clock.
  [[nodiscard]] const List<TimedAction>& finished() const { return finished_; }

private:
  /// Waits so that each stage has one message of a kind in flight: its memory is bounded, however late the receiver is.
  void finish_sent(Work work, int stage) {
    for (std::size_t i = 0; i < sent_.size(); ++i)
      if (sent_[i].action.work == work && sent_[i].action.stage == stage) {
        give_back(sent_[i]);
        sent_.erase(sent_.begin() + static_cast<std::ptrdiff_t>(i));
        return;
      }
  }
  void give_back(UnderWay& message) {
    finish(message);
    const auto [work, stage, micro_batch] = message.action;
    work == Work::send_forward ? runner_.output_is_sent(stage, micro_batch)
                               : runner_.input_gradient_is_sent(stage, micro_batch);
  }
  void finish(UnderWay& message) {
    double end = message.start;
    for (Handle& handle : message.handles) {
      handle.wait();
      if constexpr (knows_time<Handle>) end = std::max(end, handle.finished_s());
    }
    if constexpr (!knows_time<Handle>) end = message.seen > 0 ? message.seen : steady_seconds();
    finished_.push_back({communicator_.rank(), message.action, message.start, end, message.bytes});
  }

  const Schedule& schedule_;
  C& communicator_;
  R& runner_;
  std::vector<UnderWay> sent_{};
  std::vector<UnderWay> received_{};
  List<TimedAction> finished_{};
};

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// Carries out the schedule's part of the communicator's rank and returns when its part and its messages are done; the
/// events are in seconds since `origin`.
/// throws: ValueError if the group has another size; the runner's exception, after telling the group; CommunicatorError
/// naming the rank that failed
template <parallel::Communicator C, StageRunner R>
RankTimeline run(const Schedule& schedule, C& communicator, R& runner, double origin = steady_seconds()) {
  RankTimeline events;
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
      events.computed.push_back({rank, action, start, steady_seconds() - origin});
      messages.look();
    }
    messages.finish_sent();
  } catch (...) {
    if constexpr (requires { runner.failed(); }) runner.failed();
    communicator.fail(std::current_exception());
    throw;
  }
  for (TimedAction message : messages.finished()) {
    message.start -= origin;
    message.end -= origin;
    events.messages.push_back(message);
  }
  return events;
}

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA
