// SPDX-License-Identifier: Apache-2.0
//
// A tensor at namespace scope is made before main and destroyed after it, when other statics may be gone already; the
// pool it came from has to be there in both places.

#include <twill/memory/statistics.hpp>
#include <twill/tensor/create.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

/// Destroyed after the tensor below, because it was made before: the memory has to be back by then.
struct LastWitness {
  ~LastWitness() {
    if (twill::memory_allocated(twill::Cpu{0}) != 0) {
      std::puts("the global tensor did not give its memory back");
      std::_Exit(1);
    }
  }
};

const LastWitness witness;
const twill::Tensor<float, twill::Cpu, twill::Shape<3, 5>> global = twill::ones<float, twill::Shape<3, 5>>();

} // namespace

int main() {
  const bool is_counted = twill::memory_allocated(twill::Cpu{0}) == 512;
  const bool is_filled = global(2, 4).item() == 1.0F;
  if (!is_counted || !is_filled) std::puts("the global tensor is not what it was made as");
  return is_counted && is_filled ? 0 : 1;
}
