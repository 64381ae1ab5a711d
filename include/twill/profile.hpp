#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of profile/.

#include <twill/profile/confusion.hpp>
#include <twill/profile/device_table.hpp>
#include <twill/profile/format.hpp>
#include <twill/profile/gantt.hpp>
#include <twill/profile/measured_peaks.hpp>
#include <twill/profile/memory_page.hpp>
#include <twill/profile/memory_places.hpp>
#include <twill/profile/memory_trace.hpp>
#include <twill/profile/metrics.hpp>
#include <twill/profile/plan_drawing.hpp>
#include <twill/profile/progress.hpp>
#include <twill/profile/schedule_trace.hpp>
#include <twill/profile/source_places.hpp>
#include <twill/profile/svg.hpp>
#include <twill/profile/svg_plot.hpp>
#include <twill/profile/trace.hpp>
#include <twill/profile/trace_events.hpp>
#include <twill/profile/trace_report.hpp>
