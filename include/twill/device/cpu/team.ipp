#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/team.hpp.

#include <twill/core/clock.hpp>
#include <twill/device/cpu/team.hpp>

namespace twill { inline namespace v0 {
namespace detail {

TWILL_BODY void ForkJoin::run(Job job, void* context) {
  if (inside_team || busy_.exchange(true, std::memory_order_acquire)) {
    for (int rank = 0; rank < size(); ++rank) job(context, rank, size());
    return;
  }
  const Lead lead{*this};
  if (started_ < size()) start();
  job_ = job;
  context_ = context;
  running_.store(size() - 1, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  work_.notify();
  run_rank(0);
  done_.wait_until([this] { return running_.load(std::memory_order_acquire) == 0; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

TWILL_BODY bool ForkJoin::is_awake() noexcept {
  if (inside_team) return false;
  const bool has_run = round_.load(std::memory_order_relaxed) != 0; // so its threads exist
  if (has_run && !work_.has_sleepers()) return true;
  const double now = steady_seconds();
  const double before = asked_s_.load(std::memory_order_relaxed);
  if (now < before) return false; // they are waking up
  const bool is_again = now - before < cpu::Signal::spin_s;
  asked_s_.store(is_again ? now + 2 * cpu::Signal::spin_s : now, std::memory_order_relaxed);
  if (is_again && has_run) work_.rouse();
  return is_again && !has_run; // the run starts them
}

TWILL_BODY ForkJoin::Lead::~Lead() {
  inside_team = false;
  team.busy_.store(false, std::memory_order_release);
}

TWILL_COLD TWILL_BODY void ForkJoin::start() {
  for (; started_ < size(); ++started_) {
    cpu::CoreSet core;
    core.add(cores_[static_cast<std::size_t>(started_)]);
    cpu::start_thread(core, join_text({name_, "/", started_}),
                      {[](void* team, int rank) { static_cast<ForkJoin*>(team)->serve(rank); }, this, started_});
  }
}

TWILL_COLD TWILL_BODY void ForkJoin::serve(int rank) {
  inside_team = true;
  for (unsigned seen = 0;; ++seen) {
    work_.wait_until([&] { return round_.load(std::memory_order_acquire) != seen; });
    run_rank(rank);
    if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) done_.notify();
  }
}

TWILL_BODY void ForkJoin::run_rank(int rank) noexcept {
  try {
    job_(context_, rank, size());
  } catch (...) {
    const std::lock_guard lock{error_mutex_};
    if (!error_ || rank < error_rank_) {
      error_ = std::current_exception();
      error_rank_ = rank;
    }
  }
}

} // namespace detail

TWILL_BODY const Team& Team::serial() {
  static constexpr Team one{};
  return one;
}

}} // namespace twill::v0
