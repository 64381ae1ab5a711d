#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of core/type_name.hpp.

#include <twill/core/type_name.hpp>

namespace twill { inline namespace v0 { namespace detail {

TWILL_BODY std::size_t find_outside_brackets(std::string_view text, std::string_view wanted) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (depth == 0 && wanted.find(text[i]) != wanted.npos) return i;
    if (std::string_view{"<([{"}.find(text[i]) != std::string_view::npos) ++depth;
    if (std::string_view{">)]}"}.find(text[i]) != std::string_view::npos) --depth;
  }
  return text.size();
}

TWILL_BODY std::string_view without_namespaces(std::string_view name) {
  for (;;) {
    const std::size_t colon = find_outside_brackets(name, ":");
    if (colon + 2 > name.size()) return name;
    name.remove_prefix(colon + 2);
  }
}

}}} // namespace twill::v0::detail

namespace twill { inline namespace v0 {

TWILL_BODY std::string readable_name(std::string_view written) {
  // "[with T = Name; ...]" is g++'s form, "[T = Name]" clang's and "[with T=Name]" nvcc's.
  std::size_t list = written.find("[with T");
  if (list == written.npos) list = written.find("[T");
  const std::size_t equals = list != written.npos ? written.find('=', list) : written.npos;
  if (equals == written.npos) return {};
  std::string_view name = written.substr(equals + 1);
  name = name.substr(0, detail::find_outside_brackets(name, ";]"));
  for (;;) {
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    const std::string_view own = detail::without_namespaces(name);
    const std::size_t arguments = own.find('<');
    const std::string_view plain = own.substr(0, arguments);
    if (plain.empty() || plain[0] == '(' || plain[0] == '{' || plain.starts_with("lambda")) return {};
    // g++ leaves out the namespaces of this function: "nn::Autocast<Classifier>".
    const bool is_wrapper =
        name.starts_with("nn::") || name.starts_with("parallel::") ||
        (name.starts_with("twill::") && (name.find("::nn::") != name.npos || name.find("::parallel::") != name.npos));
    if (arguments == own.npos || !is_wrapper) return std::string{plain};
    const std::string_view inside = own.substr(arguments + 1);
    const std::string_view first = inside.substr(0, detail::find_outside_brackets(inside, ",>"));
    const std::string_view last = detail::without_namespaces(first);
    const bool is_type =
        !last.empty() && (last[0] == '_' || (last[0] >= 'A' && last[0] <= 'Z') || (last[0] >= 'a' && last[0] <= 'z'));
    if (!is_type) return std::string{plain};
    name = first;
  }
}

}} // namespace twill::v0
