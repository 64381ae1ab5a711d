#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Checks of a tensor from a file, which may be damaged or hostile: that its shape has a size in bytes at all, and that
// truth values are zero or one, because a bool in memory must be nothing else. Read next: io/npy.hpp,
// io/safetensors.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/core/text.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace twill { inline namespace v0 { namespace io {

/// The bytes of a tensor of these extents. throws: ValueError, `where` first, for more bytes than there are addresses
[[nodiscard]] std::uint64_t checked_bytes(std::string_view where, DType dtype, const Dims& shape);

/// throws: ValueError unless every byte of an array of bool is 0 or 1
void require_truth_values(std::string_view where, DType dtype, std::span<const std::byte> bytes);

}}} // namespace twill::v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/checked.ipp>
#endif
