// SPDX-License-Identifier: Apache-2.0
#include <tests/support/suite.hpp>

namespace {

using namespace twill::test;

const Case is_wrong{"is wrong", [] { require_equal(2, 3); }};
const Case is_right{"is right", [] { require_equal(3, 3); }};

} // namespace
