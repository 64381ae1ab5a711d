// SPDX-License-Identifier: Apache-2.0
//
// A stage of ZeRO that there is not.
// expect: zero: there are stages 1 (states), 2 (gradients as well) and 3 (weights as well)

#include <twill/parallel/data/zero.hpp>

using namespace twill;

#ifdef MISUSE
constexpr int stage = decltype(parallel::zero<4>)::stage;
#else
constexpr int stage = decltype(parallel::zero<3>)::stage;
#endif

static_assert(stage > 0);
