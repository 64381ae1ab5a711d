#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of parallel/.

#include <twill/parallel/call_check.hpp>
#include <twill/parallel/chunk.hpp>
#include <twill/parallel/collectives.hpp>
#include <twill/parallel/communicator.hpp>
#include <twill/parallel/data_parallel.hpp>
#include <twill/parallel/data_parallel_step.hpp>
#include <twill/parallel/pipeline/action.hpp>
#include <twill/parallel/pipeline/balance.hpp>
#include <twill/parallel/pipeline/block.hpp>
#include <twill/parallel/pipeline/clip.hpp>
#include <twill/parallel/pipeline/costs.hpp>
#include <twill/parallel/pipeline/cut.hpp>
#include <twill/parallel/pipeline/pipeline.hpp>
#include <twill/parallel/pipeline/plan.hpp>
#include <twill/parallel/pipeline/predict.hpp>
#include <twill/parallel/pipeline/programs.hpp>
#include <twill/parallel/pipeline/rank_step.hpp>
#include <twill/parallel/pipeline/run.hpp>
#include <twill/parallel/pipeline/runner.hpp>
#include <twill/parallel/pipeline/schedule.hpp>
#include <twill/parallel/pipeline/schedules.hpp>
#include <twill/parallel/pipeline/simulate.hpp>
#include <twill/parallel/pipeline/stage.hpp>
#include <twill/parallel/pipeline/state.hpp>
#include <twill/parallel/pipeline/step.hpp>
#include <twill/parallel/pipeline/step_options.hpp>
#include <twill/parallel/pipeline/ties.hpp>
#include <twill/parallel/pipeline/transfers.hpp>
#include <twill/parallel/pipeline/verify.hpp>
#include <twill/parallel/ranks.hpp>
#include <twill/parallel/reduction_tree.hpp>
#include <twill/parallel/replicas.hpp>
#include <twill/parallel/scatter.hpp>
#include <twill/parallel/threads.hpp>
#include <twill/parallel/threads_group.hpp>
#include <twill/parallel/threads_mail.hpp>
#include <twill/parallel/threads_queue.hpp>
#include <twill/parallel/threads_rank.hpp>
