// SPDX-License-Identifier: Apache-2.0
//
// A stage of ZeRO that shares out the weights.
// expect: zero: there are stages 1 (states) and 2 (gradients as well)

#include <twill/parallel/zero.hpp>

using namespace twill;

#ifdef MISUSE
constexpr int stage = decltype(parallel::zero<3>)::stage;
#else
constexpr int stage = decltype(parallel::zero<2>)::stage;
#endif

static_assert(stage > 0);
