// SPDX-License-Identifier: Apache-2.0

#include "ptxrun/global_races.hpp"

#include "ptxrun/findings.hpp"
#include "ptxrun/text.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace ptxrun {

void GlobalRaces::merge(Published& into, const Published& from) {
  into.before = std::max(into.before, from.before);
  if (from.snapshot && (!into.snapshot || into.snapshot->time < from.snapshot->time)) into.snapshot = from.snapshot;
  for (const auto& [thread, fence] : from.fences) {
    Fence& known = into.fences[thread];
    if (known.time < fence.time) known = fence;
  }
}

void GlobalRaces::merge(Knowledge& into, const Knowledge& from) {
  for (const auto& [block, published] : from) merge(into[block], published);
}

bool GlobalRaces::has_published(const Published& published, const Event& event) {
  if (event.time <= published.before) return true;
  if (published.snapshot &&
      (event.time <= published.snapshot->before || event.time <= published.snapshot->fences[event.thread]))
    return true;
  return std::ranges::any_of(published.fences, [&](const auto& entry) {
    const auto& [thread, fence] = entry;
    return (thread == event.thread && event.time <= fence.time) ||
           (thread / 32 == event.thread / 32 && event.time <= fence.sync_time);
  });
}

GlobalRaces::Cell& GlobalRaces::cell_at(std::uintptr_t word) {
  const std::uintptr_t number = word / std::tuple_size_v<Page>;
  if (last_page_ == nullptr || number != last_number_) {
    std::unique_ptr<Page>& page = pages_[number];
    if (!page) page = std::make_unique<Page>();
    last_page_ = page.get();
    last_number_ = number;
  }
  return (*last_page_)[word % std::tuple_size_v<Page>];
}

bool GlobalRaces::is_ordered(const Warp& warp, std::uint16_t thread, const Event& event) {
  const Block& block = *warp.block;
  if (event.block == block.index) {
    if (event.thread == thread || event.time <= block.barrier_time) return true;
    if (event.thread / 32 == warp.index && event.time <= warp.sync_time) return true;
  }
  const auto state = blocks_.find(block.index);
  if (state == blocks_.end()) return false;
  const auto published = state->second.known.find(event.block);
  return published != state->second.known.end() && has_published(published->second, event);
}

void GlobalRaces::report(Warp& warp, const Instruction& instruction, int lane, std::uintptr_t address,
                         const Event& other, std::string_view kind, const char* verb) {
  const bool is_same_block = other.block == warp.block->index;
  std::string text{kind};
  text += !is_same_block ? " between blocks" : other.thread / 32 == warp.index ? " within a warp" : " within a block";
  report_finding(text, &warp.block->grid.kernel, &instruction,
                 describe_thread(warp, lane) + verb + "block " + std::to_string(other.block) + " thread " +
                     std::to_string(other.thread) + ", and nothing orders them, at " + hexadecimal(address));
}

void GlobalRaces::access(Warp& warp, const Instruction& instruction, int lane, const std::byte* place,
                         const Access& access) {
  const auto thread = static_cast<std::uint16_t>(warp.thread(lane));
  const bool is_strong = access.kind == AccessKind::atomic || instruction.ordering != Ordering::weak;
  const bool is_equal = access.value != nullptr && std::equal(access.value, access.value + access.bytes, place);
  const auto begin = reinterpret_cast<std::uintptr_t>(place), end = begin + access.bytes;
  for (std::uintptr_t word = begin / 4; word * 4 < end; ++word) {
    const std::uintptr_t first = std::max(begin, word * 4) % 4,
                         count = std::min(end, word * 4 + 4) - std::max(begin, word * 4);
    const auto bytes = static_cast<std::uint8_t>(((1U << count) - 1) << first);
    const Event now{warp.block->grid.now, warp.block->index, thread, bytes, is_strong};
    const auto clashes = [&](const Event& other) {
      return other.time != 0 && (other.bytes & bytes) != 0 && !(is_strong && other.is_strong) &&
             !is_ordered(warp, thread, other);
    };
    Cell& cell = cell_at(word);
    if (access.kind == AccessKind::read) {
      if (clashes(cell.write))
        report(warp, instruction, lane, begin, cell.write, "global write-read race", " reads what was written by ");
      // The reads to remember: of other threads, and not ordered before this one.
      const auto is_replaceable = [&](const Event& read) { return read.time == 0 || is_ordered(warp, thread, read); };
      auto slot = std::ranges::find_if(cell.reads, is_replaceable);
      if (slot == cell.reads.end()) slot = std::ranges::min_element(cell.reads, {}, &Event::time);
      *slot = now;
      continue;
    }
    if (!is_equal && clashes(cell.write))
      report(warp, instruction, lane, begin, cell.write, "global write-write race", " writes what was written by ");
    for (const Event& read : cell.reads)
      if (!is_equal && clashes(read))
        report(warp, instruction, lane, begin, read, "global read-write race", " writes what was read by ");
    cell.write = now;
    cell.reads = {};
  }
}

void GlobalRaces::fence(Warp& warp, std::uint32_t mask) {
  Block& block = *warp.block;
  BlockState& state = blocks_[block.index];
  state.fences.resize(block.grid.threads);
  for_lanes_in_order(mask, [&](int lane) {
    state.fences[warp.thread(lane)] = {block.grid.now, block.barrier_time, warp.sync_time};
  });
  state.has_new_fences = true;
  ++block.grid.now;
}

void GlobalRaces::release(Warp& warp, int lane, std::uint64_t address, Ordering ordering) {
  if (ordering == Ordering::release || ordering == Ordering::acquire_release) fence(warp, std::uint32_t{1} << lane);
  const auto found = blocks_.find(warp.block->index);
  if (found == blocks_.end()) return; // as in a histogram of atomics
  const BlockState& state = found->second;
  const std::uint32_t thread = warp.thread(lane);
  const Fence own = state.fences.empty() ? Fence{} : state.fences[thread];
  Published published{own.barrier_time, state.snapshot, {}};
  if (own.time != 0) published.fences[static_cast<std::uint16_t>(thread)] = own;
  Knowledge& at_address = released_[address];
  merge(at_address, state.known);
  merge(at_address[warp.block->index], published);
}

void GlobalRaces::acquire(Warp& warp, std::uint64_t address) {
  if (const auto released = released_.find(address); released != released_.end())
    merge(blocks_[warp.block->index].known, released->second);
}

void GlobalRaces::barrier(const Block& block) {
  const auto found = blocks_.find(block.index);
  if (found == blocks_.end() || !std::exchange(found->second.has_new_fences, false)) return;
  BlockState& state = found->second;
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->time = block.grid.now;
  for (const Fence& fence : state.fences) {
    snapshot->fences.push_back(fence.time);
    snapshot->before = std::max(snapshot->before, fence.barrier_time);
  }
  state.snapshot = std::move(snapshot);
}

} // namespace ptxrun
