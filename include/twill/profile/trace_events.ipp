#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/trace_events.hpp.

#include <twill/profile/trace_events.hpp>

namespace twill { inline namespace v0 { namespace profile {
namespace detail {

TWILL_BODY double whole_nanoseconds(double microseconds) { return std::round(1e3 * microseconds); }

/// Nanoseconds as the microseconds of the format.
TWILL_BODY std::string microseconds_text(double nanoseconds) { return fixed(1e-3 * nanoseconds, 3); }

TWILL_BODY std::string time_text(double microseconds) { return microseconds_text(whole_nanoseconds(microseconds)); }

} // namespace detail

TWILL_BODY void TraceEvents::name_thread(std::size_t process, std::size_t thread, std::string_view name) {
  threads_.push_back({process, thread, std::string{name}});
  add_name("thread_name", process, thread, name);
}

TWILL_BODY std::size_t TraceEvents::free_thread(std::size_t process, std::string_view name, double start_us,
                                                double end_us) {
  std::size_t next = 0, count = 1;
  for (Thread& thread : threads_) {
    if (thread.process != process) continue;
    next = std::max(next, thread.number + 1);
    if (thread.name != name) continue;
    ++count;
    if (thread.end_us > start_us) continue;
    thread.end_us = end_us;
    return thread.number;
  }
  threads_.push_back({process, next, std::string{name}, end_us});
  add_name("thread_name", process, next, join_text({name, " ", count}));
  return next;
}

TWILL_BODY void TraceEvents::complete(std::string_view name, std::string_view category, std::size_t process,
                                      std::size_t thread, double start_us, double end_us, std::string_view arguments) {
  begin(name, "X", process, thread);
  text_ +=
      join_text({", \"cat\": ", quoted(category), ", \"ts\": ", detail::time_text(start_us), ", \"dur\": ",
                 detail::microseconds_text(detail::whole_nanoseconds(end_us) - detail::whole_nanoseconds(start_us)),
                 ", \"args\": {", arguments, "}}"});
}

TWILL_BODY void TraceEvents::mark(std::string_view name, std::string_view category, std::size_t process,
                                  std::size_t thread, double time_us, std::string_view arguments) {
  begin(name, "i", process, thread);
  text_ += join_text({", \"cat\": ", quoted(category), ", \"ts\": ", detail::time_text(time_us),
                      ", \"s\": \"t\", \"args\": {", arguments, "}}"});
}

TWILL_BODY void TraceEvents::count(std::string_view name, std::size_t process, double time_us, std::string_view unit,
                                   std::int64_t value) {
  begin(name, "C", process, 0);
  text_ += join_text({", \"ts\": ", detail::time_text(time_us), ", \"args\": {", quoted(unit), ": ", value, "}}"});
}

TWILL_BODY void TraceEvents::arrow(std::string_view name, bool is_head, std::size_t number, std::size_t process,
                                   std::size_t thread, double time_us) {
  begin(name, is_head ? "f" : "s", process, thread);
  text_ += join_text({", \"cat\": ", quoted(name), ", \"id\": ", number, ", \"ts\": ", detail::time_text(time_us),
                      is_head ? ", \"bp\": \"e\"}" : "}"});
}

TWILL_BODY std::string TraceEvents::text() const {
  return "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [" + text_ + "\n]}\n";
}

TWILL_BODY void TraceEvents::begin(std::string_view name, std::string_view phase, std::size_t process,
                                   std::size_t thread) {
  // Perfetto takes a thread 0, and one with its process' number, for the process' main thread, and shows both as one.
  const std::size_t number = 1000 * (process + 1) + thread;
  text_ += join_text({text_.empty() ? "\n" : ",\n", "{\"name\": ", quoted(name), ", \"ph\": \"", phase,
                      "\", \"pid\": ", process, ", \"tid\": ", number});
}

TWILL_BODY void TraceEvents::add_name(std::string_view kind, std::size_t process, std::size_t thread,
                                      std::string_view name) {
  begin(kind, "M", process, thread);
  text_ += join_text({", \"args\": {\"name\": ", quoted(name), "}}"});
}

}}} // namespace twill::v0::profile
