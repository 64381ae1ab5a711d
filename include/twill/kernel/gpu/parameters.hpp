#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Parameters of a launch, passed to its kernel by value: the walk over the chunks of the grid, and for each operand an
// address or a number, strides in 32 bits, and an access mode. A chunk is the unit of a thread: a fixed number of
// lanes, which are `spacing` elements apart along the innermost dimension. The host splits grids whose offsets would
// not fit (kernel/gpu/plan.hpp), so kernels never divide and rarely use 64 bits. Read next: kernel/gpu/leaves.hpp.

#include <twill/core/shape.hpp>
#include <twill/kernel/gpu/divisor.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// How the lanes of a chunk find their elements of an operand. Constant for a launch, but different between operands.
enum class Mode : std::int32_t {
  vector,    ///< side by side and aligned: whole chunks move in one access
  broadcast, ///< one element for all lanes
  stepped,   ///< one by one, `step` elements apart
  indexed,   ///< one by one: the grid was flattened, but not for this operand, which divides
};

/// The two forms of a kernel's code: `plain` for full chunks of walks that are plain, with vectors only.
enum class Path : std::uint8_t { any, plain };

[[nodiscard]] constexpr const char* name(Mode mode) {
  constexpr const char* names[] = {"vector", "broadcast", "stepped", "indexed"};
  return names[static_cast<int>(mode)];
}

/// One operand of a launch.
struct OperandParameters {
  std::byte* data = nullptr; ///< the first element: a pointer, or the compiler would not know that it is global memory
  std::uint64_t bits = 0;    ///< of an immediate; the first number of an iota
  std::int64_t down = 0;     ///< from a row to the next of a column program, in elements
  /// In elements, for the next chunk along each dimension of the walk; if indexed, along those of the index.
  std::int32_t strides[max_rank]{};
  std::int32_t step = 0; ///< from lane to lane
  Mode mode = Mode::broadcast;
};

/// The walk of a launch through its chunks. Dimension 0 is the innermost: the chunks of a row.
struct Walk {
  std::uint32_t chunks = 0; ///< of the launch
  std::int32_t length = 0;  ///< elements of a row
  std::int32_t lead = 1;    ///< from the first element of a chunk to that of the next
  std::int32_t spacing = 1; ///< from lane to lane: 1, or a row's number of chunks, so that threads access neighbours
  std::int32_t rank = 1;
  std::int32_t index_rank = 0; ///< of the grid before it was flattened
  bool is_plain = false;       ///< leaves and outputs are vectors or broadcast, and nothing divides
  Divisor extents[max_rank]{};
  Divisor index_extents[max_rank]{};
};

/// All parameters of a launch with `Count` operands.
template <int Count> struct Parameters {
  Walk walk{};
  OperandParameters operands[Count == 0 ? 1 : Count]{};
};

/// The most bytes of parameters that a kernel can take.
inline constexpr std::size_t most_parameter_bytes = 32764;

}}}} // namespace twill::v0::kernel::gpu
