#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/group/waiting.hpp.

#include <twill/parallel/group/waiting.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY Moment now() { return scheduler != nullptr ? scheduler->now() : std::chrono::steady_clock::now(); }

TWILL_BODY Moment after_ms(std::int64_t milliseconds) { return now() + std::chrono::milliseconds(milliseconds); }

TWILL_BODY void Condition::notify_all() {
  if (scheduler != nullptr) scheduler->notify(*this);
  system_.notify_all(); // threads without an owner
}

TWILL_BODY void Condition::wait(std::unique_lock<Mutex>& lock) {
  if (scheduler != nullptr) return scheduler->wait(*this, lock.mutex()->system_, Moment::max());
  std::unique_lock system(lock.mutex()->system_, std::adopt_lock);
  system_.wait(system);
  system.release();
}

TWILL_BODY bool Condition::wait_until(std::unique_lock<Mutex>& lock, Moment until) {
  if (scheduler != nullptr) {
    scheduler->wait(*this, lock.mutex()->system_, until);
    return scheduler->now() < until;
  }
  std::unique_lock system(lock.mutex()->system_, std::adopt_lock);
  const bool is_early = system_.wait_until(system, until) == std::cv_status::no_timeout;
  system.release();
  return is_early;
}

TWILL_BODY Strand::Part::Part(const Strand& strand)
    : owner_{strand.owner_}, number_{strand.number_}, before_{scheduler} {
  scheduler = owner_;
  owner_->begin(number_);
}

TWILL_BODY Strand::Part::~Part() {
  owner_->end(number_);
  scheduler = before_;
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
