#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Where this tree's tests lie, for what they read beside their sources. The build says it in support/main.cpp alone, so that
// the objects of all other files serve every clone.

#include <string>

namespace twill::test {

/// The folder `tests/`, with a slash at its end.
[[nodiscard]] std::string tests_folder();

} // namespace twill::test
