#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Names of types for messages of a running program. `written_name<T>()` is a constant that the compiler has anyway;
// the readable form is cut out of it when a message is made, so that neither compile time nor a run pays for names.
// Read next: compile/call_name.hpp.

#include <twill/core/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 { namespace detail {

/// The place of the first of some characters outside of brackets, or the size of the text.
[[nodiscard]] std::size_t find_outside_brackets(std::string_view text, std::string_view wanted);

/// The text after the last :: outside of brackets.
[[nodiscard]] std::string_view without_namespaces(std::string_view name);

}}} // namespace twill::v0::detail

namespace twill { inline namespace v0 {

/// The name of a type within this function's own, "... [with T = twill::v0::nn::Autocast<Classifier>]".
template <class T> [[nodiscard]] constexpr const char* written_name() { return __PRETTY_FUNCTION__; }

/// The name that a program gave a type, from `written_name<T>()`: without namespaces and template arguments, of twill's
/// wrappers that of the type inside, "Classifier". Empty for a lambda, which has none.
[[nodiscard]] std::string readable_name(std::string_view written);

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/core/type_name.ipp>
#endif
