#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/current.hpp.

#include <twill/device/current.hpp>

namespace twill { inline namespace v0 { namespace detail {

TWILL_COLD TWILL_BODY void refuse_missing_device(std::string_view where, std::string_view kind, int index, int count) {
  const std::string range = count == 0   ? join_text({"no ", kind, " devices"})
                            : count == 1 ? join_text({kind, ":0 only"})
                                         : join_text({kind, ":0 to ", kind, ":", count - 1});
  const bool more_can_be_made = count > 0 && kind == "cpu";
  throw DeviceError(join_text({where, ": there is no ", kind, ":", index, "; this process has ", range,
                               more_can_be_made ? "; configure_host before the first use makes more" : ""}));
}

TWILL_COLD TWILL_BODY void refuse_two_devices(std::string_view operation, std::string_view kind, int left, int right) {
  throw DeviceError(join_text({operation, ": the operands are on ", kind, ":", left, " and ", kind, ":", right,
                               "; move one of them with to(device)"}));
}

}}} // namespace twill::v0::detail
