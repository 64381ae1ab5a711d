// SPDX-License-Identifier: Apache-2.0
//
// The order in which lanes that branched apart take their turns, so that they meet again where the branch's arms join. The order of
// the text will not do: compilers move arms that are seldom taken after the join. A weak topological order will: each block comes after
// all that lead to it, but for the jumps back of a loop, whose blocks stay together. Bourdoncle, "Efficient chaotic iteration
// strategies with widenings" (1993).

#include "ptxrun/kernel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ptxrun {
namespace {

/// Instructions that are entered at the first and left at the last.
struct BasicBlock {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::vector<std::size_t> successors{};
};

bool leaves(const Instruction& instruction) {
  return instruction.flow == Flow::branch || instruction.flow == Flow::indexed_branch || instruction.flow == Flow::exit;
}

std::vector<BasicBlock> blocks_of(const std::vector<Instruction>& code) {
  std::vector<bool> is_first(code.size() + 1, false);
  is_first[0] = true;
  for (std::size_t n = 0; n < code.size(); ++n) {
    if (leaves(code[n])) is_first[n + 1] = true;
    for (const std::uint32_t target : code[n].targets)
      if (leaves(code[n])) is_first[target] = true;
  }
  std::vector<BasicBlock> blocks;
  std::vector<std::size_t> block_of(code.size());
  for (std::uint32_t n = 0; n < code.size(); ++n) {
    if (is_first[n]) blocks.push_back({n, n, {}});
    blocks.back().end = n + 1;
    block_of[n] = blocks.size() - 1;
  }
  for (BasicBlock& block : blocks) {
    const Instruction& last = code[block.end - 1];
    const bool falls_through = !leaves(last) || (last.is_guarded && last.flow != Flow::indexed_branch);
    if (falls_through && block.end < code.size()) block.successors.push_back(block_of[block.end]);
    if (!leaves(last)) continue;
    for (const std::uint32_t target : last.targets)
      if (target < code.size()) block.successors.push_back(block_of[target]);
  }
  return blocks;
}

class WeakTopologicalOrder {
public:
  explicit WeakTopologicalOrder(const std::vector<BasicBlock>& blocks) : blocks_{blocks}, numbers_(blocks.size(), 0) {}

  /// Blocks that nothing leads to are left out.
  std::vector<std::size_t> find() {
    if (!blocks_.empty()) visit(0);
    std::reverse(order_.begin(), order_.end());
    return order_;
  }

private:
  static constexpr std::size_t placed = std::numeric_limits<std::size_t>::max();

  /// Places the blocks that follow this one and lie in no loop with an earlier one. Returns the number of the first block of the
  /// outermost loop found.
  std::size_t visit(std::size_t block) {
    stack_.push_back(block);
    const std::size_t own = numbers_[block] = ++last_number_;
    std::size_t head = own;
    bool is_loop = false;
    for (const std::size_t next : blocks_[block].successors) {
      const std::size_t reached = numbers_[next] == 0 ? visit(next) : numbers_[next];
      if (reached > head) continue;
      head = reached;
      is_loop = true;
    }
    if (head != own) return head;
    place(block, is_loop);
    return head;
  }

  /// What was found since the block is a loop with it; within, that loop is an order of its own.
  void place(std::size_t block, bool is_loop) {
    numbers_[block] = placed;
    for (; stack_.back() != block; stack_.pop_back()) numbers_[stack_.back()] = 0;
    stack_.pop_back();
    if (is_loop)
      for (const std::size_t next : blocks_[block].successors)
        if (numbers_[next] == 0) visit(next);
    order_.push_back(block);
  }

  const std::vector<BasicBlock>& blocks_;
  std::vector<std::size_t> numbers_; ///< 0: not yet found
  std::size_t last_number_ = 0;
  std::vector<std::size_t> stack_{};
  std::vector<std::size_t> order_{}; ///< from the last
};

} // namespace

void number_ranks(std::vector<Instruction>& code) {
  const std::vector<BasicBlock> blocks = blocks_of(code);
  std::uint32_t rank = 0;
  for (const std::size_t block : WeakTopologicalOrder{blocks}.find())
    for (std::uint32_t n = blocks[block].begin; n < blocks[block].end; ++n) code[n].rank = rank++;
}

} // namespace ptxrun
