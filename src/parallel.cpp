// SPDX-License-Identifier: Apache-2.0
//
// Bodies of parallel/ in the compiled library.

#include <twill/parallel/balance.ipp>
#include <twill/parallel/call_check.ipp>
#include <twill/parallel/chunk.ipp>
#include <twill/parallel/communicator.ipp>
#include <twill/parallel/detail/text_of.ipp>
#include <twill/parallel/distributed.ipp>
#include <twill/parallel/link.ipp>
#include <twill/parallel/pipeline/action.ipp>
#include <twill/parallel/pipeline/block.ipp>
#include <twill/parallel/pipeline/costs.ipp>
#include <twill/parallel/pipeline/gather.ipp>
#include <twill/parallel/pipeline/measure.ipp>
#include <twill/parallel/pipeline/runner.ipp>
#include <twill/parallel/pipeline/shared_optimiser.ipp>
#include <twill/parallel/pipeline/stage_optimisers.ipp>
#include <twill/parallel/pipeline/stage_rules.ipp>
#include <twill/parallel/pipeline/state.ipp>
#include <twill/parallel/pipeline/ties.ipp>
#include <twill/parallel/pipeline/verify.ipp>
#include <twill/parallel/rank_sums.ipp>
#include <twill/parallel/rank_threads.ipp>
#include <twill/parallel/ranks.ipp>
#include <twill/parallel/reduction_tree.ipp>
#include <twill/parallel/replicas.ipp>
#include <twill/parallel/shards.ipp>
#include <twill/parallel/share.ipp>
#include <twill/parallel/stored_parts.ipp>
#include <twill/parallel/threads_group.ipp>
#include <twill/parallel/threads_mail.ipp>
#include <twill/parallel/threads_queue.ipp>
#include <twill/parallel/threads_rank.ipp>
#include <twill/parallel/threads_waits.ipp>
