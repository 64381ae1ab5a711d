#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/threads/mail.hpp.

#include <twill/parallel/threads/mail.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY ThreadMail::Ticket ThreadMail::post(const Call& call, int rank) {
  auto letter = std::make_shared<Letter>(Letter{call, rank});
  std::unique_lock lock(group_.mutex());
  group_.throw_if_failed();
  std::size_t met = 0;
  while (met < waiting_.size() && !are_two_sides(*letter, *waiting_[met])) ++met;
  if (met == waiting_.size()) {
    if (group_.progress(call.peer).has_left) group_.fail_for_leaving(call.peer);
    group_.throw_if_failed();
    waiting_.push_back(letter);
    return letter;
  }
  const Ticket other = waiting_[met];
  require_same_size(*letter, *other);
  withdraw(other);
  other->state = Letter::State::copying;
  lock.unlock();
  const Call& send = call.operation == Operation::send ? call : other->call;
  const Call& receive = call.operation == Operation::send ? other->call : call;
  if (send.source.data != nullptr && receive.target.data != nullptr && send.source.bytes() > 0)
    std::memcpy(receive.target.data, send.source.data, send.source.bytes());
  lock.lock();
  letter->finished_s = other->finished_s = steady_seconds();
  letter->state = other->state = Letter::State::done;
  group_.changed().notify_all();
  return letter;
}

TWILL_BODY void ThreadMail::wait(const Ticket& letter) {
  const Deadline deadline = deadline_after(group_.timeout_ms());
  std::unique_lock lock(group_.mutex());
  try {
    while (letter->state != Letter::State::done) {
      if (letter->state == Letter::State::copying) {
        group_.changed().wait(lock);
        continue;
      }
      group_.throw_if_failed();
      if (group_.progress(letter->call.peer).has_left) {
        group_.fail_for_leaving(letter->call.peer);
      } else if (group_.changed().wait_until(lock, deadline) == std::cv_status::timeout &&
                 letter->state == Letter::State::waiting) {
        group_.fail_for_silence(letter->rank, letter->call);
      }
    }
  } catch (...) {
    withdraw(letter);
    throw;
  }
}

TWILL_BODY bool ThreadMail::is_done(const Ticket& letter) {
  const std::lock_guard lock(group_.mutex());
  return letter->state == Letter::State::done;
}

TWILL_BODY bool ThreadMail::are_two_sides(const Letter& left, const Letter& right) {
  return left.rank == right.call.peer && left.call.peer == right.rank && left.call.tag == right.call.tag &&
         left.call.operation != right.call.operation;
}

TWILL_BODY void ThreadMail::withdraw(const Ticket& letter) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < waiting_.size(); ++i)
    if (waiting_[i] != letter) std::swap(waiting_[kept++], waiting_[i]);
  while (waiting_.size() > kept) waiting_.pop_back();
}

TWILL_BODY void ThreadMail::require_same_size(const Letter& left, const Letter& right) {
  const Signature mine = signature_of(left.call, group_.size());
  const Signature theirs = signature_of(right.call, group_.size());
  if (mine.count == theirs.count && mine.dtype == theirs.dtype) return;
  group_.fail_for_sides(left.rank, left.call, right.rank, right.call);
  group_.throw_if_failed();
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
