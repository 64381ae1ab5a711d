#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Names and counts of launches, for compiled programs and eager statements alike: the name of a launch, and how many
// elements of an operand it touches. Read next: kernel/launch_info.hpp, compile/report/node_info.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/kernel/program.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace kernel {

/// "multiply+add+tanh": each word once, and only the first few.
[[nodiscard]] std::string joined_words(const std::vector<std::string_view>& words);

/// Elements of an operand that a launch touches: the product of the axes along which it moves.
[[nodiscard]] std::int64_t elements_along(const Grid& grid, const Operand& operand);

}}} // namespace twill::v0::kernel

#if TWILL_HEADER_ONLY
#include <twill/kernel/launch_terms.ipp>
#endif
