// SPDX-License-Identifier: Apache-2.0
//
// The one main of all tests. It tells a failure (1) from a skipped test (4, which CTest is told about), because Catch2 2
// ends with the number of failed assertions and knows no skipping.

#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "skip.hpp"
#include "tests_folder.hpp"

std::string twill::test::tests_folder() { return TWILL_TESTS_FOLDER "/"; }

int main(int argument_count, char** arguments) {
  int result = Catch::Session().run(argument_count, arguments);
  if (result == 4 && CATCH_VERSION_MAJOR >= 3) return 4;
  if (result != 0) return 1;
  return twill::test::skipped_count() > 0 ? 4 : 0;
}
