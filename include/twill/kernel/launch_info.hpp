#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What an eager launch is, for who records runs: the operations of its program, bytes of tensors read and written, operations
// of arithmetic, as compile/node_info.hpp tells them of compiled programs. A tensor that is named twice counts once; what is
// gathered counts as often as it is read. Launches come here only while somebody records. Read next: kernel/launch_watch.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/list.hpp>
#include <twill/core/run_recorder.hpp>
#include <twill/core/text.hpp>
#include <twill/kernel/primitive.hpp>
#include <twill/kernel/product_stack.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/record.hpp>
#include <twill/kernel/summary.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace twill::inline v0::kernel::inline TWILL_ISA {

/// "multiply+add+tanh": each word once, and only the first few.
[[nodiscard]] TWILL_COLD inline std::string joined_words(const std::vector<std::string_view>& words) {
  constexpr std::size_t most_words = 4;
  std::vector<std::string_view> different{};
  for (const std::string_view word : words)
    if (std::find(different.begin(), different.end(), word) == different.end()) different.push_back(word);
  std::string text{};
  for (std::size_t i = 0; i < different.size() && i < most_words; ++i) {
    if (i > 0) text += '+';
    text += different[i];
  }
  if (different.size() > most_words) text += join_text({"+", different.size() - most_words, " more"});
  return text;
}

/// Elements of an operand that a launch touches: those of the axes along which it moves.
[[nodiscard]] inline std::int64_t elements_along(const Grid& grid, const Operand& operand) {
  std::int64_t elements = 1;
  for (int axis = 0; axis < grid.rank; ++axis)
    if (operand.strides[static_cast<std::size_t>(axis)] != 0) elements *= grid[axis];
  return elements;
}

} // namespace twill::inline v0::kernel::inline TWILL_ISA

namespace twill::inline v0::kernel::detail::inline TWILL_ISA {

/// What a program computes, in its order.
inline void add_words(std::span<const Line> lines, std::vector<std::string_view>& words) {
  for (const Line& line : lines) {
    if (line.kind == LineKind::step) words.push_back(info(line.primitive).name);
    if (line.kind == LineKind::gather) words.push_back("gather");
    if (line.kind == LineKind::reduce || line.kind == LineKind::reduce_columns) words.push_back(name(line.reduction));
  }
}

/// What a program is called that computes nothing.
[[nodiscard]] inline std::string_view word_of_copy(std::span<const Line> lines) {
  for (const Line& line : lines) {
    if (line.kind == LineKind::cast) return "cast";
    if (line.kind == LineKind::input) return "copy";
  }
  return "fill";
}

/// Elements in which the value of each line differs: the most of its arguments, and one for each result of a reduction.
[[nodiscard]] TWILL_COLD inline std::vector<std::int64_t>
elements_of(std::span<const Line> lines, const std::vector<std::int64_t>& of_operands, std::int64_t reduced) {
  std::vector<std::int64_t> elements{};
  for (const Line& line : lines) {
    std::int64_t own = 1;
    for (int a = 0; a < line.arity; ++a)
      own = std::max(own, elements[static_cast<std::size_t>(line.arguments[static_cast<std::size_t>(a)])]);
    const std::int64_t along = line.operand < 0 ? 1 : of_operands[static_cast<std::size_t>(line.operand)];
    if (line.kind == LineKind::output)
      own = along;
    else if (line.kind == LineKind::reduce || line.kind == LineKind::reduce_columns)
      own = reduced;
    else
      own = std::max(own, along);
    elements.push_back(own);
  }
  return elements;
}

/// Operations of arithmetic. What follows from a reduction alone is computed once for each of its results.
[[nodiscard]] TWILL_COLD inline std::int64_t flops_of(std::span<const Line> lines,
                                                      const std::vector<std::int64_t>& elements) {
  std::int64_t flops = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    if (line.kind == LineKind::step) flops += (line.primitive == Primitive::fma ? 2 : 1) * elements[i];
    if (line.kind == LineKind::reduce || line.kind == LineKind::reduce_columns)
      flops += elements[static_cast<std::size_t>(line.arguments[0])];
  }
  return flops;
}

