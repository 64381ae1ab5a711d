#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Text in the Trace Event Format, which chrome://tracing and Perfetto open: processes and threads with names, complete events
// with their beginning, their length and what the viewer shows beside them, marks, counters and arrows. Times are microseconds,
// written as whole nanoseconds, so that what touches does not overlap. Names need not be UTF-8, the document is. Threads are
// counted from 0 in each process; in the document no thread has the number of a process. What is written with it:
// profile/node_trace.hpp, profile/schedule_trace.hpp, profile/memory_trace.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/core/utf8.hpp>
#include <twill/io/json.hpp>
#include <twill/profile/svg_plot.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace twill::inline v0::profile {

/// The events of a trace, one after the other.
class TraceEvents {
public:
  /// What viewers call a process.
  void name_process(std::size_t process, std::string_view name) { name_something("process_name", process, 0, name); }
  /// What viewers call a thread of it.
  void name_thread(std::size_t process, std::size_t thread, std::string_view name);

  /// Something that took a while. `arguments` are members of a JSON object: `"\"bytes\": 12"`.
  void complete(std::string_view name, std::string_view category, std::size_t process, std::size_t thread,
                double start_us, double end_us, std::string_view arguments);

  /// A moment of a thread.
  void mark(std::string_view name, std::string_view category, std::size_t process, std::size_t thread, double time_us,
            std::string_view arguments);

  /// What a counter of a process is from this moment on.
  void count(std::string_view name, std::size_t process, double time_us, std::string_view unit, std::int64_t value);

  /// One end of an arrow between two events, on the event of its thread in which this moment lies.
  void arrow(std::string_view name, bool is_head, std::size_t number, std::size_t process, std::size_t thread,
             double time_us);

  /// The whole file: JSON in the format of Chrome's trace viewer.
  [[nodiscard]] std::string text() const;

  /// A JSON string with its quotes.
  [[nodiscard]] static std::string quoted(std::string_view text) { return io::json_quoted(repaired_utf8(text)); }

private:
  [[nodiscard]] static double nanoseconds(double microseconds) { return std::round(1e3 * microseconds); }
  [[nodiscard]] static std::string fixed_us(double whole_nanoseconds);
  [[nodiscard]] static std::string time(double microseconds) { return fixed_us(nanoseconds(microseconds)); }

  void begin(std::string_view name, std::string_view phase, std::size_t process, std::size_t thread);
  /// Perfetto takes a thread 0, and one with its process' number, for the process' main thread, and shows both as one.
  [[nodiscard]] static std::size_t thread_number(std::size_t process, std::size_t thread);
  void name_something(std::string_view what, std::size_t process, std::size_t thread, std::string_view name);

  std::string text_{};
};

} // namespace twill::inline v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/trace_events.ipp>
#endif
