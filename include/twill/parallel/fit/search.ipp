#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/fit/search.hpp.

#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/fit/search.hpp>

#include <algorithm>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

TWILL_BODY std::vector<Options> candidates(const SearchOptions& search, std::int64_t rows) {
  std::vector<Options> all{};
  for (int ranks = 1; ranks <= search.devices; ++ranks) {
    const int replicas = search.devices / ranks;
    if (ranks * replicas != search.devices || replicas > rows) continue;
    if (ranks == 1) {
      for (int zero = 0; zero <= (replicas > 1 ? 3 : 0); ++zero) all.push_back({.data = replicas, .zero = zero});
      if (replicas == 1 && search.budget_bytes > 0) all.push_back({.budget_bytes = search.budget_bytes});
      continue;
    }
    for (const ScheduleName& schedule : schedules()) {
      for (const int times : search.micro_batches) {
        const int number = times * ranks;
        if (number < schedule.least_micro_batches(ranks) || number % schedule.multiple_of(ranks) != 0 ||
            number > rows / replicas)
          continue;
        for (const auto checkpointing :
             {pipeline::Checkpointing::never, pipeline::Checkpointing::except_last, pipeline::Checkpointing::always})
          for (int zero = 0; zero <= (replicas > 1 ? 1 : 0); ++zero)
            all.push_back({.data = replicas,
                           .pipeline = ranks,
                           .zero = zero,
                           .schedule = schedule.name,
                           .micro_batches = number,
                           .checkpointing = checkpointing});
      }
    }
  }
  return all;
}

TWILL_BODY std::vector<Report> search(Estimator& estimator, const SearchOptions& options) {
  if (options.devices < 1)
    throw ValueError(join_text({"fit: a search is for at least one device, got ", options.devices}));
  std::vector<Report> found{};
  SearchOptions whole = options; // the devices that hold all layers count as one
  if (estimator.slots() > 1 && options.devices != estimator.slots())
    throw ValueError(join_text({"fit: the model's parts are in ", estimator.slots(),
                                " device slots, it is searched on "
                                "as many devices, not on ",
                                options.devices}));
  whole.devices /= estimator.layer_ranks() * estimator.slots();
  if (whole.devices * estimator.layer_ranks() * estimator.slots() != options.devices)
    throw ValueError(join_text({"fit: the model's layers are divided among ", estimator.layer_ranks(),
                                " ranks, which do not divide ", options.devices, " devices"}));
  for (const Options& candidate : candidates(whole, estimator.rows())) {
    if (candidate.budget_bytes > 0 && !found.empty()) continue; // the whole step fits
    try {
      Report report = estimator.report(candidate);
      if (options.budget_bytes == 0 || report.peak_bytes() <= options.budget_bytes) found.push_back(std::move(report));
    } catch (const ValueError&) { // the model cannot be divided so
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Report& left, const Report& right) { return left.step_s < right.step_s; });
  if (found.size() > options.most) found.resize(options.most);
  return found;
}

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA
