#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Text in the Trace Event Format, which chrome://tracing and Perfetto open: processes and threads with names, and complete
// events, each with its beginning, its length and what the viewer shows beside it. Times are microseconds. What is written
// with it: profile/trace.hpp.

#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/profile/svg_plot.hpp>

#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>

namespace twill::inline v0::profile {

/// The events of a trace, one after the other.
class TraceEvents {
public:
  /// What viewers call a process.
  void name_process(std::size_t process, std::string_view name) { name_something("process_name", process, 0, name); }
  /// What viewers call a thread of it.
  void name_thread(std::size_t process, std::size_t thread, std::string_view name) {
    name_something("thread_name", process, thread, name);
  }

  /// Something that took a while. `arguments` are members of a JSON object: `"\"bytes\": 12"`.
  void complete(std::string_view name, std::string_view category, std::size_t process, std::size_t thread,
                double start_us, double length_us, std::string_view arguments) {
    begin(name, "X", process, thread);
    text_ += join_text({", \"cat\": \"", escaped(category), "\", \"ts\": ", detail::fixed(start_us, 3),
                        ", \"dur\": ", detail::fixed(length_us, 3), ", \"args\": {", arguments, "}}"});
  }

  /// One end of an arrow between two events, on the event of its thread in which this moment lies.
  void arrow(std::string_view name, bool is_head, std::size_t number, std::size_t process, std::size_t thread,
             double time_us) {
    begin(name, is_head ? "f" : "s", process, thread);
    text_ += join_text({", \"cat\": \"", escaped(name), "\", \"id\": ", number, ", \"ts\": ", detail::fixed(time_us, 3),
                        is_head ? ", \"bp\": \"e\"}" : "}"});
  }

  /// The whole file: JSON in the format of Chrome's trace viewer.
  [[nodiscard]] std::string text() const {
    return "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [" + text_ + "\n]}\n";
  }

  /// What stands between the quotes of a JSON string.
  [[nodiscard]] static std::string escaped(std::string_view text) {
    std::string result{};
    for (const char c : text) {
      if (c == '"' || c == '\\') result += '\\';
      result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return result;
  }

private:
  void begin(std::string_view name, std::string_view phase, std::size_t process, std::size_t thread) {
    text_ += join_text({text_.empty() ? "\n" : ",\n", "{\"name\": \"", escaped(name), "\", \"ph\": \"", phase,
                        "\", \"pid\": ", process, ", \"tid\": ", thread});
  }
  void name_something(std::string_view what, std::size_t process, std::size_t thread, std::string_view name) {
    begin(what, "M", process, thread);
    text_ += join_text({", \"args\": {\"name\": \"", escaped(name), "\"}}"});
  }

  std::string text_{};
};

} // namespace twill::inline v0::profile
