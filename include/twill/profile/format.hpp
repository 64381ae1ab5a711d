#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Number formats of reports, and files to save them to: decimals with a fixed number of digits, percentages, durations,
// sizes. Tables, pictures and trace documents all write their numbers with these. Read next: profile/table.hpp,
// profile/svg.hpp, profile/trace_events.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/memory/out_of_memory.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 { namespace profile {

/// A number with this many digits after the point; never "-0".
[[nodiscard]] std::string fixed(double value, int digits);

/// A share of one in percent: "12.5%"; "-" where it is not known: negative, infinite or NaN.
[[nodiscard]] std::string percent(double share, int digits);

/// A duration in the unit that suits it: "12.3 us", "4.56 ms", "7.89 s".
[[nodiscard]] std::string duration(double seconds);

/// A size in the unit that suits it: "512 B", "1.50 MiB".
template <class Bytes> [[nodiscard]] std::string bytes_text(Bytes bytes) {
  return memory::format_bytes(static_cast<std::int64_t>(bytes));
}

/// Writes a text to a file; `what` begins the message of an error.    throws: SystemError
void save_text(std::string_view what, const std::string& path, const std::string& text);

}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/format.ipp>
#endif
