// SPDX-License-Identifier: Apache-2.0
//
// Lists and runs the cases of tests/support/suite.hpp, with the command line that cmake/discover_tests.py knows: the names
// with --list-test-names-only, else the one case that is named, else all; with --from those of the suites whose names stand
// behind it, separated by commas. Ends with 4 when everything was skipped.

#include <tests/support/skip.hpp>
#include <tests/support/suite.hpp>

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

/// Whether a case stands in one of the suites of a list such as "rows,columns".
bool is_from(const Case& one, std::string_view suites) {
  while (!suites.empty()) {
    const std::size_t comma = suites.find(',');
    const std::string file = "/" + std::string{suites.substr(0, comma)} + ".suite.hpp";
    if (one.file().find(file) != std::string_view::npos) return true;
    suites = comma == std::string_view::npos ? std::string_view{} : suites.substr(comma + 1);
  }
  return false;
}

} // namespace

int main(int count, char** arguments) {
  std::string wanted{};
  std::string_view suites{};
  for (int i = 1; i < count; ++i) {
    const std::string_view argument{arguments[i]};
    if (argument == "--list-test-names-only") {
      for (const Case* each : all_cases())
        std::printf("%.*s\n", static_cast<int>(each->name().size()), each->name().data());
      return 0;
    }
    if (argument == "--warn") {
      ++i;
    } else if (argument == "--from" && i + 1 < count) {
      suites = arguments[++i];
    } else {
      wanted = plain(argument);
    }
  }
  int ran = 0;
  int failed = 0;
  for (const Case* each : all_cases()) {
    if (!wanted.empty() && each->name() != wanted) continue;
    if (!suites.empty() && !is_from(*each, suites)) continue;
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
  if (failed > 0) return 1;
  if (ran > 0) {
    std::printf("%d passed, %d skipped\n", ran, twill::test::skipped_count());
    return 0;
  }
  if (twill::test::skipped_count() > 0) return 4;
  std::printf("no case is called \"%s\"\n", wanted.c_str());
  return 2;
}
