#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Gather plan of divided weights, of which each rank holds a part: when they must be whole in a step. The program tells
// which launch reads which weight, so each bucket of weights is fetched from all ranks before the first launch of the
// forward pass that reads it, released after the last, and likewise in the backward pass. A fetch runs during work with
// the previous bucket. Buckets never whole together share memory. Read next: parallel/data/weight_parts.hpp.

#include <twill/compile/run/host_callback.hpp>
#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/parallel/data/buckets.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// A section of a program in which a bucket of weights is whole, as places of a `HostCallback`.
struct Gathered {
  int bucket = 0;
  int fetched = 0; ///< where the call begins
  int first = 0;   ///< before the first launch that reads it
  int last = 0;    ///< after the last one
};

/// All fetches of one run in their order, and the place of each bucket in memory.
struct GatherPlan {
  List<Gathered> fetches{};
  List<std::int64_t> offsets{};
  std::int64_t bytes = 0; ///< of the memory of all of them

  constexpr GatherPlan() = default;
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// The gradient's bucket of each parameter of a table; -1 if it has none.
[[nodiscard]] constexpr List<int> buckets_of_parameters(const compile::TableView& table, const Buckets& buckets) {
  List<int> result{};
  std::size_t output = 0;
  for (const graph::ParameterInfo& info : table.parameters)
    result.push_back(info.role == graph::Role::weight ? buckets.entries[++output].bucket : -1);
  return result;
}

/// The place after the launch that has written the loss, where the backward pass begins.
[[nodiscard]] constexpr int turning_place(const compile::TableView& table) {
  const int loss = output_values(table)[0];
  return compile::place_after(table, table.values[static_cast<std::size_t>(loss)].last_use);
}

/// The sections in which launches of the forward or of the backward pass need each bucket whole; in no order.
[[nodiscard]] constexpr List<Gathered> stretches_of(const compile::TableView& table, const Buckets& buckets,
                                                    bool is_backward) {
  const List<int> bucket_of = buckets_of_parameters(table, buckets);
  const int turn = turning_place(table);
  List<Gathered> all(buckets.buckets.size(), Gathered{-1, 0, static_cast<int>(table.instructions.size()), 0});
  for (std::size_t i = 0; i < table.instructions.size(); ++i) {
    const compile::Instruction& instruction = table.instructions[i];
    const int before = compile::place_before(table, static_cast<int>(i));
    if ((before >= turn) != is_backward) continue;
    for (int k = 0; k < instruction.operand_count; ++k) {
      const compile::OperandBinding& operand = table.operands[static_cast<std::size_t>(instruction.first_operand + k)];
      if (operand.kind != compile::OperandKind::memory) continue;
      const compile::ValueInfo& value = table.values[static_cast<std::size_t>(operand.value)];
      if (value.storage != compile::Storage::parameter) continue;
      const int bucket = bucket_of[static_cast<std::size_t>(value.index)];
      if (bucket < 0) continue;
      Gathered& stretch = all.items[bucket];
      const int behind = compile::place_after(table, static_cast<int>(i));
      stretch.bucket = bucket;
      if (before < stretch.first) stretch.first = before;
      if (behind > stretch.last) stretch.last = behind;
    }
  }
  List<Gathered> used{};
  for (const Gathered& stretch : all)
    if (stretch.bucket >= 0) used.push_back(stretch);
  return used;
}

constexpr void sort_by_first(List<Gathered>& stretches) {
  for (std::size_t i = 1; i < stretches.size(); ++i)
    for (std::size_t k = i; k > 0 && stretches[k].first < stretches[k - 1].first; --k) {
      const Gathered later = stretches[k - 1];
      stretches[k - 1] = stretches[k];
      stretches[k] = later;
    }
}

/// Whether two buckets are whole at the same time somewhere.
[[nodiscard]] constexpr bool meet(const List<Gathered>& fetches, int left, int right) {
  for (const Gathered& one : fetches)
    for (const Gathered& other : fetches)
      if (one.bucket == left && other.bucket == right && one.fetched < other.last && other.fetched < one.last)
        return true;
  return false;
}

/// Gives each bucket one place in all its sections: the largest first, each at the lowest address that is free in these
/// sections.
constexpr void place_buckets(GatherPlan& plan, const Buckets& buckets) {
  const std::size_t count = buckets.buckets.size();
  List<int> order{};
  for (std::size_t i = 0; i < count; ++i) {
    bool is_fetched = false;
    for (const Gathered& fetch : plan.fetches) is_fetched = is_fetched || fetch.bucket == static_cast<int>(i);
    if (!is_fetched) continue;
    order.push_back(static_cast<int>(i));
    for (std::size_t k = order.size() - 1; k > 0; --k) {
      const int smaller = order[k - 1];
      if (buckets.buckets[static_cast<std::size_t>(smaller)].bytes() >= buckets.buckets[i].bytes()) break;
      order[k - 1] = static_cast<int>(i);
      order[k] = smaller;
    }
  }
  plan.offsets = List<std::int64_t>(count, 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t bytes = buckets.buckets[static_cast<std::size_t>(order[i])].bytes();
    std::int64_t offset = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t k = 0; k < i; ++k) {
        const auto other = static_cast<std::size_t>(order[k]);
        const std::int64_t end = plan.offsets[other] + buckets.buckets[other].bytes();
        if (plan.offsets[other] >= offset + bytes || end <= offset || !meet(plan.fetches, order[i], order[k])) continue;
        offset = end;
        moved = true;
      }
    }
    plan.offsets.items[order[i]] = offset;
    if (offset + bytes > plan.bytes) plan.bytes = offset + bytes;
  }
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// The fetches of a program that computes a loss and gradients. A bucket that is read last in the forward pass and
/// first in the backward pass is fetched once.
[[nodiscard]] constexpr GatherPlan plan_gathers(const compile::TableView& table, const Buckets& buckets) {
  List<Gathered> forward = detail::stretches_of(table, buckets, false);
  List<Gathered> backward = detail::stretches_of(table, buckets, true);
  List<Gathered> all = forward;
  for (const Gathered& again : backward) all.push_back(again);
  GatherPlan plan{};
  List<char> is_joined(backward.size(), 0);
  for (Gathered stretch : forward) {
    for (std::size_t k = 0; k < backward.size(); ++k) {
      if (backward[k].bucket != stretch.bucket) continue;
      bool is_other_between = false;
      for (const Gathered& other : all)
        is_other_between = is_other_between || (other.bucket != stretch.bucket && other.first >= stretch.last &&
                                                other.first < backward[k].first);
      if (is_other_between) continue;
      stretch.last = backward[k].last;
      is_joined.items[k] = 1;
    }
    plan.fetches.push_back(stretch);
  }
  for (std::size_t k = 0; k < backward.size(); ++k)
    if (is_joined[k] == 0) plan.fetches.push_back(backward[k]);
  detail::sort_by_first(plan.fetches);
  for (std::size_t i = 1; i < plan.fetches.size(); ++i) {
    Gathered& fetch = plan.fetches[i];
    fetch.fetched = plan.fetches[i - 1].first;
    for (std::size_t k = 0; k < i; ++k) // a bucket has one place, which launches may still read
      if (plan.fetches[k].bucket == fetch.bucket && plan.fetches[k].last > fetch.fetched)
        fetch.fetched = plan.fetches[k].last;
  }
  detail::place_buckets(plan, buckets);
  return plan;
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