/// Whether an earlier line reads the same elements. Strides beyond the grid mean nothing.
[[nodiscard]] inline bool is_read_before(std::span<const Line> lines, std::size_t number, const Grid& grid,
                                         const Operand* operands) {
  const Operand& own = operands[lines[number].operand];
  for (std::size_t i = 0; i < number; ++i) {
    if (lines[i].kind != LineKind::input || lines[i].type != lines[number].type) continue;
    const Operand& other = operands[lines[i].operand];
    if (other.data == own.data &&
        std::equal(own.strides.begin(), own.strides.begin() + grid.rank, other.strides.begin()))
      return true;
  }
  return false;
}

/// Different elements of an operand of what follows a stack of products.
template <class T>
[[nodiscard]] std::int64_t elements_along(const ProductStack<T>& stack, const Following& following,
                                          const FollowingOperand& operand) {
  std::int64_t elements = 1;
  for (int axis = 0; axis < stack.batch.rank; ++axis)
    if (operand.batch[static_cast<std::size_t>(axis)] != 0) elements *= stack.batch[axis];
  if (following.is_one_dimension) return operand.panel.strides[0] != 0 ? elements * stack.m * stack.n : elements;
  if (operand.row_stride != 0) elements *= stack.m;
  return operand.panel.strides[1] != 0 ? elements * stack.n : elements;
}

} // namespace twill::inline v0::kernel::detail::inline TWILL_ISA

namespace twill::inline v0::kernel::inline TWILL_ISA {

/// A launch of a program over a grid.
[[nodiscard]] TWILL_COLD inline NodeInfo launch_info(std::span<const Line> lines, KernelShape shape, const Grid& grid,
                                                     const Operand* operands) {
  constexpr std::string_view kinds[] = {"elementwise", "rows", "columns"};
  NodeInfo node{};
  std::vector<std::string_view> words{};
  detail::add_words(lines, words);
  if (words.empty()) words.push_back(detail::word_of_copy(lines));
  node.operation = joined_words(words);
  node.kind = kinds[static_cast<int>(shape)];
  std::vector<std::int64_t> of_operands{};
  for (const Line& line : lines)
    if (line.operand >= 0) of_operands.push_back(elements_along(grid, operands[line.operand]));
  std::int64_t reduced = 1; // a row program leaves the last dimension out, a column program the first
  for (int axis = 0; axis < grid.rank; ++axis)
    if (axis != (shape == KernelShape::column ? 0 : grid.rank - 1)) reduced *= grid[axis];
  const std::vector<std::int64_t> elements = detail::elements_of(lines, of_operands, reduced);
  node.flops = detail::flops_of(lines, elements);
  bool computes = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const std::int64_t bytes = elements[i] * static_cast<std::int64_t>(size_of(line.type));
    if (line.kind == LineKind::gather ||
        (line.kind == LineKind::input && !detail::is_read_before(lines, i, grid, operands)))
      node.bytes_read += bytes;
    if (line.kind == LineKind::output) {
      node.bytes_written += bytes;
      if (!computes) node.dtype = line.type;
    }
    if (line.kind == LineKind::step && is_floating(line.type)) {
      node.dtype = line.type;
      computes = true;
    }
  }
  return node;
}

/// A stack of matrix products and the program that follows their rows.
template <class T>
[[nodiscard]] TWILL_COLD NodeInfo product_info(const ProductStack<T>& stack, const Following& following,
                                               std::span<const Line> lines) {
  List<LaunchRecord> records{};
  {
    const LaunchListener listener{records};
    record_products(stack, following);
  }
  NodeInfo node{};
  std::vector<std::string_view> words{"matmul"};
  detail::add_words(lines, words);
  node.operation = joined_words(words);
  node.kind = "operation";
  node.dtype = dtype_of<T>;
  for (const OperandRecord& operand : records[0].operands)
    (operand.kind == LineKind::output ? node.bytes_written : node.bytes_read) +=
        operand.elements * static_cast<std::int64_t>(size_of(operand.dtype));
  std::vector<std::int64_t> of_operands{};
  for (int o = 0; o < following.count; ++o)
    of_operands.push_back(detail::elements_along(stack, following, following.operands[o]));
  node.flops = 2 * stack.batch.elements() * stack.m * stack.n * stack.k +
               detail::flops_of(lines, detail::elements_of(lines, of_operands, 1));
  return node;
}

} // namespace twill::inline v0::kernel::inline TWILL_ISA
