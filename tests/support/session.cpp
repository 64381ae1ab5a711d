// SPDX-License-Identifier: Apache-2.0

#include "session.hpp"

#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

int twill::test::run_session(int argument_count, char** arguments) {
  return Catch::Session().run(argument_count, arguments);
}
