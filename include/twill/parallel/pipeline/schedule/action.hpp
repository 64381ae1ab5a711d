#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Actions of a pipeline schedule, one rank at one time: compute a part of a stage on one micro-batch, or pass what a
// stage computed to the rank of its neighbour. Stages are numbered along the model, 0 first; a rank may hold several.
// The notation is the field's: `0F1` is stage 0, forward, micro-batch 1; B a whole backward pass, I its gradients by
// the input, W those by the weights; `0SEND_F1` sends what `0F1` made, `1RECV_F1` receives it. Read next:
// parallel/pipeline/schedule/schedule.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/list.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 {
namespace parallel { namespace pipeline {
}} // namespace parallel::pipeline
/// Programs say `pipeline::forward`.
namespace pipeline = parallel::pipeline;
}} // namespace twill::v0

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline {

/// A kind of action of a rank.
enum class Work : std::uint8_t {
  forward,
  backward,        ///< both gradients
  input_gradient,  ///< the one for which the stage before waits
  weight_gradient, ///< the one that no other action waits for
  send_forward,
  receive_forward,
  send_backward,
  receive_backward,
};
/// The number of kinds.
inline constexpr int kinds_of_work = 8;

/// The notation of schedules: F, I, W, B, SEND_F and so on.
[[nodiscard]] constexpr std::string_view letters(Work work) {
  constexpr std::string_view all[] = {"F", "B", "I", "W", "SEND_F", "RECV_F", "SEND_B", "RECV_B"};
  return all[static_cast<int>(work)];
}
/// Whether it computes; else it sends or receives.
[[nodiscard]] constexpr bool is_computed(Work work) { return work <= Work::weight_gradient; }
/// Whether it sends.
[[nodiscard]] constexpr bool is_sent(Work work) { return work == Work::send_forward || work == Work::send_backward; }

/// One action of a rank.
struct Action {
  Work work = Work::forward; ///< its kind
  int stage = 0;             ///< of the model, from 0
  int micro_batch = 0;       ///< from 0

  friend constexpr bool operator==(const Action&, const Action&) = default;
};

/// The forward pass of a stage.
[[nodiscard]] constexpr Action forward(int stage, int micro_batch) { return {Work::forward, stage, micro_batch}; }
/// The whole backward pass of a stage.
[[nodiscard]] constexpr Action backward(int stage, int micro_batch) { return {Work::backward, stage, micro_batch}; }
/// The part of a backward pass for which the stage before waits.
[[nodiscard]] constexpr Action input_gradient(int stage, int micro_batch) {
  return {Work::input_gradient, stage, micro_batch};
}
/// The rest of a backward pass, for which only the update waits.
[[nodiscard]] constexpr Action weight_gradient(int stage, int micro_batch) {
  return {Work::weight_gradient, stage, micro_batch};
}

/// The other end of a send or a receive.
[[nodiscard]] constexpr Action counterpart(const Action& action) {
  switch (action.work) {
  case Work::send_forward:
    return {Work::receive_forward, action.stage + 1, action.micro_batch};
  case Work::receive_forward:
    return {Work::send_forward, action.stage - 1, action.micro_batch};
  case Work::send_backward:
    return {Work::receive_backward, action.stage - 1, action.micro_batch};
  case Work::receive_backward:
    return {Work::send_backward, action.stage + 1, action.micro_batch};
  default:
    return action;
  }
}

/// An action in the notation of schedules: "1F0" is stage 1, forward, micro-batch 0.
[[nodiscard]] std::string to_string(const Action& action);

/// Reads actions in the notation above, with spaces or commas between them.
/// throws: ValueError for anything else
[[nodiscard]] constexpr List<Action> actions(std::string_view text) {
  List<Action> all;
  std::size_t at = 0;
  const auto number = [&] {
    const std::size_t first = at;
    std::int64_t value = 0;
    constexpr std::int64_t greatest = std::numeric_limits<int>::max();
    while (at < text.size() && text[at] >= '0' && text[at] <= '9' && value <= greatest)
      value = 10 * value + (text[at++] - '0');
    const auto place = [&] { return " at character " + std::to_string(first) + " of \"" + std::string{text} + "\""; };
    if (at == first) throw ValueError("pipeline::actions: expected a number" + place());
    if (value > greatest) throw ValueError("pipeline::actions: a number above " + std::to_string(greatest) + place());
    return static_cast<int>(value);
  };
  while (true) {
    while (at < text.size() && (text[at] == ' ' || text[at] == ',')) ++at;
    if (at == text.size()) return all;
    Action action;
    action.stage = number();
    int kind = kinds_of_work - 1; // the longest first: SEND_F contains F
    while (kind >= 0 && !text.substr(at).starts_with(letters(static_cast<Work>(kind)))) --kind;
    if (kind < 0)
      throw ValueError("pipeline::actions: expected F, B, I, W, SEND_ or RECV_ at character " + std::to_string(at) +
                       " of \"" + std::string{text} + "\"");
    action.work = static_cast<Work>(kind);
    at += letters(action.work).size();
    action.micro_batch = number();
    all.push_back(action);
  }
}

}}}} // namespace twill::v0::parallel::pipeline

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/schedule/action.ipp>
#endif
