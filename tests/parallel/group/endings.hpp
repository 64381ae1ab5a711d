#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What every rank of a group has to say when one of them was made to throw or hang. Read next: tests/parallel/group/faults.hpp.

#include "tests/parallel/group/faults.hpp"

#include <catch2/catch.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace twill::test {

/// Checks that all ranks end with an error that names the one at fault, with its exception where it threw one.
inline void check_endings(const std::vector<Ending>& endings, const Fault& fault) {
  const std::string culprit = "rank " + std::to_string(fault.rank) + " on cpu:" + std::to_string(fault.rank);
  for (std::size_t rank = 0; rank < endings.size(); ++rank) {
    const Ending& ending = endings[rank];
    INFO("rank " << rank << ": " << ending.text << " | " << ending.again);
    CHECK_FALSE(ending.is_done);
    CHECK(ending.again.find(culprit) != std::string::npos);
    if (static_cast<int>(rank) == fault.rank && fault.kind == Kind::throws) {
      CHECK(ending.is_injected);
      continue;
    }
    CHECK(ending.text == ending.again);
    CHECK(ending.named == fault.rank);
    CHECK(ending.origin == fault.rank);
    CHECK(ending.has_cause == (fault.kind == Kind::throws));
  }
}

} // namespace twill::test
