// SPDX-License-Identifier: Apache-2.0
//
// The one main of all tests. It tells a failure (1) from a skipped test (4, which CTest is told about), because Catch2 2
// ends with the number of failed assertions and knows no skipping.

#include "session.hpp"
#include "skip.hpp"
#include "tests_folder.hpp"

#include <catch2/catch.hpp>

std::string twill::test::tests_folder() { return TWILL_TESTS_FOLDER "/"; }

#ifdef __SANITIZE_THREAD__
// oneDNN shares what it has compiled between threads through atomics that ThreadSanitizer, to which the library is opaque,
// takes for none: each first use of a shape in two threads would be a race in it. So does libstdc++ with the count of an
// exception's owners, the last of which deletes it.
extern "C" const char* __tsan_default_suppressions() {
  return "race:libdnnl.so\n"
         "race:std::__exception_ptr::exception_ptr::_M_release\n";
}
#endif

int main(int argument_count, char** arguments) {
  const int result = twill::test::run_session(argument_count, arguments);
  if (result == 4 && CATCH_VERSION_MAJOR >= 3) return 4;
  if (result != 0) return 1;
  return twill::test::skipped_count() > 0 ? 4 : 0;
}
