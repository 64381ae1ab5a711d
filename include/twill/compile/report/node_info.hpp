#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Descriptions of launches of a bound table, in words and numbers: the operations of the kernel, the path of the layer,
// bytes of tensors read and written, operations of arithmetic. All of it is in the table, so nothing is traced again.
// Bytes count each tensor once for a launch, as far as the grid reaches; an operation's kernel is assumed to read all
// of its operands. Read next: compile/run/observer.hpp.

#include <twill/compile/plan/binding.hpp>
#include <twill/core/config.hpp>
#include <twill/core/run_recorder.hpp>
#include <twill/kernel/launch_info.hpp>
#include <twill/kernel/primitive.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// The lines of a program.
[[nodiscard]] ListView<Line> lines_of(const TableView& table, const KernelInfo& kernel);

/// "multiply+add+tanh": the first operations of a program.
[[nodiscard]] std::string words_of(ListView<Line> lines);

/// Operations of arithmetic of a program. Lines that depend only on a reduction run once for each of its results.
[[nodiscard]] std::int64_t flops_of(const Binding& binding, const BoundInstruction& instruction, ListView<Line> lines);

/// Adds the tensors that an instruction touches.
void add_bytes(const TableView& table, const Binding& binding, const BoundInstruction& instruction, bool is_operation,
               NodeInfo& node);

/// The name of the parameter that an instruction overwrites, empty where it overwrites none.
[[nodiscard]] std::string_view updated_parameter(const TableView& table, const BoundInstruction& instruction);

[[nodiscard]] std::string_view word_of(KernelKind kind);

[[nodiscard]] NodeInfo node_info(const TableView& table, const Binding& binding, std::size_t number);

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The description of each instruction by itself.
[[nodiscard]] std::vector<NodeInfo> instruction_infos(const TableView& table, const Binding& binding);

/// The description of each launch: instructions that share one are in its first, with the sums of bytes and arithmetic.
[[nodiscard]] std::vector<NodeInfo> node_infos(const TableView& table, const Binding& binding);

/// Puts the descriptions into the binding, once.
void describe(const TableView& table, Binding& binding);

/// Whether a program overwrites weights.
[[nodiscard]] bool updates_weights(const TableView& table);

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/report/node_info.ipp>
#endif
