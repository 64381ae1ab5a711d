// SPDX-License-Identifier: Apache-2.0
//
// A library that holds a tensor.

#include "library.hpp"

#include <twill/device/generator.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/tensor/create.hpp>

namespace library_one {

namespace {
twill::Tensor<float, twill::Cpu, twill::Shape<twill::dyn>> held;
}

const void* pool_address() { return &twill::memory::pool(twill::Cpu{0}); }

std::int64_t allocate() {
  held = twill::zeros<float, twill::Shape<twill::dyn>>(twill::Dims(1000));
  return twill::memory_allocated(twill::Cpu{0});
}

void release() { held.reset(); }

void throw_shape_error() { throw twill::ShapeError("made in library one"); }

void seed(std::uint64_t value) { twill::manual_seed(twill::Cpu{0}, value); }

} // namespace library_one
