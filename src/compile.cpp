// SPDX-License-Identifier: Apache-2.0
//
// Bodies of compile/ in the compiled library.

#include <twill/compile/binding.ipp>
#include <twill/compile/bindings.ipp>
#include <twill/compile/blame.ipp>
#include <twill/compile/descents.ipp>
#include <twill/compile/dump.ipp>
#include <twill/compile/gpu/partial_update.ipp>
#include <twill/compile/integer_bounds.ipp>
#include <twill/compile/interlude.ipp>
#include <twill/compile/knobs.ipp>
#include <twill/compile/node_info.ipp>
#include <twill/compile/observation.ipp>
#include <twill/compile/quick.ipp>
#include <twill/compile/rehearse.ipp>
#include <twill/compile/run_descents.ipp>
#include <twill/compile/run_groups.ipp>
#include <twill/compile/run_joined.ipp>
#include <twill/compile/run_loops.ipp>
#include <twill/compile/run_recorded.ipp>
#include <twill/compile/slot_schedule.ipp>
#include <twill/compile/watch.ipp>
