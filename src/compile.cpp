// SPDX-License-Identifier: Apache-2.0
//
// Bodies of compile/ in the compiled library.

#include <twill/compile/call_name.ipp>
#include <twill/compile/plan/arenas.ipp>
#include <twill/compile/plan/binding.ipp>
#include <twill/compile/plan/fused_sgd.ipp>
#include <twill/compile/plan/segments.ipp>
#include <twill/compile/quick.ipp>
#include <twill/compile/report/dump.ipp>
#include <twill/compile/report/nan_attribution.ipp>
#include <twill/compile/report/node_info.ipp>
#include <twill/compile/report/observation.ipp>
#include <twill/compile/run/bindings.ipp>
#include <twill/compile/run/groups.ipp>
#include <twill/compile/run/host_callback.ipp>
#include <twill/compile/run/integer_bounds.ipp>
#include <twill/compile/run/launch.ipp>
#include <twill/compile/run/observer.ipp>
#include <twill/compile/run/partial_update.ipp>
#include <twill/compile/run_scalars.ipp>
