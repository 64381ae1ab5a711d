#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Why a group that talks in packets can go no further, and the packet by which the rank that found it tells the others. What a
// rank threw stays with it as the cause; the others read its text. Not in the umbrella. Read next:
// parallel/messages/member.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/messages/envelope.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

namespace twill::inline v0::parallel::messages::inline TWILL_ISA {

/// Why a group can go no further.
struct Failure {
  std::string text{};
  int rank = -1; ///< at fault; negative: none that is known
  bool is_timeout = false;
  std::exception_ptr cause{};
};

/// throws: the failure, to each caller in an exception of its own
[[noreturn]] TWILL_COLD inline void throw_failure(const Failure& failure) {
  if (failure.is_timeout) throw TimeoutError(failure.text, failure.rank, failure.cause);
  throw CommunicatorError(failure.text, failure.rank, failure.cause);
}

/// What the other ranks of a group are told.
[[nodiscard]] inline Parcel pack(const Failure& failure, std::uint64_t group) {
  Envelope envelope;
  envelope.group = group;
  envelope.kind = Kind::failed;
  envelope.root = failure.rank;
  envelope.flag = failure.is_timeout ? 1 : 0;
  envelope.bytes = static_cast<std::int64_t>(failure.text.size());
  return pack(envelope, failure.text.data());
}

/// What another rank told.
[[nodiscard]] inline Failure failure_in(const Envelope& envelope, const Parcel& parcel) {
  return {std::string(reinterpret_cast<const char*>(content(parcel)), static_cast<std::size_t>(envelope.bytes)),
          envelope.root, envelope.flag != 0, nullptr};
}

} // namespace twill::inline v0::parallel::messages::inline TWILL_ISA
