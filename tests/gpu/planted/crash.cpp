// SPDX-License-Identifier: Apache-2.0
#include <tests/support/suite.hpp>

#include <csignal>

namespace {

using twill::test::Case;

const Case before{"before it", [] {}};
const Case crashes{"crashes", [] { (void)std::raise(SIGSEGV); }};
const Case after{"after it", [] {}};

} // namespace
