#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the ranks of a group can do together, by name. `split` is listed because ranks have to make it in step like any
// collective call; `send` and `receive` are the two sides of a message. Read next: parallel/group/communicator.hpp.

#include <twill/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace twill::inline v0::parallel::inline TWILL_ISA {

/// What a call of a communicator does.
enum class Operation : std::uint8_t {
  all_reduce,
  reduce,
  reduce_scatter,
  all_gather,
  gather,
  broadcast,
  scatter,
  all_to_all,
  barrier,
  split,
  send,
  receive,
};

/// How many kinds of operation there are.
inline constexpr std::size_t operation_count = 12;

/// As messages spell it.
[[nodiscard]] constexpr std::string_view name(Operation operation) {
  constexpr std::string_view names[] = {"all_reduce", "reduce",    "reduce_scatter", "all_gather",
                                        "gather",     "broadcast", "scatter",        "all_to_all",
                                        "barrier",    "split",     "send",           "receive"};
  return names[static_cast<int>(operation)];
}

} // namespace twill::inline v0::parallel::inline TWILL_ISA
