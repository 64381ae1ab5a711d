#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Lets sources written for Catch2 2 compile with Catch2 3. Only on the include path when Catch2 3 was found.

#include <catch2/catch_all.hpp>

#include <string>

using Catch::Approx;

namespace Catch {
inline auto Contains(std::string text) { return Matchers::ContainsSubstring(std::move(text)); }
using Matchers::EndsWith;
using Matchers::Equals;
using Matchers::StartsWith;
} // namespace Catch
