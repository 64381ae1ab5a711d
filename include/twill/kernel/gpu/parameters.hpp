#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What a launch passes to a kernel, by value: how chunks of the grid are counted through, and for each operand an address or
// a number, strides in 32 bits, and how its elements are reached. A chunk is what a thread computes together: a fixed number
// of lanes, which lie `spacing` elements apart along the innermost dimension. The host splits grids whose offsets would not
// fit (kernel/gpu/plan.hpp), so kernels never divide and rarely use 64 bits. Read next: kernel/gpu/leaves.hpp.

#include <twill/core/shape.hpp>
#include <twill/kernel/gpu/divisor.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// How the lanes of a chunk find their elements of an operand. The same for a whole launch, and each operand's own.
enum class Mode : std::int32_t {
  vector,    ///< side by side and aligned: whole chunks move in one access
  broadcast, ///< one element for all lanes
  stepped,   ///< one by one, `step` elements apart
  indexed,   ///< one by one: the grid was flattened, but not for this operand, which divides
};

/// Of two forms of the same code: `plain` for full chunks of walks that are plain, with nothing but vectors.
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
  /// In elements. For a chunk more along each dimension of the walk; of an indexed operand: along those of the index.
  std::int32_t strides[max_rank]{};
  std::int32_t step = 0; ///< from lane to lane
  Mode mode = Mode::broadcast;
};

/// How a launch counts through its chunks. Dimension 0 is the innermost: the chunks of a row.
struct Walk {
  std::uint32_t chunks = 0; ///< of the launch
  std::int32_t length = 0;  ///< elements of a row
  std::int32_t lead = 1;    ///< from the first element of a chunk to that of the next
  std::int32_t spacing = 1; ///< from lane to lane: 1, or as many as a row has chunks, for neighbouring threads' sake
  std::int32_t rank = 1;
  std::int32_t index_rank = 0; ///< of the grid before it was flattened
  bool is_plain = false;       ///< leaves and outputs are vectors or broadcast, and nothing divides
  Divisor extents[max_rank]{};
  Divisor index_extents[max_rank]{};
};

/// All of it. `Count` operands.
template <int Count> struct Parameters {
  Walk walk{};
  OperandParameters operands[Count == 0 ? 1 : Count]{};
};

/// The most bytes that a kernel can be given.
inline constexpr std::size_t most_parameter_bytes = 32764;

}}}} // namespace twill::v0::kernel::gpu
