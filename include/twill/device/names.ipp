#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/names.hpp.

#include <twill/device/names.hpp>

namespace twill { inline namespace v0 { namespace detail {

TWILL_COLD TWILL_BODY void refuse_device_name(std::string_view name, std::initializer_list<std::string_view> kinds) {
  std::string known;
  for (const std::string_view kind : kinds) known = join_text({known, known.empty() ? "\"" : ", \"", kind, "\""});
  if (name == "cuda" || name.substr(0, 5) == "cuda:")
    throw DeviceError(join_text({"with_device: \"", name,
                                 "\" needs CUDA, which this program was built without; include <twill/cuda.cuh> and "
                                 "compile the file with nvcc, or use ",
                                 known}));
  throw DeviceError(join_text({"with_device: \"", name, "\" is not a device; the kinds are ", known,
                               ", each with an optional ordinal, as in \"cpu:1\""}));
}

}}} // namespace twill::v0::detail
