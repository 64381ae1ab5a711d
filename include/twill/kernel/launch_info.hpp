#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Descriptions of eager launches: the operations of the program, bytes of tensors read and written, and arithmetic
// operations, in the form that compile/report/node_info.hpp uses for compiled programs. A tensor that is named twice
// counts once; gathered elements count as often as they are read. Only files that trace or name launches include it.
// Read next: kernel/launch_watch.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/run_recorder.hpp>
#include <twill/core/shape.hpp>
#include <twill/core/text.hpp>
#include <twill/kernel/launch_watch.hpp>
#include <twill/kernel/primitive.hpp>
#include <twill/kernel/product_stack.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace kernel {

/// "multiply+add+tanh": each word once, and only the first few.
[[nodiscard]] std::string joined_words(const std::vector<std::string_view>& words);

/// Elements of an operand that a launch touches: the product of the axes along which it moves.
[[nodiscard]] std::int64_t elements_along(const Grid& grid, const Operand& operand);

}}} // namespace twill::v0::kernel

namespace twill { inline namespace v0 { namespace kernel { namespace detail {

/// Adds the words for a program's operations, in order.
void add_words(std::span<const Line> lines, std::vector<std::string_view>& words);

/// The name of a program without operations.
[[nodiscard]] std::string_view word_of_copy(std::span<const Line> lines);

/// The number of distinct elements of each line: the most of its arguments, and one for each result of a reduction.
[[nodiscard]] std::vector<std::int64_t> elements_of(std::span<const Line> lines,
                                                    const std::vector<std::int64_t>& of_operands, std::int64_t reduced);

/// Arithmetic operations. Lines that follow from a reduction alone are computed once for each of its results.
[[nodiscard]] std::int64_t flops_of(std::span<const Line> lines, const std::vector<std::int64_t>& elements);

/// Whether an earlier line reads the same elements. Strides beyond the grid have no meaning.
[[nodiscard]] bool is_read_before(std::span<const Line> lines, std::size_t number, const Grid& grid,
                                  const Operand* operands);

/// The number of different matrices of a stack.
[[nodiscard]] std::int64_t matrices_along(const Dims& batch, const BatchStrides& strides);

/// The number of different elements of an operand of the program that follows a stack of products.
[[nodiscard]] std::int64_t elements_along(const WatchedProducts& stack, const FollowingOperand& operand);

/// A launch of a program over a grid.
[[nodiscard]] NodeInfo program_info(const WatchedLaunch& launch, std::span<const Line> lines);

/// A stack of matrix products and the program that follows their rows, which reads the products in place.
[[nodiscard]] NodeInfo product_info(const WatchedProducts& stack, std::span<const Line> lines);

}}}} // namespace twill::v0::kernel::detail

namespace twill { inline namespace v0 { namespace kernel {

/// The description of a launch. throws: std::bad_alloc
[[nodiscard]] NodeInfo launch_info(const WatchedLaunch& launch);

}}} // namespace twill::v0::kernel

#if TWILL_HEADER_ONLY
#include <twill/kernel/launch_info.ipp>
#endif
