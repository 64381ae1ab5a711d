// SPDX-License-Identifier: Apache-2.0

#include "tests/compile/random_compiled.hpp"

using namespace twill::test;

TEST_CASE("random graphs 41 to 60 compute the same when they are compiled", "[compile][fuse]") {
  check_compiled_graphs<41>(std::make_integer_sequence<std::uint64_t, 20>{});
}
