#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Kernels: their text, and what the parser makes of it when it is first asked for. Kernels live as long as the process, since
// programs launch until their very end.

#include "ptxrun/instruction.hpp"
#include "ptxrun/interpreter.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptxrun {

struct Symbols;

/// A place in the program's source, from `.loc`; files are numbered by `.file`.
struct Location {
  int file = 0;
  int line = 0;
  int outer_file = 0; ///< where the function was inlined; 0: it was not
  int outer_line = 0;
  bool operator==(const Location&) const = default;
};

using SpecialValue = std::uint64_t (*)(const Warp&, int lane);

/// A register that is filled before a thread's first instruction.
struct SpecialRegister {
  std::uint32_t offset = 0;
  SpecialValue value = nullptr;
};

/// Null for an unknown name.
[[nodiscard]] SpecialValue find_special_register(std::string_view name);

class Kernel {
public:
  std::string name{};               ///< mangled
  std::string_view head{};          ///< parameters and directives
  std::string_view body{};          ///< between the braces
  const Symbols* symbols = nullptr; ///< of the module
  std::uint32_t first_line = 0;     ///< of `body` in the module's text

  bool is_parsed = false;
  KernelTraits traits{};
  std::vector<Instruction> code{};
  std::vector<Location> locations{};
  std::vector<SpecialRegister> specials{};
  std::vector<std::byte> constants{}; ///< 32 copies of each
  std::uint32_t register_bytes = 0;   ///< of a warp
  std::size_t allowed_dynamic_bytes = 0;
  bool allows_dynamic_bytes = false; ///< cudaFuncSetAttribute was called

  std::uint64_t launches = 0;
  double seconds = 0;
};

/// Parses once; throws ParseError.
void parse(Kernel& kernel);

/// Sets every instruction's rank: where lanes that branched apart meet again is ranked after all ways that lead there.
void number_ranks(std::vector<Instruction>& code);

/// `file:line [inlined at file:line]`, or "unknown place".
[[nodiscard]] std::string describe(const Kernel& kernel, const Location& location);

/// The readable form of a mangled name.
[[nodiscard]] std::string demangle(const std::string& name);

/// The instruction's text on one line.
[[nodiscard]] std::string describe(const Instruction& instruction);

/// All kernels of all modules, in the order of their registration.
[[nodiscard]] std::vector<Kernel*>& all_kernels();

} // namespace ptxrun
