#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/model/whole_tensors.hpp.

#include <twill/parallel/model/whole_tensors.hpp>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

TWILL_BODY nn::StoredTensor part_of_stored(const graph::ParameterInfo& info, std::string_view name,
                                           const nn::StoredTensor& tensor, int rank) {
  if (!info.shard.is_part()) return tensor;
  const Dims whole = nn::whole_shape(info).evaluate({});
  if (!(tensor.shape == whole) || tensor.dtype != info.dtype)
    throw ShapeError(join_text({"load_state_dict: '", name, "' is ", twill::name(info.dtype), " of shape ",
                                to_string(whole), " on one device, ", twill::name(tensor.dtype), " of ",
                                to_string(tensor.shape), " in the state dictionary"}));
  const std::vector<std::byte> own = nn::part_of_whole(info, tensor.bytes, rank);
  auto [part, data] = nn::StoredTensor::make(tensor.dtype, info.shape.evaluate({}));
  std::copy(own.begin(), own.end(), data);
  return std::move(part);
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
