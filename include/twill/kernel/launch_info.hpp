#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What an eager launch is, in words and numbers: the operations of its program, bytes of tensors read and written, operations
// of arithmetic, as compile/report/node_info.hpp tells them of compiled programs. A tensor that is named twice counts once; what is
// gathered counts as often as it is read. Only files that trace or name launches include it. Read next:
// kernel/launch_watch.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/run_recorder.hpp>
#include <twill/core/shape.hpp>
#include <twill/kernel/launch_terms.hpp>
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

namespace twill { inline namespace v0 { namespace kernel { namespace detail {

/// What a program computes, in its order.
void add_words(std::span<const Line> lines, std::vector<std::string_view>& words);

/// What a program is called that computes nothing.
[[nodiscard]] std::string_view word_of_copy(std::span<const Line> lines);

/// Elements in which the value of each line differs: the most of its arguments, and one for each result of a reduction.
[[nodiscard]] std::vector<std::int64_t> elements_of(std::span<const Line> lines,
                                                    const std::vector<std::int64_t>& of_operands, std::int64_t reduced);

/// Operations of arithmetic. What follows from a reduction alone is computed once for each of its results.
[[nodiscard]] std::int64_t flops_of(std::span<const Line> lines, const std::vector<std::int64_t>& elements);

/// Whether an earlier line reads the same elements. Strides beyond the grid mean nothing.
[[nodiscard]] bool is_read_before(std::span<const Line> lines, std::size_t number, const Grid& grid,
                                  const Operand* operands);

/// Different matrices of a stack.
[[nodiscard]] std::int64_t matrices_along(const Dims& batch, const BatchStrides& strides);

/// Different elements of an operand of what follows a stack of products.
[[nodiscard]] std::int64_t elements_along(const WatchedProducts& stack, const FollowingOperand& operand);

/// A launch of a program over a grid.
[[nodiscard]] NodeInfo program_info(const WatchedLaunch& launch, std::span<const Line> lines);

/// A stack of matrix products and the program that follows their rows. What the products left is read where it was computed.
[[nodiscard]] NodeInfo product_info(const WatchedProducts& stack, std::span<const Line> lines);

}}}} // namespace twill::v0::kernel::detail

namespace twill { inline namespace v0 { namespace kernel {

/// What a launch is. throws: std::bad_alloc
[[nodiscard]] NodeInfo launch_info(const WatchedLaunch& launch);

}}} // namespace twill::v0::kernel

#if TWILL_HEADER_ONLY
#include <twill/kernel/launch_info.ipp>
#endif
