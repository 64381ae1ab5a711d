#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Memory planning: fixed offsets in one arena for the buffers of a static plan. Two buffers may share bytes when no
// step needs both. Greedy by size, as in Pisarchyk and Lee, "Efficient memory management for deep neural net inference"
// (2020): the largest buffer first, each into the smallest gap that fits between placed buffers that live at the same
// time. Works in constant expressions, where a plan becomes part of the program. Read next: compile/plan/binding.hpp.

#include <twill/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace twill { inline namespace v0 { namespace memory {

/// A buffer of a plan: its size, and the first and the last step that need it.
struct Lifetime {
  std::int64_t bytes = 0; ///< of the value
  int first_use = 0;      ///< the first launch that touches it
  int last_use = 0;       ///< the last launch that touches it
};

/// The offset of each buffer in the arena, in the order of the input, and the size of the arena.
struct OffsetPlan {
  std::vector<std::int64_t> offsets{}; ///< one for each value, in their order
  std::int64_t total_bytes = 0;        ///< of the arena that holds them
};

namespace detail {

[[nodiscard]] constexpr std::int64_t aligned(std::int64_t bytes, std::int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// The remainder that is never negative.
[[nodiscard]] constexpr std::int64_t modulo(std::int64_t number, std::int64_t divisor) {
  const std::int64_t remainder = number % divisor;
  return remainder < 0 ? remainder + divisor : remainder;
}

constexpr void require_lifetimes(std::span<const Lifetime> buffers, std::int64_t alignment) {
  if (alignment < 1) throw ValueError("plan_offsets: the alignment has to be at least 1");
  const std::int64_t largest =
      std::numeric_limits<std::int64_t>::max() / 2 / (static_cast<std::int64_t>(buffers.size()) + 1);
  for (const Lifetime& buffer : buffers) {
    if (buffer.bytes > largest)
      throw ValueError("plan_offsets: the sizes of the buffers overflow; no device is that large");
    if (buffer.bytes < 0 || buffer.last_use < buffer.first_use)
      throw ValueError("plan_offsets: a buffer has at least 0 bytes, and its last use is not before its first");
  }
}

} // namespace detail

/// Offsets, each a multiple of `alignment`, and their total.
/// throws: ValueError for a negative size or a use that ends before it begins  cost: quadratic in the buffers at worst
[[nodiscard]] constexpr OffsetPlan plan_offsets(std::span<const Lifetime> buffers, std::int64_t alignment = 1) {
  detail::require_lifetimes(buffers, alignment);
  const std::size_t count = buffers.size();
  OffsetPlan plan{};
  plan.offsets.assign(count,
                      0); // explicit values here and below: without them libstdc++ 12 is not constexpr on clang
  if (count == 0) return plan;

  // the largest first, equal ones in the order of the input: one number encodes both, and is cheap to sort
  std::vector<std::int64_t> order(count, 0);
  for (std::size_t i = 0; i < count; ++i)
    order[i] = -buffers[i].bytes * static_cast<std::int64_t>(count) + static_cast<std::int64_t>(i);
  std::sort(order.begin(), order.end());

  struct Placed {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    int first_use = 0;
    int last_use = 0;
    Placed* next = nullptr; // by address
  };
  std::vector<Placed> storage(count + 1, Placed{});
  Placed* const head = storage.data();
  Placed* fresh = head;

  for (const std::int64_t key : order) {
    const auto index = static_cast<std::size_t>(detail::modulo(key, static_cast<std::int64_t>(count)));
    const std::int64_t bytes = detail::aligned(buffers[index].bytes, alignment);
    if (bytes == 0) continue;
    const int first_use = buffers[index].first_use;
    const int last_use = buffers[index].last_use;
    std::int64_t end_so_far = 0; // of all buffers that live at the same time
    std::int64_t best = -1;
    std::int64_t best_gap = 0;
    for (const Placed* other = head->next; other != nullptr; other = other->next) {
      if (other->first_use <= last_use && first_use <= other->last_use) {
        const std::int64_t gap = other->begin - end_so_far;
        if (gap >= bytes && (best < 0 || gap < best_gap)) {
          best = end_so_far;
          best_gap = gap;
        }
        if (other->end > end_so_far) end_so_far = other->end;
      }
    }
    if (best < 0) best = end_so_far;
    plan.offsets[index] = best;
    if (best + bytes > plan.total_bytes) plan.total_bytes = best + bytes;

    Placed* before = head;
    while (before->next != nullptr && before->next->begin < best) before = before->next;
    *++fresh = {best, best + bytes, first_use, last_use, before->next};
    before->next = fresh;
  }
  return plan;
}

}}} // namespace twill::v0::memory
