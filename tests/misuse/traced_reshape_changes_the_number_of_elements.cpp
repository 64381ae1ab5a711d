// SPDX-License-Identifier: Apache-2.0
//
// A reshape to another number of elements.
//
// expect: reshape_changes_the_number_of_elements
// expect: left<8>
// expect: right<9>

#include <twill/compile/function.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

int main() {
  const auto flat = [](auto x) {
#ifdef MISUSE
    return graph::reshape(x, graph::extents_of(Dims(3, 3)));
#else
    return graph::reshape(x, graph::extents_of(Dims(2, 4)));
#endif
  };
  return compiled(flat)(ones<float, Shape<8>>()).shape() == Dims(2, 4) ? 0 : 1;
}
