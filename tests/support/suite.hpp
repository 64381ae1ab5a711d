#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Test cases that are compiled twice: by the host compilers for the emulated GPU, and by nvcc for a real one, where Catch2
// would cost seconds a file. A file `tests/gpu/<name>.suite.hpp` defines functions without arguments over `TestedDevice` and
// registers each under a sentence: `const Case first{"a copy to a device comes back", &copies_come_back};`. What fails
// throws. tests/support/suite_main.cpp lists and runs them; without a device they are skipped with a message.

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace twill::test {

/// Whether a case can run on a machine without a device of the tested kind.
enum class Needs : bool { nothing, device };

/// A registered case. They live as long as the program, in a list.
class Case {
public:
  Case(std::string_view sentence, void (*body)(), Needs needs = Needs::device,
       const std::source_location& where = std::source_location::current())
      : name_{sentence}, file_{where.file_name()}, run_{body}, needs_{needs}, next_{first()} {
    first() = this;
  }
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] std::string_view file() const { return file_; }
  [[nodiscard]] Needs needs() const { return needs_; }
  [[nodiscard]] const Case* next() const { return next_; }
  void run() const { run_(); }

  /// The head of the list.
  [[nodiscard]] static const Case*& first() {
    static const Case* head = nullptr;
    return head;
  }

private:
  std::string_view name_;
  std::string_view file_;
  void (*run_)();
  Needs needs_;
  const Case* next_;
};

[[noreturn]] inline void refute(const std::string& what, const std::source_location& where) {
  throw std::logic_error(std::string{where.file_name()} + ":" + std::to_string(where.line()) + ": " + what);
}

/// Whether TWILL_SUITE_SIZE asks for small sizes, as under a tool that makes every access a hundred times as slow.
[[nodiscard]] inline bool wants_small_sizes() {
  const char* const size = std::getenv("TWILL_SUITE_SIZE");
  return size != nullptr && std::string_view{size} == "small";
}

/// A size, or no more than some thousand where small ones are wanted: still several blocks, and an odd tail.
template <class N> [[nodiscard]] N sized(N size) {
  const N most = 5003;
  return wants_small_sizes() && size > most ? most : size;
}

/// Fails unless the condition holds.
inline void require(bool holds, const std::source_location& where = std::source_location::current()) {
  if (!holds) refute("the condition does not hold", where);
}

/// Fails unless both are equal; prints numbers.
template <class A, class B>
void require_equal(const A& left, const B& right, const std::source_location& where = std::source_location::current()) {
  if (left == right) return;
  if constexpr (requires { std::to_string(left), std::to_string(right); })
    refute(std::to_string(left) + " is not " + std::to_string(right), where);
  else if constexpr (requires { std::string{left}, std::string{right}; })
    refute("\"" + std::string{left} + "\" is not \"" + std::string{right} + "\"", where);
  else
    refute("the values differ", where);
}

/// Fails unless |left - right| <= absolute + relative * |right|, or both are NaN.
inline void require_close(double left, double right, double relative, double absolute = 0,
                          const std::source_location& where = std::source_location::current()) {
  if (left == right || (std::isnan(left) && std::isnan(right))) return;
  if (!(std::abs(left - right) <= absolute + relative * std::abs(right)))
    refute(std::to_string(left) + " is not close to " + std::to_string(right), where);
}

/// Fails unless f throws an E whose text holds the given one.
template <class E, class F>
void require_throws(F&& f, std::string_view text = {},
                    const std::source_location& where = std::source_location::current()) {
  try {
    f();
  } catch (const E& error) {
    if (std::string_view{error.what()}.find(text) == std::string_view::npos)
      refute("the error says \"" + std::string{error.what()} + "\", not \"" + std::string{text} + "\"", where);
    return;
  }
  refute("nothing was thrown", where);
}

} // namespace twill::test
