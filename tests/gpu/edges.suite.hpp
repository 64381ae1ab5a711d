#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Compiled functions, losses and their derivatives at kinks, in tails and at the ends of ranges on a GPU.

#include <tests/support/edge_programs.hpp>
#include <tests/support/suite.hpp>

#include <string>

namespace edges_suite { namespace {

using namespace twill;

template <class T> void functions_are_right() {
  test::require_equal(test::edge_differences_of_one<T>(test::TestedDevice{0}), std::string{});
}
template <class T> void functions_of_two_are_right() {
  test::require_equal(test::edge_differences_of_two<T>(test::TestedDevice{0}), std::string{});
}
template <class T> void functions_of_rows_are_right() {
  test::require_equal(test::edge_differences_of_rows<T>(test::TestedDevice{0}), std::string{});
}

const test::Case float_case{"functions of float32 at kinks, in tails and at the ends", &functions_are_right<float>};
const test::Case double_case{"functions of float64 at kinks, in tails and at the ends", &functions_are_right<double>};
const test::Case half_case{"functions of float16 at kinks, in tails and at the ends",
                           &functions_are_right<twill::half>};
const test::Case bfloat16_case{"functions of bfloat16 at kinks, in tails and at the ends",
                               &functions_are_right<bfloat16>};
const test::Case floats_case{"functions of two float32 at ties and at the ends", &functions_of_two_are_right<float>};
const test::Case rows_case{"functions of rows of float32 at ties and at the ends", &functions_of_rows_are_right<float>};

}} // namespace edges_suite
