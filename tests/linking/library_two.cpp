// SPDX-License-Identifier: Apache-2.0
//
// A library that only looks: at the pool, at the generator, at exceptions of the other one.

#include "library.hpp"

#include <twill/device/generator.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/tensor/create.hpp>

namespace library_two {

const void* pool_address() { return &twill::memory::pool(twill::Cpu{0}); }

std::int64_t allocated() { return twill::memory_allocated(twill::Cpu{0}); }

bool catches(void (*thrower)()) {
  try {
    thrower();
  } catch (const twill::ShapeError&) {
    return true;
  } catch (...) {
    return false;
  }
  return false;
}

std::uint64_t seed() { return twill::generator(twill::Cpu{0}).state().seed; }

} // namespace library_two
