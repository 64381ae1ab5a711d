#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What stands at the head of every packet: which group it belongs to, what it is, and the call that its sender is in, so that
// ranks which have lost step find out by comparing. All ranks of a wire have one byte order and one layout of this struct.
// Not in the umbrella. Read next: parallel/messages/member.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/group/call_check.hpp>
#include <twill/parallel/group/failure.hpp>
#include <twill/parallel/messages/wire.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace twill::inline v0::parallel::messages::inline TWILL_ISA {

enum class Kind : std::uint8_t {
  first,   ///< a collective call: its signature and what the receiver needs of the sender's source
  second,  ///< what the receiver needs of the sender's result
  message, ///< a send
  taken,   ///< the receiver's answer to a message
  failed,  ///< the group can go no further; the text follows
  left,    ///< the sender has let its communicator go
  waits,   ///< of no group: whom the sender waits for, a rank of the wire, or nobody any more
};

struct Envelope {
  std::uint64_t group = 0;
  std::int64_t number = 0; ///< of the collective call, the message among those of one tag between two ranks, the news
  std::int64_t count = 0;
  std::int64_t bytes = 0; ///< of what follows
  std::int64_t taken = 0; ///< left: how many messages the sender has taken from the receiver
  std::int32_t root = 0;  ///< failed: the rank at fault; waits: for whom
  std::int32_t tag = 0;
  std::int32_t color = 0; ///< split
  std::int32_t key = 0;
  Kind kind = Kind::first;
  Operation operation = Operation::barrier;
  DType dtype = DType::float32;
  Reduction reduction = Reduction::sum;
  std::uint8_t flag = 0; ///< failed: a time-out; left: by an exception
  std::uint8_t unused[3]{};

  void set(const Signature& signature) {
    operation = signature.operation;
    count = signature.count;
    dtype = signature.dtype;
    root = signature.root;
    reduction = signature.reduction;
  }
  [[nodiscard]] Signature signature() const { return {operation, count, dtype, root, reduction}; }
};
static_assert(std::is_trivially_copyable_v<Envelope> && sizeof(Envelope) % Parcel::block == 0);

/// An envelope and `envelope.bytes` bytes behind it, still to be written.
[[nodiscard]] inline Parcel pack(const Envelope& envelope) {
  Parcel parcel(sizeof(Envelope) + static_cast<std::size_t>(envelope.bytes));
  std::memcpy(parcel.data(), &envelope, sizeof(Envelope));
  return parcel;
}
[[nodiscard]] inline Parcel pack(const Envelope& envelope, const void* bytes) {
  Parcel parcel = pack(envelope);
  if (envelope.bytes > 0)
    std::memcpy(parcel.data() + sizeof(Envelope), bytes, static_cast<std::size_t>(envelope.bytes));
  return parcel;
}
[[nodiscard]] inline std::byte* content(const Parcel& parcel) { return parcel.data() + sizeof(Envelope); }
[[nodiscard]] inline Envelope envelope_of(const Parcel& parcel) {
  Envelope envelope;
  std::memcpy(&envelope, parcel.data(), sizeof(Envelope));
  return envelope;
}

/// The packet by which a rank that has found a failure tells the others. What a rank threw stays with it; they read its text.
[[nodiscard]] inline Parcel pack(const detail::Failure& failure, std::uint64_t group) {
  Envelope envelope;
  envelope.group = group;
  envelope.kind = Kind::failed;
  envelope.root = failure.rank;
  envelope.flag = failure.is_timeout ? 1 : 0;
  envelope.bytes = static_cast<std::int64_t>(failure.text.size());
  return pack(envelope, failure.text.data());
}

/// What another rank told.
[[nodiscard]] inline detail::Failure failure_in(const Envelope& envelope, const Parcel& parcel) {
  return {std::string(reinterpret_cast<const char*>(content(parcel)), static_cast<std::size_t>(envelope.bytes)),
          envelope.root, envelope.flag != 0, nullptr, -1};
}

} // namespace twill::inline v0::parallel::messages::inline TWILL_ISA
