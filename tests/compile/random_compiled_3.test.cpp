// SPDX-License-Identifier: Apache-2.0

#include "tests/compile/random_compiled.hpp"

using namespace twill::test;

TEST_CASE("random graphs 61 to 80 compute the same when they are compiled", "[compile][fuse]") {
  check_compiled_graphs<61>(std::make_integer_sequence<std::uint64_t, 20>{});
}
