#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the other ranks of a group are told of an exception that one of them threw: its text. Every kind of group says it in
// these words.

#include <twill/core/config.hpp>

#include <exception>
#include <string>

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

/// What an exception says of itself.    requires: there is one
[[nodiscard]] std::string text_of(const std::exception_ptr& cause);

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/group/text_of.ipp>
#endif
