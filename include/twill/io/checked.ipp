#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/checked.hpp.

#include <twill/io/checked.hpp>

namespace twill { inline namespace v0 { namespace io {

TWILL_BODY std::uint64_t checked_bytes(std::string_view where, DType dtype, const Dims& shape) {
  std::uint64_t bytes = size_of(dtype);
  bool is_empty = false;
  for (int axis = 0; axis < shape.rank; ++axis) {
    is_empty = is_empty || shape[axis] == 0;
    const auto extent = static_cast<std::uint64_t>(shape[axis] == 0 ? 1 : shape[axis]); // strides must not overflow
    if (shape[axis] < 0 || __builtin_mul_overflow(bytes, extent, &bytes) || bytes > std::uint64_t{1} << 62)
      throw ValueError(join_text({where, " is damaged: shape ", to_string(shape), " of ", name(dtype),
                                  " has more bytes than there are addresses"}));
  }
  return is_empty ? 0 : bytes;
}

TWILL_BODY void require_truth_values(std::string_view where, DType dtype, std::span<const std::byte> bytes) {
  if (dtype != DType::boolean) return;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] > std::byte{1})
      throw ValueError(
          join_text({where, " is damaged: element ", i, " of type bool is ", std::to_integer<unsigned>(bytes[i])}));
}

}}} // namespace twill::v0::io
