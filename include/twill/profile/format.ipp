#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/format.hpp.

#include <twill/profile/format.hpp>

namespace twill { inline namespace v0 { namespace profile {

TWILL_BODY std::string fixed(double value, int digits) {
  char text[340]; // the largest double has 309 digits
  std::snprintf(text, sizeof text, "%.*f", digits, value == 0 ? 0.0 : value);
  return text;
}

TWILL_BODY std::string percent(double share, int digits) {
  return share >= 0 && std::isfinite(share) ? fixed(100 * share, digits) + "%" : "-";
}

TWILL_BODY std::string duration(double seconds) {
  if (seconds < 0.99995e-3) return fixed(1e6 * seconds, 1) + " us";
  if (seconds < 0.99995) return fixed(1e3 * seconds, 2) + " ms";
  return fixed(seconds, 2) + " s";
}

TWILL_BODY void save_text(std::string_view what, const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw SystemError(join_text({what, ": cannot write ", path}));
}

}}} // namespace twill::v0::profile
