// SPDX-License-Identifier: Apache-2.0
//
// Liveness by the usual backward equations over basic blocks, then linear scan (Poletto and Sarkar, 1999) over each register's hull.
// Lanes diverge, but each has slots of its own, so that a lane's path through the code is all that counts.

#include "ptxrun/names.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

namespace ptxrun {
namespace {

using Bits = std::vector<std::uint64_t>;

bool holds(const Bits& bits, std::uint32_t n) { return ((bits[n / 64] >> (n % 64)) & 1) != 0; }
void insert(Bits& bits, std::uint32_t n) { bits[n / 64] |= std::uint64_t{1} << (n % 64); }

struct BasicBlock {
  std::uint32_t begin = 0, end = 0;
  std::vector<std::uint32_t> successors{};
  Bits reads{};  ///< before a definition
  Bits writes{}; ///< surely
  Bits live{};   ///< at its begin
};

struct Interval {
  std::uint32_t first = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t last = 0;
  [[nodiscard]] bool is_used() const { return first <= last; }
  void include(std::uint32_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
};

template <class F> void for_reads(const Instruction& instruction, F&& f) {
  if (instruction.is_guarded) f(instruction.guard);
  for (std::size_t n = 0; n < instruction.source_count; ++n)
    if (instruction.sources[n].bank == 0 && !instruction.sources[n].is_ignored) f(instruction.sources[n].offset);
}
template <class F> void for_writes(const Instruction& instruction, F&& f) {
  for (std::size_t n = 0; n < instruction.destination_count; ++n)
    if (!instruction.destinations[n].is_ignored) f(instruction.destinations[n].offset);
}

std::vector<BasicBlock> find_blocks(const std::vector<Instruction>& code, std::size_t words) {
  const auto size = static_cast<std::uint32_t>(code.size());
  std::vector<char> begins(size + 1, 0);
  begins[0] = 1;
  for (std::uint32_t n = 0; n < size; ++n) {
    for (const std::uint32_t target : code[n].targets)
      if (code[n].flow == Flow::branch || code[n].flow == Flow::indexed_branch) begins[target] = 1;
    if (code[n].flow == Flow::branch || code[n].flow == Flow::indexed_branch || code[n].flow == Flow::exit)
      begins[n + 1] = 1;
  }
  std::vector<std::uint32_t> block_at(size + 1, 0);
  std::vector<BasicBlock> blocks;
  for (std::uint32_t n = 0; n < size; ++n) {
    if (begins[n]) blocks.push_back({n, n, {}, Bits(words), Bits(words), Bits(words)});
    blocks.back().end = n + 1;
    block_at[n] = static_cast<std::uint32_t>(blocks.size() - 1);
  }
  for (BasicBlock& block : blocks) {
    for (std::uint32_t n = block.begin; n < block.end; ++n) {
      for_reads(code[n], [&](std::uint32_t number) {
        if (!holds(block.writes, number)) insert(block.reads, number);
      });
      if (!code[n].is_guarded) for_writes(code[n], [&](std::uint32_t number) { insert(block.writes, number); });
    }
    const Instruction& last = code[block.end - 1];
    const bool branches = last.flow == Flow::branch || last.flow == Flow::indexed_branch;
    if (branches)
      for (const std::uint32_t target : last.targets) block.successors.push_back(block_at[target]);
    const bool goes_on = last.is_guarded || !(branches || last.flow == Flow::exit);
    if (goes_on && block.end < size) block.successors.push_back(block_at[block.end]);
  }
  return blocks;
}

std::vector<Interval> find_intervals(const std::vector<Instruction>& code, std::size_t registers) {
  const std::size_t words = registers / 64 + 1;
  std::vector<BasicBlock> blocks = find_blocks(code, words);
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t n = blocks.size(); n-- > 0;) {
      BasicBlock& block = blocks[n];
      for (std::size_t word = 0; word < words; ++word) {
        std::uint64_t after = 0;
        for (const std::uint32_t successor : block.successors) after |= blocks[successor].live[word];
        const std::uint64_t live = block.reads[word] | (after & ~block.writes[word]);
        has_changed = has_changed || live != block.live[word];
        block.live[word] = live;
      }
    }
  }
  std::vector<Interval> intervals(registers);
  for (const BasicBlock& block : blocks) {
    const auto include_all = [&](const Bits& live, std::uint32_t at) {
      for (std::size_t word = 0; word < words; ++word)
        for (std::uint64_t rest = live[word]; rest != 0; rest &= rest - 1)
          intervals[word * 64 + static_cast<std::size_t>(__builtin_ctzll(rest))].include(at);
    };
    include_all(block.live, block.begin);
    for (const std::uint32_t successor : block.successors) include_all(blocks[successor].live, block.end - 1);
    for (std::uint32_t n = block.begin; n < block.end; ++n) {
      for_reads(code[n], [&](std::uint32_t number) { intervals[number].include(n); });
      for_writes(code[n], [&](std::uint32_t number) { intervals[number].include(n); });
    }
  }
  return intervals;
}

} // namespace

void assign_registers(Kernel& kernel, const Names& names) {
  const std::vector<Register>& registers = names.registers();
  std::vector<Interval> intervals = find_intervals(kernel.code, registers.size());
  for (const auto& [name, special] : names.specials()) {
    intervals[special.number].include(0);
    intervals[special.number].include(static_cast<std::uint32_t>(kernel.code.size()));
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t n = 0; n < registers.size(); ++n)
    if (intervals[n].is_used()) order.push_back(n);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t n) { return intervals[n].first; });

  std::vector<std::uint32_t> offsets(registers.size(), 0);
  std::vector<std::uint32_t> unused[2];               // of 4 and of 8 bytes a lane
  std::multimap<std::uint32_t, std::uint32_t> active; // by the interval's end
  std::uint32_t top = 0;
  for (const std::uint32_t n : order) {
    while (!active.empty() && active.begin()->first < intervals[n].first) {
      const std::uint32_t ended = active.begin()->second;
      unused[registers[ended].bytes == 8].push_back(offsets[ended]);
      active.erase(active.begin());
    }
    if (registers[n].is_predicate) {
      offsets[n] = top;
      top += 4;
      continue;
    }
    auto& candidates = unused[registers[n].bytes == 8];
    if (candidates.empty()) {
      top = (top + 63) / 64 * 64;
      offsets[n] = top;
      top += registers[n].bytes * 32U;
    } else {
      offsets[n] = candidates.back();
      candidates.pop_back();
    }
    active.insert({intervals[n].last, n});
  }
  kernel.register_bytes = (top + 63) / 64 * 64;

  for (Instruction& instruction : kernel.code) {
    if (instruction.is_guarded) instruction.guard = offsets[instruction.guard];
    for (std::size_t n = 0; n < instruction.source_count; ++n)
      if (instruction.sources[n].bank == 0) instruction.sources[n].offset = offsets[instruction.sources[n].offset];
    for (std::size_t n = 0; n < instruction.destination_count; ++n)
      if (!instruction.destinations[n].is_ignored)
        instruction.destinations[n].offset = offsets[instruction.destinations[n].offset];
  }
  for (const auto& [name, special] : names.specials())
    kernel.specials.push_back({offsets[special.number], find_special_register(name)});
}

} // namespace ptxrun
