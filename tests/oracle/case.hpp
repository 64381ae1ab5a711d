#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// One case of the oracle test: a function, its operands and what NumPy makes of them, as one line of text.
//
//     case  := name['(' number,... ')']['@out'] operand... '=' result...
//     operand := type/extents/values{/step}    result := type/extents/hex[/bound]
//     values := pool:seed | #hex               step := s<slice>,... | t<axis>,<axis> | e<extents>
//
// Extents are `3x5`, or `.` for rank 0. A pool is a list of values that stands once in the file (`pool name type hex`);
// element i of an operand is the value number random_bits(seed, 0, 0, i) % size of it, so that only results take room. A bound
// is how far the elements of a result may lie from it, where that depends on the case: on its condition number.
// Read next: views.hpp.

#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/tensor/layout.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace oracle {

using twill::Dims;
using twill::DType;

/// The codes of the element types in case files.
inline constexpr std::string_view dtype_codes[] = {"b1", "u1", "i4", "i8", "f2", "bf", "f4", "f8", "i1",
                                                   "i2", "u2", "u4", "u8", "e4", "e5", "c8", "c16"};

/// A tensor in the caller's memory: what an operand is made of, or what a function gave.
struct Values {
  DType type = DType::boolean;
  Dims extents{};
  std::vector<std::byte> bytes{};
};

/// One step of the recipe that makes a view.
struct Step {
  enum class Kind : std::uint8_t { slices, swap, expand } kind = Kind::slices;
  std::vector<twill::slice> slices{}; ///< of the last axes
  int first = 0;                      ///< axes to exchange, counted from the end
  int second = 0;
  Dims extents{};
};

struct Operand {
  Values base{};
  std::vector<Step> steps{};
};

struct Case {
  std::string line{}; ///< as it was read
  std::string name{};
  std::vector<double> numbers{};
  bool out = false; ///< written to a strided destination instead of a new tensor
  std::vector<Operand> operands{};
  std::vector<Values> results{};
  std::vector<double> bounds{}; ///< of each result, 0 where there is none
};

using Pools = std::map<std::string, Values, std::less<>>;

/// throws: ValueError when the line is not a case
[[nodiscard]] Case parse_case(const std::string& line, const Pools& pools);
/// Reads `pool name type hex`.
void parse_pool(const std::string& line, Pools& pools);

/// Where a view lies, computed step by step.
[[nodiscard]] twill::layout::Layout layout_of(const Operand& operand);
/// True when an operand is not contiguous, or operands broadcast.
[[nodiscard]] bool is_strided_or_broadcast(const Case& test);

} // namespace oracle
