// SPDX-License-Identifier: Apache-2.0
#include <tests/support/suite.hpp>

#include <unistd.h>

namespace {

using twill::test::Case;

const Case hangs{"hangs", [] { sleep(600); }};
const Case after{"after it", [] {}};

} // namespace
