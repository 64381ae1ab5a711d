#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/threads/mailbox.hpp.

#include <twill/parallel/threads/mailbox.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY ThreadMailbox::Ticket ThreadMailbox::post(const Call& call, int rank) {
  auto message = std::make_shared<Message>(Message{call, rank});
  std::unique_lock lock(group_.mutex());
  group_.throw_if_failed();
  std::size_t met = 0;
  while (met < waiting_.size() && !are_two_sides(*message, *waiting_[met])) ++met;
  if (met == waiting_.size()) {
    if (group_.progress(call.peer).has_left) group_.fail_for_leaving(call.peer);
    group_.throw_if_failed();
    waiting_.push_back(message);
    return message;
  }
  const Ticket other = waiting_[met];
  require_same_size(*message, *other);
  withdraw(other);
  other->state = Message::State::copying;
  lock.unlock();
  const Call& send = call.operation == Operation::send ? call : other->call;
  const Call& receive = call.operation == Operation::send ? other->call : call;
  if (send.source.data != nullptr && receive.target.data != nullptr && send.source.bytes() > 0)
    std::memcpy(receive.target.data, send.source.data, send.source.bytes());
  lock.lock();
  message->finished_s = other->finished_s = steady_seconds();
  message->state = other->state = Message::State::done;
  group_.changed().notify_all();
  return message;
}

TWILL_BODY void ThreadMailbox::wait(const Ticket& message) {
  const Moment deadline = after_ms(group_.timeout_ms());
  std::unique_lock lock(group_.mutex());
  try {
    while (message->state != Message::State::done) {
      if (message->state == Message::State::copying) {
        group_.changed().wait(lock);
        continue;
      }
      group_.throw_if_failed();
      if (group_.progress(message->call.peer).has_left) {
        group_.fail_for_leaving(message->call.peer);
      } else if (!group_.changed().wait_until(lock, deadline) && message->state == Message::State::waiting) {
        group_.fail_for_silence(message->rank, message->call);
      }
    }
  } catch (...) {
    withdraw(message);
    throw;
  }
}

TWILL_BODY bool ThreadMailbox::is_done(const Ticket& message) {
  const std::lock_guard lock(group_.mutex());
  return message->state == Message::State::done;
}

TWILL_BODY bool ThreadMailbox::are_two_sides(const Message& left, const Message& right) {
  return left.rank == right.call.peer && left.call.peer == right.rank && left.call.tag == right.call.tag &&
         left.call.operation != right.call.operation;
}

TWILL_BODY void ThreadMailbox::withdraw(const Ticket& message) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < waiting_.size(); ++i)
    if (waiting_[i] != message) std::swap(waiting_[kept++], waiting_[i]);
  while (waiting_.size() > kept) waiting_.pop_back();
}

TWILL_BODY void ThreadMailbox::require_same_size(const Message& left, const Message& right) {
  const Signature mine = signature_of(left.call, group_.size());
  const Signature theirs = signature_of(right.call, group_.size());
  if (mine.count == theirs.count && mine.dtype == theirs.dtype) return;
  group_.fail_for_sides(left.rank, left.call, right.rank, right.call);
  group_.throw_if_failed();
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
