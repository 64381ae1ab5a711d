#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/checked.hpp.

#include <twill/io/checked.hpp>

namespace twill { inline namespace v0 { namespace io {

TWILL_BODY std::uint64_t checked_bytes(std::string_view where, DType dtype, const Dims& shape) {
  const std::int64_t bytes = counted_bytes(shape, size_of(dtype));
  if (bytes < 0)
    throw ValueError(join_text({where, " is damaged: shape ", to_string(shape), " of ", name(dtype),
                                " has more bytes than there are addresses"}));
  return static_cast<std::uint64_t>(bytes);
}

TWILL_BODY void require_truth_values(std::string_view where, DType dtype, std::span<const std::byte> bytes) {
  if (dtype != DType::boolean) return;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] > std::byte{1})
      throw ValueError(
          join_text({where, " is damaged: element ", i, " of type bool is ", std::to_integer<unsigned>(bytes[i])}));
}

}}} // namespace twill::v0::io
