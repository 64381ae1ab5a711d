#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A rank's part of a tensor in a state dictionary, which holds weights as one device has them. Read next: nn/shards.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/nn/shards.hpp>
#include <twill/nn/state_dict.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace twill::inline v0::parallel::inline TWILL_ISA {

/// What a rank along the weight's axis loads of a stored tensor: its part, or all of what is not divided.
/// throws: ShapeError naming the key and both sides
[[nodiscard]] nn::StoredTensor part_of_stored(const graph::ParameterInfo& info, std::string_view name,
                                              const nn::StoredTensor& tensor, int rank);

} // namespace twill::inline v0::parallel::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/model/stored_parts.ipp>
#endif
