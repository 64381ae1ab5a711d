#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Names in a kernel's text: registers, variables, parameters and constants, in nested scopes. Registers get numbers here, which
// assign_registers() turns into places.

#include "ptxrun/declaration.hpp"
#include "ptxrun/instruction.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxrun {

struct Register {
  std::uint32_t number = 0;
  std::uint8_t bytes = 4; ///< of a lane: 4 or 8
  bool is_predicate = false;
};

/// A variable: its address in its space, in global space one of the host.
struct Place {
  Space space = Space::generic;
  std::uint64_t address = 0;
};

class Names {
public:
  explicit Names(Kernel& kernel) : kernel_{kernel}, scopes_(1) {}

  void open_scope() { scopes_.emplace_back(); }
  void close_scope() { scopes_.pop_back(); }

  /// `.reg .b32 %r<10>, %x;` without its first word.
  void declare_registers(std::string_view text);
  void declare_local(const Declaration& declaration);
  void declare_shared(const Declaration& declaration);
  void declare_parameter(const Declaration& declaration); ///< of the kernel
  void define(std::string_view name, Place place) { scopes_.back().places[name] = place; }
  /// New local memory of a thread.
  std::uint64_t take_local(std::size_t bytes, std::size_t alignment);

  [[nodiscard]] std::optional<Register> find_register(std::string_view name) const;
  /// `name` or `name+offset`.
  [[nodiscard]] std::optional<Place> find_place(std::string_view text);
  /// `%tid.x` and its like: registers that the machine fills.
  [[nodiscard]] Register special_register(std::string_view name);
  /// Where the constant is stored, for each lane.
  [[nodiscard]] std::uint32_t constant(std::uint64_t value, std::size_t bytes);

  [[nodiscard]] const std::vector<Register>& registers() const { return registers_; }
  [[nodiscard]] const std::map<std::string_view, Register>& specials() const { return specials_; }

private:
  /// Registers of a name with a number: the prefix of `%r<10>`, or a whole name.
  struct Series {
    std::uint32_t first = 0;
    std::uint32_t count = 0; ///< 0: a single one without a number
  };
  struct Scope {
    std::map<std::string_view, Series> series{};
    std::map<std::string_view, Series> singles{};
    std::map<std::string_view, Place> places{};
  };

  std::uint32_t add_register(Type type);
  std::optional<Place> find_shared(std::string_view name);

  Kernel& kernel_;
  std::vector<Scope> scopes_;
  std::vector<Register> registers_{};
  std::map<std::string_view, Register> specials_{};
  std::map<std::pair<std::uint64_t, std::size_t>, std::uint32_t> constants_{};
  std::optional<std::uint64_t> dynamic_shared_{};
};

/// Turns the numbers of registers in operands into offsets: live intervals share the memory of a warp's registers, so that it stays in
/// the host's cache. Fills Kernel::specials and Kernel::register_bytes.
void assign_registers(Kernel& kernel, const Names& names);

} // namespace ptxrun
