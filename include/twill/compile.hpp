#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of compile/.

#include <twill/compile/binding.hpp>
#include <twill/compile/bindings.hpp>
#include <twill/compile/blame.hpp>
#include <twill/compile/capture_report.hpp>
#include <twill/compile/channels_last.hpp>
#include <twill/compile/cost.hpp>
#include <twill/compile/divisions.hpp>
#include <twill/compile/draft.hpp>
#include <twill/compile/dump.hpp>
#include <twill/compile/executor.hpp>
#include <twill/compile/face.hpp>
#include <twill/compile/fit.hpp>
#include <twill/compile/function.hpp>
#include <twill/compile/group.hpp>
#include <twill/compile/integer_bounds.hpp>
#include <twill/compile/interlude.hpp>
#include <twill/compile/join.hpp>
#include <twill/compile/knobs.hpp>
#include <twill/compile/loops.hpp>
#include <twill/compile/lower.hpp>
#include <twill/compile/memory_use.hpp>
#include <twill/compile/observation.hpp>
#include <twill/compile/order.hpp>
#include <twill/compile/place.hpp>
#include <twill/compile/program_type.hpp>
#include <twill/compile/reading.hpp>
#include <twill/compile/report.hpp>
#include <twill/compile/run_groups.hpp>
#include <twill/compile/run_joined.hpp>
#include <twill/compile/run_loops.hpp>
#include <twill/compile/signature.hpp>
#include <twill/compile/simplify.hpp>
#include <twill/compile/slot_executor.hpp>
#include <twill/compile/slot_numbers.hpp>
#include <twill/compile/slot_run.hpp>
#include <twill/compile/slot_schedule.hpp>
#include <twill/compile/storage.hpp>
#include <twill/compile/table.hpp>
#include <twill/compile/unit_order.hpp>
#include <twill/compile/units.hpp>
#include <twill/compile/watch.hpp>
