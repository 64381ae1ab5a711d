#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Whether a result is NumPy's, and where it is not.

#include "tests/oracle/case.hpp"
#include "tests/oracle/registry.hpp"

#include <string>

namespace oracle {

/// An empty text when equal within the tolerance, else the first difference. Leading axes of extent 1 may be more.
[[nodiscard]] std::string difference(const Values& found, const Values& expected, const Tolerance& tolerance);

} // namespace oracle
