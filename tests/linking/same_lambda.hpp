#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Two files differentiate "the same" lambda: one spelling, one place in one function of one name, two meanings.

#include <twill/compile/function.hpp>
#include <twill/tensor/create.hpp>

struct ValueAndSlope {
  float value = 0;
  float slope = 0;
};

ValueAndSlope of_file_one(float at);
ValueAndSlope of_file_two(float at);
