#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Strong accesses: what loads, stores and atomics do beside their access where others may wait for it.

#include "ptxrun/access.hpp"
#include "ptxrun/global_races.hpp"
#include "ptxrun/statement.hpp"

#include <cstdint>

namespace ptxrun {

/// A strong load, or an atomic that changed nothing, may be a wait for another block: it costs a part of the warp's turn.
inline constexpr std::int64_t poll_cost = 1024;

inline void poll(Warp& warp) {
  warp.has_polled = true;
  warp.budget -= poll_cost;
}

inline void acquire(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  if (!warp.block->grid.global_races) return;
  for_lanes_in_order(
      mask, [&](int lane) { warp.block->grid.global_races->acquire(warp, address_of(warp, instruction, lane)); });
}

inline void release(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  if (!warp.block->grid.global_races) return;
  for_lanes_in_order(mask, [&](int lane) {
    warp.block->grid.global_races->release(warp, lane, address_of(warp, instruction, lane), instruction.ordering);
  });
}

[[nodiscard]] inline Ordering ordering_of(const Statement& statement) {
  if (statement.has("acq_rel")) return Ordering::acquire_release;
  if (statement.has("acquire")) return Ordering::acquire;
  if (statement.has("release")) return Ordering::release;
  if (statement.has("relaxed") || statement.has("volatile") || statement.has("mmio")) return Ordering::relaxed;
  return Ordering::weak;
}

} // namespace ptxrun
