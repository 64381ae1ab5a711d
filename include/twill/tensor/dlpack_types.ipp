#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of tensor/dlpack_types.hpp.

#include <twill/tensor/dlpack_types.hpp>

namespace twill { inline namespace v0 { namespace dlpack {

TWILL_COLD TWILL_BODY std::string to_string(const ElementType& type) {
  constexpr std::string_view kinds[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  if (type.lanes == 1 && type.bits == 8 && (type.code == 10 || type.code == 12))
    return std::string{name(type.code == 10 ? DType::float8_e4m3fn : DType::float8_e5m2)};
  std::string text = type.code < 7 ? join_text({kinds[type.code], type.code == 6 ? "" : join_text({type.bits})})
                                   : join_text({"type ", type.code, " of ", type.bits, " bits"});
  if (type.lanes != 1) text += join_text({" in ", type.lanes, " lanes"});
  return text;
}

TWILL_COLD TWILL_BODY std::string to_string(const Place& place) {
  switch (place.device_type) {
  case cpu:
    return "the host";
  case cuda:
    return join_text({"cuda:", place.device_id});
  case cuda_host:
    return "pinned host memory";
  case cuda_managed:
    return "CUDA's managed memory";
  default:
    return join_text({"device ", place.device_id, " of DLPack's kind ", place.device_type});
  }
}

}}} // namespace twill::v0::dlpack
