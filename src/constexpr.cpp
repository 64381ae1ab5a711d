// SPDX-License-Identifier: Apache-2.0
//
// Constexpr functions for use at run time in the compiled library, which headers define with TWILL_CONSTEXPR. Models are traced
// by them in milliseconds: cmake/compiled_library.cmake has this file compiled at -O1.

#define TWILL_BUILDS_CONSTEXPR
#include <twill/algorithms/partition.hpp>
#include <twill/algorithms/sampled.hpp>
#include <twill/algorithms/sets.hpp>
#include <twill/core/decimal_bytes.hpp>
#include <twill/data/color_jitter.hpp>
#include <twill/data/mixing.hpp>
#include <twill/data/random_regions.hpp>
#include <twill/data/rotation.hpp>
#include <twill/expr/distances.hpp>
#include <twill/linalg.hpp>
#include <twill/nn/gates.hpp>
#include <twill/nn/local_response_norm.hpp>
#include <twill/nn/losses/likelihood.hpp>
#include <twill/nn/losses/margin.hpp>
#include <twill/nn/recurrent_cells.hpp>
#include <twill/nn/transformer.hpp>
#include <twill/ops/cumprod.hpp>
#include <twill/ops/einsum.hpp>
#include <twill/ops/patches.hpp>
#include <twill/ops/repeat.hpp>
#include <twill/optim/adafactor.hpp>
#include <twill/optim/adaptive.hpp>
#include <twill/optim/averaged.hpp>
#include <twill/optim/lbfgs.hpp>
#include <twill/optim/maximize.hpp>
#include <twill/optim/muon.hpp>
#include <twill/optim/sam.hpp>
#include <twill/parallel/fit/counted_time.hpp>
#include <twill/parallel/fit/estimate.hpp>
#include <twill/parallel/fit/ledger.hpp>
#include <twill/parallel/fit/options.hpp>
#include <twill/parallel/fit/pipeline_replay.hpp>
#include <twill/parallel/fit/planned.hpp>
#include <twill/parallel/fit/replica.hpp>
#include <twill/parallel/fit/report.hpp>
#include <twill/parallel/fit/search.hpp>
#include <twill/parallel/fit/stage_plan.hpp>
#include <twill/parallel/fit/stage_replay.hpp>
#include <twill/parallel/fit/traces.hpp>
#include <twill/profile/fit_program.hpp>
#include <twill/profile/fit_table.hpp>
#include <twill/sparse/csr_value.hpp>
#include <twill/training/early_stopping.hpp>
#include <twill/training/lbfgs_step.hpp>
#include <twill/training/peak_bytes.hpp>
#include <twill/training/rate_finder.hpp>
#include <twill/training/sam_step.hpp>
#include <twill/sparse.hpp>
#include <twill/twill.hpp>
