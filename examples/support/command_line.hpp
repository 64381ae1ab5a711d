#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The command line of an example: each flag is a name, a variable that holds its default, and one sentence. What was typed
// wrongly is told in a sentence too, and the program ends with 2; errors of the library end it with 1. Not part of twill.

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdio>
#include <functional>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace examples {

/// A command line that cannot be understood.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a number may be; both ends belong to it.
template <class T> struct Range {
  T least = std::numeric_limits<T>::lowest();
  T most = std::numeric_limits<T>::max();
};

namespace detail {

template <class T> [[nodiscard]] std::string text_of(const T& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

/// "a whole number from 1 to 64", "a number of at least 0".
template <class T> [[nodiscard]] std::string describe(const Range<T>& range) {
  std::string text = std::integral<T> ? "a whole number" : "a number";
  const bool is_bounded = range.most != std::numeric_limits<T>::max();
  if (is_bounded) return text + " from " + text_of(range.least) + " to " + text_of(range.most);
  return text + " of at least " + text_of(range.least);
}

/// The whole text as a number within the range, else false.
template <class T> [[nodiscard]] bool parse_number(std::string_view text, const Range<T>& range, T& number) {
  T parsed{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (status != std::errc{} || end != text.data() + text.size()) return false;
  if (!(parsed >= range.least && parsed <= range.most)) return false; // not-a-number is within no range
  number = parsed;
  return true;
}

} // namespace detail

class CommandLine {
public:
  /// What the program does, in a sentence.
  explicit CommandLine(std::string purpose) : purpose_{std::move(purpose)} {}

  /// A flag with any text; an empty one is refused.
  CommandLine& flag(std::string name, std::string& target, std::string sentence) {
    return add(std::move(name), "a text", target, std::move(sentence), [&target](std::string_view text) {
      target = text;
      return !text.empty();
    });
  }

  /// A flag with a number.
  template <class T>
  requires std::integral<T> || std::floating_point<T> CommandLine& flag(std::string name, T& target, Range<T> range,
                                                                        std::string sentence) {
    return add(std::move(name), detail::describe(range), target, std::move(sentence),
               [&target, range](std::string_view text) { return detail::parse_number(text, range, target); });
  }

  /// Reads `--flag value` and `--flag=value`; false when only help was asked for.
  /// throws: UsageError with a sentence
  [[nodiscard]] bool parse(int count, const char* const* arguments) const {
    for (int at = 1; at < count; ++at) {
      std::string_view name = arguments[at];
      if (name == "--help" || name == "-h") return false;
      const std::size_t equals = name.find('=');
      const bool has_value = equals != std::string_view::npos;
      std::string_view value = has_value ? name.substr(equals + 1) : std::string_view{};
      name = name.substr(0, equals);
      const Flag& flag = flag_named(name);
      if (!has_value) {
        if (++at == count) throw UsageError(flag.name + " needs a value: " + flag.expected);
        value = arguments[at];
      }
      if (!flag.assign(value))
        throw UsageError(flag.name + " is " + flag.expected + ", got \"" + std::string{value} + "\"");
    }
    return true;
  }

  /// What the program does, and a line for each flag.
  [[nodiscard]] std::string help() const {
    std::string text = purpose_ + "\n\n";
    for (const Flag& flag : flags_) {
      std::string line = "  " + flag.name;
      line.resize(std::max<std::size_t>(line.size() + 1, 14), ' ');
      text += line + flag.sentence + (flag.initial.empty() ? "" : " (" + flag.initial + ")") + "\n";
    }
    return text;
  }

private:
  struct Flag {
    std::string name;
    std::string expected; ///< what a value has to be, for messages
    std::string sentence;
    std::string initial;
    std::function<bool(std::string_view)> assign; ///< false: not such a value
  };

  template <class T, class Assign>
  CommandLine& add(std::string name, std::string expected, const T& target, std::string sentence, Assign assign) {
    flags_.push_back({std::move(name), std::move(expected), std::move(sentence), detail::text_of(target), assign});
    return *this;
  }

  [[nodiscard]] const Flag& flag_named(std::string_view name) const {
    std::string known;
    for (const Flag& flag : flags_) {
      if (flag.name == name) return flag;
      known += (known.empty() ? "" : ", ") + flag.name;
    }
    throw UsageError("there is no flag \"" + std::string{name} + "\"; the flags are " + known + ", --help");
  }

  std::string purpose_;
  std::vector<Flag> flags_{};
};

/// Runs the body of `main`: a failure becomes one line on the standard error stream and an exit status.
template <class Body> [[nodiscard]] int run_main(std::string_view program, Body body) {
  const std::string name{program.substr(program.rfind('/') + 1)};
  try {
    body();
    return 0;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "%s: %s; --help lists the flags\n", name.c_str(), error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
    return 1;
  }
}

} // namespace examples
