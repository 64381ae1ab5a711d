#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// How far another rank has come, as far as its packets tell: its last collective call, and that it has left. An error names it
// for a rank that is missing. Not in the umbrella. Read next: parallel/messages/member.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/group/call_check.hpp>
#include <twill/parallel/messages/envelope.hpp>

#include <cstdint>
#include <string>

namespace twill::inline v0::parallel::messages::inline TWILL_ISA {

/// What is known of another rank of a group.
struct Peer {
  std::int64_t calls = 0; ///< collective ones that it has begun
  Signature last{};
  bool has_left = false;
  Envelope farewell{};

  /// It begins a collective call; packets of earlier ones may come later.
  void begins(const Envelope& call) {
    if (call.number <= calls) return;
    calls = call.number;
    last = call.signature();
  }

  /// "after 2 collective calls, the last: barrier", for messages.
  [[nodiscard]] TWILL_COLD std::string last_seen() const {
    if (calls == 0) return "before its first collective call";
    return join_text(
        {"after ", calls, calls > 1 ? " collective calls" : " collective call", ", the last: ", to_string(last)});
  }
};

} // namespace twill::inline v0::parallel::messages::inline TWILL_ISA
