// SPDX-License-Identifier: Apache-2.0
//
// A zero-bubble schedule with fewer micro-batches than it needs to fill its ranks.
// expect: too_few_micro_batches
// expect: micro_batches<6>
// expect: needed<7>

#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/pipeline/schedule/verify.hpp>

using namespace twill;

#ifdef MISUSE
static_assert(pipeline::verified<pipeline::ZeroBubbleH2, 4, 6>);
#else
static_assert(pipeline::verified<pipeline::ZeroBubbleH2, 4, 7>);
#endif
