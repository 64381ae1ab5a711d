#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Findings: what a program does that is undefined or fails on a device. Each is printed once for its kind, kernel and place:
//
//   ptxrun: <kind>: <detail>
//     kernel <demangled name>
//     at <file>:<line> [inlined at <file>:<line>]: <instruction>
//
// A program with findings ends with status 86, whatever it returned, so that no test passes over them.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ptxrun {

class Kernel;
struct Instruction;

inline constexpr int status_of_findings = 86;

/// The kernel, and the instruction in it, may be null where the finding has none.
void report_finding(std::string_view kind, const Kernel* kernel, const Instruction* instruction,
                    const std::string& detail);

/// How many different findings there are: each kind once for a kernel and place.
[[nodiscard]] std::size_t finding_count();

/// The findings so far, printed or not, one `<kind>: <detail> [<file>:<line>]` each; forgets them, so that finding_count() is zero.
/// For tests that plant a defect, or a program that expects one.
[[nodiscard]] std::vector<std::string> take_findings();

/// Adds what ran to the file that PTXRUN_REPORT names: called once, when the program ends.
void write_report();

} // namespace ptxrun
