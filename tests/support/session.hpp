#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Catch2's session, which session.cpp compiles once for the programs of all layers and instruction sets.

namespace twill::test {

/// Runs the test cases that the arguments select. returns: what a main returns
int run_session(int argument_count, char** arguments);

} // namespace twill::test
