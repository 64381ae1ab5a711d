#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/generator.hpp.

#include <twill/device/generator.hpp>

namespace twill { inline namespace v0 {

TWILL_BODY RandomDraw RandomGenerator::next() {
  const std::lock_guard lock{mutex_};
  follow_seed_of_all();
  const RandomDraw draw = state_;
  ++state_.step;
  return draw;
}

TWILL_BODY void RandomGenerator::give_back(RandomDraw unused) {
  const std::lock_guard lock{mutex_};
  if (state_.seed == unused.seed && state_.step == unused.step + 1) state_ = unused;
}

TWILL_BODY RandomDraw RandomGenerator::state() {
  const std::lock_guard lock{mutex_};
  follow_seed_of_all();
  return state_;
}

TWILL_BODY void RandomGenerator::set_state(RandomDraw state) {
  const std::lock_guard lock{mutex_};
  follow_seed_of_all();
  state_ = state;
}

TWILL_BODY void RandomGenerator::follow_seed_of_all() {
  auto& shared = detail::seed_of_all;
  if (shared.times_set.load(std::memory_order_acquire) == times_seen_) return;
  const std::lock_guard lock{shared.mutex};
  times_seen_ = shared.times_set.load(std::memory_order_relaxed);
  state_ = {shared.seed, 0};
}

TWILL_BODY void manual_seed_all(std::uint64_t seed) {
  auto& shared = detail::seed_of_all;
  const std::lock_guard lock{shared.mutex};
  shared.seed = seed;
  shared.times_set.fetch_add(1, std::memory_order_release);
}

}} // namespace twill::v0
