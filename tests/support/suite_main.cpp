// SPDX-License-Identifier: Apache-2.0
//
// Lists and runs the cases of tests/support/suite.hpp, with the command line that cmake/discover_tests.py knows: the names
// with --list-test-names-only, else the one case that is named, else all. --list-suites names the suites; --from takes those
// of a list with commas alone, --after what follows a case. A case's name is printed before it runs, so that the last one
// tells what a crash or a hang was in. Ends with 4 when everything was skipped.

#include <tests/support/skip.hpp>
#include <tests/support/suite.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

/// How many devices of the tested kind this machine has.
int tested_device_count();

namespace {

using twill::test::Case;
using twill::test::Needs;

/// The cases in the order of their registration.
std::vector<const Case*> all_cases() {
  std::vector<const Case*> cases{};
  for (const Case* each = Case::first(); each != nullptr; each = each->next()) cases.insert(cases.begin(), each);
  return cases;
}

/// A name without the backslashes that Catch2's test specifications need.
std::string plain(std::string_view pattern) {
  std::string name{};
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    name += pattern[i];
  }
  return name;
}

/// The suite of a case: the name of its file as far as the first dot.
std::string_view suite_of(const Case& one) {
  const std::string_view file = one.file().substr(one.file().rfind('/') + 1);
  return file.substr(0, file.find('.'));
}

/// Whether a suite is in a list such as "rows,columns".
bool is_in(std::string_view suite, std::string_view suites) {
  while (!suites.empty()) {
    const std::size_t comma = suites.find(',');
    if (suites.substr(0, comma) == suite) return true;
    suites = comma == std::string_view::npos ? std::string_view{} : suites.substr(comma + 1);
  }
  return false;
}

void print_line(std::string_view text) { std::printf("%.*s\n", static_cast<int>(text.size()), text.data()); }

void list_suites() {
  std::vector<std::string_view> seen{};
  for (const Case* each : all_cases())
    if (std::find(seen.begin(), seen.end(), suite_of(*each)) == seen.end())
      print_line(seen.emplace_back(suite_of(*each)));
}

} // namespace

int main(int count, char** arguments) {
  std::string wanted{};
  std::string_view suites{};
  std::string_view last{};
  bool is_rest = false;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument{arguments[i]};
    if (argument == "--list-test-names-only") {
      for (const Case* each : all_cases()) print_line(each->name());
      return 0;
    }
    if (argument == "--list-suites") {
      list_suites();
      return 0;
    }
    if (argument == "--warn") {
      ++i;
    } else if (argument == "--from" && i + 1 < count) {
      suites = arguments[++i];
    } else if (argument == "--after" && i + 1 < count) {
      last = arguments[++i];
      is_rest = true;
    } else {
      wanted = plain(argument);
    }
  }
  int ran = 0;
  int failed = 0;
  for (const Case* each : all_cases()) {
    if (!wanted.empty() && each->name() != wanted) continue;
    if (!suites.empty() && !is_in(suite_of(*each), suites)) continue;
    if (!last.empty()) {
      if (each->name() == last) last = {};
      continue;
    }
    print_line("case: " + std::string{each->name()});
    std::fflush(stdout);
    if (each->needs() == Needs::device && tested_device_count() == 0) {
      twill::test::skip("this machine has no GPU");
      continue;
    }
    ++ran;
    const int skips = twill::test::skipped_count();
    try {
      each->run();
      if (twill::test::skipped_count() > skips) --ran; // it found out by itself that it cannot run here
    } catch (const std::exception& error) {
      ++failed;
      std::printf("FAILED: %.*s\n  %s\n", static_cast<int>(each->name().size()), each->name().data(), error.what());
    }
  }
  if (failed > 0) {
    std::printf("%d failed, %d passed, %d skipped\n", failed, ran - failed, twill::test::skipped_count());
    return 1;
  }
  if (ran > 0) {
    std::printf("%d passed, %d skipped\n", ran, twill::test::skipped_count());
    return 0;
  }
  if (twill::test::skipped_count() > 0) return 4;
  if (is_rest) return 0;
  std::printf("no case is called \"%s\" in %s\n", wanted.c_str(),
              suites.empty() ? "any suite" : ("the suites " + std::string{suites}).c_str());
  return 2;
}
