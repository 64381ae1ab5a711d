#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Trace Event Format documents, which chrome://tracing and Perfetto open: processes and threads with names, complete
// events with their beginning, length and arguments, marks, counters and arrows. Times are microseconds, written as
// whole nanoseconds, so that events which touch do not overlap. Names need not be UTF-8, the document is. Threads are
// counted from 0 in each process; in the document no thread has the number of a process. Documents are written by
// profile/trace_report.hpp, profile/schedule_trace.hpp and profile/memory_trace.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/io/json.hpp>
#include <twill/profile/format.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace profile {

/// The events of a trace, one after the other.
class TraceEvents {
public:
  /// Names a process for viewers.
  void name_process(std::size_t process, std::string_view name) { add_name("process_name", process, 0, name); }
  /// Names a thread of a process for viewers.
  void name_thread(std::size_t process, std::size_t thread, std::string_view name);

  /// A thread of a process with this name in which nothing overlaps an event of this time, which it is taken for; where
  /// all are busy, a new one, after all that the process has. Events are asked for in the order in which they begin.
  [[nodiscard]] std::size_t free_thread(std::size_t process, std::string_view name, double start_us, double end_us);

  /// Something that took a while. `arguments` are members of a JSON object: `"\"bytes\": 12"`.
  void complete(std::string_view name, std::string_view category, std::size_t process, std::size_t thread,
                double start_us, double end_us, std::string_view arguments);

  /// A moment of a thread.
  void mark(std::string_view name, std::string_view category, std::size_t process, std::size_t thread, double time_us,
            std::string_view arguments);

  /// The value of a process's counter from this moment on.
  void count(std::string_view name, std::size_t process, double time_us, std::string_view unit, std::int64_t value);

  /// One end of an arrow between two events, on the event of its thread at this moment.
  void arrow(std::string_view name, bool is_head, std::size_t number, std::size_t process, std::size_t thread,
             double time_us);

  /// The whole file: JSON in the format of Chrome's trace viewer.
  [[nodiscard]] std::string text() const;

  /// A JSON string with its quotes.
  [[nodiscard]] static std::string quoted(std::string_view text) { return io::json_quoted(repaired_utf8(text)); }

private:
  struct Thread {
    std::size_t process = 0;
    std::size_t number = 0;
    std::string name{};
    double end_us = 0; ///< of the last event that it was taken for
  };

  void begin(std::string_view name, std::string_view phase, std::size_t process, std::size_t thread);
  void add_name(std::string_view kind, std::size_t process, std::size_t thread, std::string_view name);

  std::vector<Thread> threads_{};
  std::string text_{};
};

}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/trace_events.ipp>
#endif
