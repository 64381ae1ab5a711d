#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Schedules of pipelines whose shards meet: a stage that sums over the whole batch inside its run, as synchronised
// batch norm does, cannot finish a forward pass before it has the inputs of all micro-batches, nor a backward pass
// before it has all their gradients. So whatever the kind of schedule, each stage does all forward passes, then all
// backward ones, and a stage whose shards meet sends its results after the last of them. Not in twill.hpp. Read next:
// parallel/pipeline/run/shard_runner.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/pipeline/run/step_options.hpp>
#include <twill/parallel/pipeline/schedule/schedule.hpp>

#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// The computation of a schedule, without its messages, with each pass of a stage complete before the next one.
[[nodiscard]] Schedule stage_by_stage(const Schedule& whole);

/// Such a schedule with its messages. `meets` says of each stage whether its shards meet.
/// throws: ValueError if it cannot be carried out
[[nodiscard]] Schedule schedule_of_meetings(const Schedule& whole, const std::vector<bool>& meets);

/// Refuses to compute some shards of a stage again, and others not, where these meet.    throws: ValueError
void require_equal_passes(const StageCheckpointing& checkpointing, const std::vector<bool>& meets);

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/run/shard_schedule.ipp>
#endif
