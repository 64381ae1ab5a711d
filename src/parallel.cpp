// SPDX-License-Identifier: Apache-2.0
//
// Bodies of parallel/ in the compiled library.

#include <twill/parallel/data/balance.ipp>
#include <twill/parallel/data/chunk.ipp>
#include <twill/parallel/data/distributed.ipp>
#include <twill/parallel/data/elastic_state.ipp>
#include <twill/parallel/data/replicas.ipp>
#include <twill/parallel/data/reproducible_step.ipp>
#include <twill/parallel/data/shard_buffers.ipp>
#include <twill/parallel/data/shards.ipp>
#include <twill/parallel/fit/calibration.ipp>
#include <twill/parallel/fit/estimate.ipp>
#include <twill/parallel/fit/held.ipp>
#include <twill/parallel/fit/layer_traffic.ipp>
#include <twill/parallel/fit/options.ipp>
#include <twill/parallel/fit/pipeline_replay.ipp>
#include <twill/parallel/fit/planned.ipp>
#include <twill/parallel/fit/replica.ipp>
#include <twill/parallel/fit/search.ipp>
#include <twill/parallel/fit/stage_plan.ipp>
#include <twill/parallel/fit/stage_replay.ipp>
#include <twill/parallel/group/call_check.ipp>
#include <twill/parallel/group/communicator.ipp>
#include <twill/parallel/group/failure.ipp>
#include <twill/parallel/group/on_termination.ipp>
#include <twill/parallel/group/rank_sums.ipp>
#include <twill/parallel/group/reduction_tree.ipp>
#include <twill/parallel/group/waiting.ipp>
#include <twill/parallel/model/whole_tensors.ipp>
#include <twill/parallel/pipeline/model/block.ipp>
#include <twill/parallel/pipeline/model/state.ipp>
#include <twill/parallel/pipeline/model/ties.ipp>
#include <twill/parallel/pipeline/run/costs.ipp>
#include <twill/parallel/pipeline/run/gather.ipp>
#include <twill/parallel/pipeline/run/reproducible_step.ipp>
#include <twill/parallel/pipeline/run/runner.ipp>
#include <twill/parallel/pipeline/run/shard_schedule.ipp>
#include <twill/parallel/pipeline/run/stage_optimisers.ipp>
#include <twill/parallel/pipeline/schedule/action.ipp>
#include <twill/parallel/pipeline/schedule/verify.ipp>
#include <twill/parallel/threads/elastic.ipp>
#include <twill/parallel/threads/group.ipp>
#include <twill/parallel/threads/mailbox.ipp>
#include <twill/parallel/threads/queue.ipp>
#include <twill/parallel/threads/rank.ipp>
#include <twill/parallel/threads/ranks.ipp>
