// SPDX-License-Identifier: Apache-2.0
//
// The smallest program of a user; the three consumers build it.

#include <twill/core/shape.hpp>

int main() { return twill::Dims(2, 3).elements() == 6 ? 0 : 1; }
