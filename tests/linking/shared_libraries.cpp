// SPDX-License-Identifier: Apache-2.0
//
// Two libraries and a program, all with hidden visibility, see one pool, one generator, and each other's exceptions.

#include "library.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/tensor/create.hpp>

#include <cstdio>

namespace {
int faults = 0;

void expect(bool condition, const char* sentence) {
  if (condition) return;
  std::printf("not so: %s\n", sentence);
  ++faults;
}
} // namespace

int main() {
  const twill::Cpu device{0};
  expect(library_one::pool_address() == &twill::memory::pool(device), "library one and the program share the pool");
  expect(library_two::pool_address() == &twill::memory::pool(device), "library two and the program share the pool");
  expect(library_one::allocate() == 4096, "a tensor of library one is counted there");
  expect(library_two::allocated() == 4096, "a tensor of library one is counted in library two");
  expect(twill::memory_allocated(device) == 4096, "a tensor of library one is counted in the program");
  library_one::release();
  expect(library_two::allocated() == 0, "it is gone everywhere");
  expect(library_two::catches(&library_one::throw_shape_error),
         "library two catches an exception of library one by type");
  library_one::seed(4711);
  expect(library_two::seed() == 4711, "the seed is one for all");
  return faults == 0 ? 0 : 1;
}
