#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/run/gather.hpp.

#include <twill/parallel/pipeline/run/gather.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

TWILL_BODY void write_event(const TimedAction& event, double* to) {
  to[0] = static_cast<double>(event.action.work);
  to[1] = event.action.stage;
  to[2] = event.action.micro_batch;
  to[3] = event.start;
  to[4] = event.end;
  to[5] = static_cast<double>(event.bytes);
}

TWILL_BODY TimedAction read_event(int rank, const double* from, double later) {
  const Action action{static_cast<Work>(from[0]), static_cast<int>(from[1]), static_cast<int>(from[2])};
  return {rank, action, from[3] + later, from[4] + later, static_cast<std::int64_t>(from[5])};
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA
