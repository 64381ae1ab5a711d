#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Declarations of variables and parameters, `.align 8 .b8 name[48] = {...}`, and what a module's text declares at its top level.

#include "ptxrun/instruction.hpp"
#include "ptxrun/kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ptxrun {

struct Declaration {
  std::string_view name{};
  std::string_view initialiser{};
  Type type = Type::b8;
  std::size_t bytes = 0; ///< 0 for an array without a length
  std::size_t alignment = 1;
};

/// `text` is a declaration without its state space or with it.
[[nodiscard]] Declaration to_declaration(std::string_view text);

/// A function that kernels call; the parser inlines it.
struct Function {
  std::string_view results{}; ///< declarations between the parentheses
  std::string_view parameters{};
  std::string_view body{}; ///< empty for one that is only declared
  std::uint32_t first_line = 0;
};

struct Symbols {
  std::string text{}; ///< everything else points into it
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels{};
  std::map<std::string, Function, std::less<>> functions{};
  std::map<std::string, Variable, std::less<>> variables{};
  std::map<std::string, Declaration, std::less<>> shared{};
  std::map<int, std::string> files{};
};

} // namespace ptxrun
