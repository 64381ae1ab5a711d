#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Walks of elementwise and column kernels in other forms than planned, for tests/support/other_launches.cuh.

#include <twill/kernel/gpu/arrange.hpp>
#include <twill/kernel/gpu/parameters.hpp>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace twill::test {

/// How launches differ from their plans.
enum class Form { planned, stepped, indexed, cut };

/// What TWILL_LAUNCHES asks for. throws: std::invalid_argument, another word
[[nodiscard]] inline Form form_of_launches() {
  static const Form form = [] {
    const char* const wanted = std::getenv("TWILL_LAUNCHES");
    const std::string_view word = wanted == nullptr ? "planned" : wanted;
    if (word == "planned") return Form::planned;
    if (word == "stepped") return Form::stepped;
    if (word == "indexed") return Form::indexed;
    if (word == "cut") return Form::cut;
    throw std::invalid_argument("TWILL_LAUNCHES: planned, stepped, indexed or cut, not " + std::string{word});
  }();
  return form;
}

using kernel::gpu::Divisor;
using kernel::gpu::Mode;
using kernel::gpu::OperandFacts;
using kernel::gpu::OperandParameters;
using kernel::gpu::Walk;

/// Rows to cut a walk of so many elements into: of an odd length, if there is one, so that chunks begin anywhere.
[[nodiscard]] inline std::int32_t odd_rows(std::int32_t length) {
  const std::int32_t power = length & -length;
  if (power > 1) return power == length ? 2 : power;
  for (std::int32_t factor = 3; factor < 128 && factor < length; factor += 2)
    if (length % factor == 0) return factor;
  return 1;
}

/// Reaches operands element by element that moved by vectors, in rows where there was one dimension.
inline void step_operands(Walk& walk, OperandParameters* operands, const OperandFacts* facts, int count, int lanes) {
  bool divides = walk.rank > 1 || walk.spacing != 1;
  for (int o = 0; o < count; ++o) {
    if (operands[o].mode == Mode::vector) operands[o].mode = Mode::stepped;
    divides = divides || operands[o].mode == Mode::indexed;
  }
  walk.is_plain = false;
  if (divides) return;
  const std::int32_t rows = odd_rows(walk.length);
  walk.length /= rows;
  const std::int32_t row_chunks = (walk.length + lanes - 1) / lanes;
  walk.rank = 2;
  walk.chunks = static_cast<std::uint32_t>(row_chunks * rows);
  walk.extents[0] = Divisor{static_cast<std::uint32_t>(row_chunks)};
  walk.extents[1] = Divisor{static_cast<std::uint32_t>(rows)};
  for (int o = 0; o < count; ++o)
    if (facts[o].moves()) operands[o].strides[1] = operands[o].step * walk.length;
}

/// Flattens a walk of two dimensions or more and lets each operand that moves divide.
inline void index_operands(Walk& walk, OperandParameters* operands, const OperandFacts* facts, int count, int lanes) {
  const bool was_flat = walk.index_rank > 0;
  Walk flat{};
  flat.index_rank = was_flat ? walk.index_rank : walk.rank;
  std::int64_t elements = 1;
  for (int d = 0; d < flat.index_rank; ++d) {
    flat.index_extents[d] = was_flat ? walk.index_extents[d]
                            : d == 0 ? Divisor{static_cast<std::uint32_t>(walk.length)}
                                     : walk.extents[d];
    elements *= flat.index_extents[d].value;
  }
  if (flat.index_rank == 1) { // halves, if it has
    const std::uint32_t outer = elements % 2 == 0 ? 2 : 1;
    flat.index_extents[0] = Divisor{static_cast<std::uint32_t>(elements) / outer};
    flat.index_extents[1] = Divisor{outer};
    flat.index_rank = 2;
  }
  flat.length = static_cast<std::int32_t>(elements);
  flat.lead = lanes;
  flat.chunks = static_cast<std::uint32_t>((elements + lanes - 1) / lanes);
  flat.extents[0] = Divisor{flat.chunks};
  for (int o = 0; o < count; ++o) {
    OperandParameters& own = operands[o];
    if (!facts[o].moves() || own.mode == Mode::indexed) continue;
    std::int32_t along = own.mode == Mode::broadcast ? 0 : own.step / walk.spacing;
    for (int d = 0; d < flat.index_rank; ++d) {
      if (was_flat || d == 0 || walk.rank == 1) own.strides[d] = along;
      along *= static_cast<std::int32_t>(flat.index_extents[d].value);
    }
    own.mode = Mode::indexed;
  }
  walk = flat;
}

} // namespace twill::test
