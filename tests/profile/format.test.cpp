// SPDX-License-Identifier: Apache-2.0

#include "tests/support/temporary_folder.hpp"

#include <twill/profile/format.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace twill::profile;

TEST_CASE("numbers of reports are readable at every size", "[profile]") {
  CHECK(fixed(1234.5678, 2) == "1234.57");
  CHECK(fixed(-0.0, 1) == "0.0");
  CHECK(fixed(std::numeric_limits<double>::max(), 1).size() == 311);
  CHECK(percent(0.1234, 1) == "12.3%");
  CHECK(percent(1, 0) == "100%");
  for (const double unknown : {-1.0, std::nan(""), 1.0 / 0.0}) CHECK(percent(unknown, 1) == "-");
  CHECK(duration(12.34e-6) == "12.3 us");
  CHECK(duration(0.99996e-3) == "1.00 ms");
  CHECK(duration(2.5) == "2.50 s");
  CHECK(format_bytes(std::size_t{1536}) == "1.50 KiB");
}

TEST_CASE("a report that cannot be written names its file", "[profile]") {
  const twill::test::TemporaryFolder place{};
  save_text("report", place / "report.txt", "some lines\n");
  CHECK(twill::test::contents(place / "report.txt") == "some lines\n");
  CHECK_THROWS_WITH(save_text("report", "/nowhere/report.txt", ""), "report: cannot write /nowhere/report.txt");
}
