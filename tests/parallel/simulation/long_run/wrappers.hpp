#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The wrappers that long simulations know.

#include "tests/parallel/simulation/long_run/run.hpp"

#include <vector>

namespace twill::test::long_run {

void add_distributed(std::vector<Wrapper>& all); ///< DDP and ZeRO
void add_replicas(std::vector<Wrapper>& all);    ///< DataParallel, and pipelines whose ranks are threads of one step
void add_pipelines(std::vector<Wrapper>& all);   ///< ranks of pipelines, with replicas and without
void add_elastic(std::vector<Wrapper>& all);     ///< elastic training of threads and of processes

} // namespace twill::test::long_run
