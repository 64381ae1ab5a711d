#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Every operation with a kernel of its own, for the interpreter of graphs: operands are laid out in their element types, the
// kernel that programs call is run on them, and what it leaves is read back. So all operations are checked in all types
// without compiling a program, and their kernels are compiled once, in operation_kernels.cpp. Read next:
// tests/support/operation_table.hpp.

#include "tests/support/graph_interpreter.hpp"

#include <vector>

namespace twill::test {

/// Runs the operation that is node `id` by its kernel, for `evaluate`.
void run_by_kernel(const graph::Graph& graph, int id, std::vector<Array>& values, Array& result);

} // namespace twill::test
