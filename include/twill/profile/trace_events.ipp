#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/trace_events.hpp.

#include <twill/profile/trace_events.hpp>

namespace twill::inline v0::profile {

TWILL_BODY void TraceEvents::name_thread(std::size_t process, std::size_t thread, std::string_view name) {
  name_something("thread_name", process, thread, name);
}

TWILL_BODY void TraceEvents::complete(std::string_view name, std::string_view category, std::size_t process,
                                      std::size_t thread, double start_us, double end_us, std::string_view arguments) {
  begin(name, "X", process, thread);
  text_ += join_text({", \"cat\": ", quoted(category), ", \"ts\": ", time(start_us), ", \"dur\": ",
                      fixed_us(nanoseconds(end_us) - nanoseconds(start_us)), ", \"args\": {", arguments, "}}"});
}

TWILL_BODY void TraceEvents::mark(std::string_view name, std::string_view category, std::size_t process,
                                  std::size_t thread, double time_us, std::string_view arguments) {
  begin(name, "i", process, thread);
  text_ += join_text(
      {", \"cat\": ", quoted(category), ", \"ts\": ", time(time_us), ", \"s\": \"t\", \"args\": {", arguments, "}}"});
}

TWILL_BODY void TraceEvents::count(std::string_view name, std::size_t process, double time_us, std::string_view unit,
                                   std::int64_t value) {
  begin(name, "C", process, 0);
  text_ += join_text({", \"ts\": ", time(time_us), ", \"args\": {", quoted(unit), ": ", value, "}}"});
}

TWILL_BODY void TraceEvents::arrow(std::string_view name, bool is_head, std::size_t number, std::size_t process,
                                   std::size_t thread, double time_us) {
  begin(name, is_head ? "f" : "s", process, thread);
  text_ += join_text({", \"cat\": ", quoted(name), ", \"id\": ", number, ", \"ts\": ", time(time_us),
                      is_head ? ", \"bp\": \"e\"}" : "}"});
}

TWILL_BODY std::string TraceEvents::text() const {
  return "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [" + text_ + "\n]}\n";
}

TWILL_BODY std::string TraceEvents::fixed_us(double whole_nanoseconds) {
  return detail::fixed(1e-3 * whole_nanoseconds, 3);
}

TWILL_BODY void TraceEvents::begin(std::string_view name, std::string_view phase, std::size_t process,
                                   std::size_t thread) {
  text_ += join_text({text_.empty() ? "\n" : ",\n", "{\"name\": ", quoted(name), ", \"ph\": \"", phase,
                      "\", \"pid\": ", process, ", \"tid\": ", thread_number(process, thread)});
}

TWILL_BODY std::size_t TraceEvents::thread_number(std::size_t process, std::size_t thread) {
  return 1000 * (process + 1) + thread;
}

TWILL_BODY void TraceEvents::name_something(std::string_view what, std::size_t process, std::size_t thread,
                                            std::string_view name) {
  begin(what, "M", process, thread);
  text_ += join_text({", \"args\": {\"name\": ", quoted(name), "}}"});
}

} // namespace twill::inline v0::profile
