#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reports of `parallel::fit` as text, as JSON and as drawings: a row, an object or a bar for each rank, with its bytes
// by class. Not in twill.hpp. Read next: profile/fit_program.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/fit/report.hpp>
#include <twill/profile/format.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace twill { inline namespace v0 { namespace profile {

/// The ranks of a report as a table, then its times and its traffic.
[[nodiscard]] std::string fit_table(const parallel::fit::Report& report);
/// Several reports, a line for each: peak, predicted step, bubble.
[[nodiscard]] std::string fit_table(const std::vector<parallel::fit::Report>& reports);

/// Reports as a JSON array. Bytes are whole numbers, times are seconds.
[[nodiscard]] std::string fit_json(const std::vector<parallel::fit::Report>& reports);

/// The bytes of each rank as bars, and a line at the budget, if there is one, as an SVG document.
[[nodiscard]] std::string svg_fit(const parallel::fit::Report& report, std::int64_t budget_bytes = 0);

}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/fit_table.ipp>
#endif
