// SPDX-License-Identifier: Apache-2.0
//
// A transpose that names one axis of three.
//
// expect: transpose_needs_each_axis_once
// expect: axes<1>
// expect: rank<3>

#include <twill/compile/function.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

int main() {
  const auto turned = [](auto x) {
#ifdef MISUSE
    return graph::transpose(x, {2});
#else
    return graph::transpose(x, {2, 0, 1});
#endif
  };
  return compiled(turned)(ones<float, Shape<2, 3, 4>>()).shape() == Dims(4, 2, 3) ? 0 : 1;
}
