// SPDX-License-Identifier: Apache-2.0
#include <tests/support/skip.hpp>
#include <tests/support/suite.hpp>

namespace {

const twill::test::Case needs_two{"needs two GPUs", [] { twill::test::skip("this machine has one GPU"); }};

} // namespace
