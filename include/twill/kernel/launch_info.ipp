#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/launch_info.hpp.

#include <twill/kernel/launch_info.hpp>

namespace twill { inline namespace v0 { namespace kernel {

TWILL_COLD TWILL_BODY std::string joined_words(const std::vector<std::string_view>& words) {
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

TWILL_BODY std::int64_t elements_along(const Grid& grid, const Operand& operand) {
  std::int64_t elements = 1;
  for (int axis = 0; axis < grid.rank; ++axis)
    if (operand.strides[static_cast<std::size_t>(axis)] != 0) elements *= grid[axis];
  return elements;
}

}}} // namespace twill::v0::kernel

namespace twill { inline namespace v0 { namespace kernel { namespace detail {

TWILL_BODY void add_words(std::span<const Line> lines, std::vector<std::string_view>& words) {
  for (const Line& line : lines) {
    if (line.kind == LineKind::step) words.push_back(info(line.primitive).name);
    if (line.kind == LineKind::gather) words.push_back("gather");
    if (line.kind == LineKind::reduce || line.kind == LineKind::reduce_columns) words.push_back(name(line.reduction));
  }
}

TWILL_BODY std::string_view word_of_copy(std::span<const Line> lines) {
  for (const Line& line : lines) {
    if (line.kind == LineKind::cast) return "cast";
    if (line.kind == LineKind::input) return "copy";
  }
  return "fill";
}

TWILL_COLD TWILL_BODY std::vector<std::int64_t>
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

TWILL_COLD TWILL_BODY std::int64_t flops_of(std::span<const Line> lines, const std::vector<std::int64_t>& elements) {
  std::int64_t flops = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    if (line.kind == LineKind::step) flops += (line.primitive == Primitive::fma ? 2 : 1) * elements[i];
    if (line.kind == LineKind::reduce || line.kind == LineKind::reduce_columns)
      flops += elements[static_cast<std::size_t>(line.arguments[0])];
  }
  return flops;
}

TWILL_BODY bool is_read_before(std::span<const Line> lines, std::size_t number, const Grid& grid,
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

TWILL_BODY std::int64_t matrices_along(const Dims& batch, const BatchStrides& strides) {
  std::int64_t count = 1;
  for (int axis = 0; axis < batch.rank; ++axis)
    if (strides[static_cast<std::size_t>(axis)] != 0) count *= batch[axis];
  return count;
}

TWILL_BODY std::int64_t elements_along(const WatchedProducts& stack, const FollowingOperand& operand) {
  const std::int64_t elements = matrices_along(*stack.batch, operand.batch);
  if (stack.following->is_one_dimension) return operand.panel.strides[0] != 0 ? elements * stack.m * stack.n : elements;
  return elements * (operand.row_stride != 0 ? stack.m : 1) * (operand.panel.strides[1] != 0 ? stack.n : 1);
}

TWILL_COLD TWILL_BODY NodeInfo program_info(const WatchedLaunch& launch, std::span<const Line> lines) {
  constexpr std::string_view kinds[] = {"elementwise", "rows", "columns"};
  const Grid& grid = *launch.grid;
  NodeInfo node{};
  std::vector<std::string_view> words{};
  add_words(lines, words);
  if (words.empty()) words.push_back(word_of_copy(lines));
  node.operation = joined_words(words);
  node.kind = kinds[static_cast<int>(launch.shape)];
  std::vector<std::int64_t> of_operands{};
  for (const Line& line : lines)
    if (line.operand >= 0) of_operands.push_back(kernel::elements_along(grid, launch.operands[line.operand]));
  std::int64_t reduced = 1; // a row program leaves the last dimension out, a column program the first
  for (int axis = 0; axis < grid.rank; ++axis)
    if (axis != (launch.shape == KernelShape::column ? 0 : grid.rank - 1)) reduced *= grid[axis];
  const std::vector<std::int64_t> elements = elements_of(lines, of_operands, reduced);
  node.flops = flops_of(lines, elements);
  bool computes = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const std::int64_t bytes = elements[i] * static_cast<std::int64_t>(size_of(line.type));
    if (line.kind == LineKind::gather ||
        (line.kind == LineKind::input && !is_read_before(lines, i, grid, launch.operands)))
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

TWILL_COLD TWILL_BODY NodeInfo product_info(const WatchedProducts& stack, std::span<const Line> lines) {
  NodeInfo node{};
  std::vector<std::string_view> words{"matmul"};
  add_words(lines, words);
  node.operation = joined_words(words);
  node.kind = "operation";
  node.dtype = stack.dtype;
  const auto size = static_cast<std::int64_t>(size_of(stack.dtype));
  const std::int64_t products = stack.batch->elements();
  node.bytes_read = size * (matrices_along(*stack.batch, *stack.a_batch) * stack.m * stack.k +
                            matrices_along(*stack.batch, *stack.b_batch) * stack.k * stack.n);
  node.bytes_written = size * products * stack.m * stack.n;
  std::vector<std::int64_t> of_operands{};
  for (int o = 0; o < stack.following->count; ++o) {
    const FollowingOperand& operand = stack.following->operands[o];
    of_operands.push_back(elements_along(stack, operand));
    if (operand.element_bytes == 0 || operand.panel.data == stack.c) continue; // numbers, and the product's result
    (operand.is_output ? node.bytes_written : node.bytes_read) +=
        of_operands.back() * static_cast<std::int64_t>(size_of(operand.dtype));
  }
  node.flops = 2 * products * stack.m * stack.n * stack.k + flops_of(lines, elements_of(lines, of_operands, 1));
  return node;
}

}}}} // namespace twill::v0::kernel::detail

namespace twill { inline namespace v0 { namespace kernel {

TWILL_COLD TWILL_BODY NodeInfo launch_info(const WatchedLaunch& launch) {
  const std::span lines{launch.lines, static_cast<std::size_t>(launch.line_count)};
  return launch.products != nullptr ? detail::product_info(*launch.products, lines)
                                    : detail::program_info(launch, lines);
}

}}} // namespace twill::v0::kernel
