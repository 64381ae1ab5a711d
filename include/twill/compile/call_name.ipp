#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/call_name.hpp.

#include <twill/compile/call_name.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_COLD TWILL_BODY std::string title_of(const CallName& name, const CallSite& site) {
  const std::string type = name.type != nullptr ? readable_name(name.type) : std::string{};
  const std::string_view call = name.call;
  std::string title = !type.empty() && !call.empty() ? join_text({call, "(", type, ")"}) : type + name.call;
  if (title.empty()) title = "compiled function";
  if (site.line > 0) {
    std::string_view file = site.file;
    file.remove_prefix(file.find_last_of("/\\") + 1); // npos + 1 is 0
    title += join_text({" (", file, ":", site.line, ")"});
  }
  return title;
}

TWILL_COLD TWILL_BODY std::string argument_of(const CallName& name, std::size_t argument) {
  if (argument >= name.inputs)
    return join_text({name.others == Others::targets    ? "target "
                      : name.others == Others::tangents ? "tangent "
                                                        : "cotangent ",
                      argument - name.inputs + 1});
  return join_text({"argument ", argument + 1, name.is_model ? " of forward" : ""});
}

TWILL_COLD TWILL_BODY void refuse_device(const CallName& name, std::size_t argument, std::string_view given,
                                         std::string_view wanted) {
  throw DeviceError(
      join_text({title_of(name), ": ", argument_of(name, argument), " is on ", given, ", the ",
                 name.is_model ? "model" : "first argument", " on ", wanted, "; move one with to(device)"}));
}

}}}} // namespace twill::v0::compile::TWILL_ISA
