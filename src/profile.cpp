// SPDX-License-Identifier: Apache-2.0
//
// Bodies of profile/ in the compiled library.

#include <twill/profile/confusion.ipp>
#include <twill/profile/device_table.ipp>
#include <twill/profile/fit_program.ipp>
#include <twill/profile/fit_table.ipp>
#include <twill/profile/format.ipp>
#include <twill/profile/gantt.ipp>
#include <twill/profile/memory_page.ipp>
#include <twill/profile/memory_places.ipp>
#include <twill/profile/memory_trace.ipp>
#include <twill/profile/metrics.ipp>
#include <twill/profile/plan_drawing.ipp>
#include <twill/profile/progress.ipp>
#include <twill/profile/schedule_trace.ipp>
#include <twill/profile/source_places.ipp>
#include <twill/profile/svg.ipp>
#include <twill/profile/svg_plot.ipp>
#include <twill/profile/trace.ipp>
#include <twill/profile/trace_events.ipp>
#include <twill/profile/trace_report.ipp>
