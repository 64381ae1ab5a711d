#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/schedule/verify.hpp.

#include <twill/parallel/pipeline/schedule/verify.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline {

TWILL_BODY std::string to_string(const Verdict& verdict) {
  if (verdict) return "the schedule is sound";
  const std::string end{sentence(verdict.fault)};
  if (verdict.fault == ScheduleFault::too_few_micro_batches ||
      verdict.fault == ScheduleFault::micro_batches_are_not_a_multiple)
    return "the schedule " + end;
  return to_string(verdict.action) + " on rank " + std::to_string(verdict.rank) + " " + end;
}

}}}} // namespace twill::v0::parallel::pipeline
