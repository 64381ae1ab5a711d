#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of optim/options.hpp.

#include <twill/optim/options.hpp>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

TWILL_BODY void OptionList::add(std::string_view name, double& number, Allowed allowed) {
  options_.push_back({.name = join_text({prefix_, name}), .number = &number, .allowed = allowed});
}

TWILL_BODY void OptionList::add(std::string_view name, bool& flag) {
  options_.push_back({.name = join_text({prefix_, name}), .flag = &flag});
}

TWILL_BODY void OptionList::settle(std::string_view name, std::string_view text) {
  options_.push_back({.name = join_text({prefix_, name}), .settled = std::string{text}});
}

TWILL_BODY void OptionList::refuse(std::string_view name, std::string_view why) {
  if (!refusal_.is_made()) refusal_ = {join_text({prefix_, name}), std::string{why}};
}

}}}} // namespace twill::v0::optim::TWILL_ISA
