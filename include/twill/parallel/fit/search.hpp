#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Search over the ways to divide a step on a number of devices: those whose fullest device stays within a budget, the
// one with the shortest predicted step first. Not in twill.hpp. Read next: profile/fit_program.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/fit/estimate.hpp>
#include <twill/parallel/fit/options.hpp>
#include <twill/parallel/fit/report.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// What is searched.
struct SearchOptions {
  int devices = 1;                         ///< all are used
  std::int64_t budget_bytes = 0;           ///< of each device; 0: any
  std::vector<int> micro_batches{1, 2, 4}; ///< of a pipeline, times its ranks
  std::size_t most = 20;                   ///< results
};

/// All ways that a step can be divided on these devices, whether they fit or not: replicas with each of ZeRO's stages,
/// and pipelines with each schedule, number of micro-batches and way of checkpointing.
[[nodiscard]] std::vector<Options> candidates(const SearchOptions& search, std::int64_t rows);

/// The reports of those that fit, the shortest predicted step first. Ways that the model does not allow, such as more
/// stages than it has places to be cut, are left out. One device that does not fit is tried with parts computed again.
/// throws: ValueError if the ranks that divide the model's layers do not divide the devices
[[nodiscard]] std::vector<Report> search(Estimator& estimator, const SearchOptions& options);

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/fit/search.ipp>
#endif
