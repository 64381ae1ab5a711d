#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Elements that each operand of a program loads and stores. A file that counts them defines TWILL_COUNT_ACCESS as `CountAccess`
// and includes this header before all of twill's; its kernels are separate from those of other files.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace twill::test {

/// Elements loaded from and stored to each operand, since the last `clear`.
struct AccessCounts {
  std::array<std::atomic<std::int64_t>, 128> loads{};
  std::array<std::atomic<std::int64_t>, 128> stores{};
  std::array<std::atomic<std::int64_t>, 128> reloads{}; ///< those of the loads that find a row in the cache

  void clear() {
    for (auto* const counts : {&loads, &stores, &reloads})
      for (auto& count : *counts) count = 0;
  }
};

/// The counts of the process.
[[nodiscard]] inline AccessCounts& access_counts() {
  static AccessCounts counts;
  return counts;
}

/// Counts for `kernel::AccessCounts`; templates, because no header of twill comes before this one.
struct CountAccess {
  static void load(int operand, std::int64_t elements) {
    access_counts().loads[static_cast<std::size_t>(operand)] += elements;
  }
  static void store(int operand, std::int64_t elements) {
    access_counts().stores[static_cast<std::size_t>(operand)] += elements;
  }
  /// Counts the elements of each operand that a stage touches; those of a short row stay in the cache for the next stage.
  template <class Program, class Cursor>
  static void stage(const Program& program, int stage, std::int64_t elements, const Cursor* short_row) {
    using Role = decltype(program.operand->role);
    for (int o = 0; o < program.operands; ++o) {
      const auto& info = program.operand[o];
      if (((info.stages >> stage) & 1U) == 0 || info.role > Role::gather) continue;
      if (info.role == Role::output) {
        store(o, elements);
        continue;
      }
      load(o, elements);
      if (short_row != nullptr && info.role == Role::input && is_cached(program, stage, *short_row, o))
        access_counts().reloads[static_cast<std::size_t>(o)] += elements;
    }
  }
  template <class Program> static void stage(const Program& program, int stage, std::int64_t elements, std::nullptr_t) {
    CountAccess::stage(program, stage, elements, static_cast<const NoCursor*>(nullptr));
  }

private:
  struct NoCursor {
    const std::int64_t* at;
    const std::int64_t* stride;
  };

  /// Whether a stage finds an operand's row in the cache: an earlier stage touched it, through this operand or an
  /// overlapping one, or another operand did in this stage.
  template <class Program, class Cursor>
  [[nodiscard]] static bool is_cached(const Program& program, int stage, const Cursor& where, int operand) {
    using Role = decltype(program.operand->role);
    const std::uint32_t before = (std::uint32_t{1} << stage) - 1;
    for (int o = 0; o < program.operands; ++o) {
      const auto& info = program.operand[o];
      const std::uint32_t stages = o < operand ? before | (before + 1) : before;
      if (info.role == Role::input && (info.stages & stages) != 0 && where.at[o] == where.at[operand] &&
          where.stride[o] == where.stride[operand])
        return true;
    }
    return false;
  }
};

struct Traffic {
  std::int64_t loads = 0;
  std::int64_t stores = 0;
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// All loads and stores of a statement.
template <class F> Traffic traffic(F statement) {
  access_counts().clear();
  statement();
  Traffic total;
  for (const auto& count : access_counts().loads) total.loads += count;
  for (const auto& count : access_counts().stores) total.stores += count;
  return total;
}

/// The loads and stores that go to memory: what a row's later stages look at again is in the cache.
template <class F> Traffic memory_traffic(F statement) {
  Traffic total = traffic(statement);
  for (const auto& count : access_counts().reloads) total.loads -= count;
  return total;
}

} // namespace twill::test
