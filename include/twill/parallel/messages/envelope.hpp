#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Packets between the ranks of a group, and the wire that carries them. parallel/messages/ needs only this of a
// network: whole packets that arrive at their destination, once and unchanged, in any order. Nothing blocks and nothing
// points into the memory of a caller, so a failed call can be forgotten immediately, whatever the network still does.
// An envelope heads every packet: its group, its kind, and its sender's current call, so that ranks which have lost
// step find out by comparing. All ranks of a wire have one byte order and one layout of it. Not in the umbrella. Read
// next: parallel/messages/member.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/group/call_check.hpp>
#include <twill/parallel/group/failure.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

namespace twill { inline namespace v0 { namespace parallel { namespace messages { inline namespace TWILL_ISA {

/// Bytes that several packets may share; not changed once one is in flight. A multiple of 16, aligned to 16.
class Parcel {
public:
  static constexpr std::size_t block = 16;

  Parcel() = default;
  /// Not initialised, except the part of the last block after `bytes`.
  explicit Parcel(std::size_t bytes) : size_{(bytes + block - 1) / block * block}, data_{new std::byte[size_]} {
    for (std::size_t i = bytes; i < size_; ++i) data_[static_cast<std::ptrdiff_t>(i)] = std::byte{};
  }

  [[nodiscard]] std::byte* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

private:
  std::size_t size_ = 0;
  std::shared_ptr<std::byte[]> data_;
};

/// A parcel and the rank on the wire that sent it.
struct Packet {
  int from = 0;
  Parcel parcel{};
};

/// Requirements beyond the compiler's: `send` takes a packet without waiting for its receiver; `poll` returns one that
/// has arrived, or nothing, immediately; `close` is called last, and told whether no rank will send any more. `lingers`
/// says that a wire is closed only after the farewells of all ranks.
template <class W>
concept Wire = requires(W& wire, const W& constant, const Parcel& parcel, int rank, bool is_quiet) {
  { W::lingers } -> std::convertible_to<bool>;
  { constant.rank() } -> std::same_as<int>;
  { constant.size() } -> std::same_as<int>;
  { constant.label(rank) } -> std::convertible_to<std::string>; // "rank 1 (host:4711)"
  wire.send(rank, parcel);
  { wire.poll() } -> std::same_as<std::optional<Packet>>;
  { wire.is_idle() } -> std::same_as<bool>; // all sent packets have left
  wire.close(is_quiet);
};

enum class Kind : std::uint8_t {
  first,   ///< a collective call: its signature and the receiver's part of the sender's source
  second,  ///< the receiver's part of the sender's result
  message, ///< a send
  taken,   ///< the receiver's answer to a message
  failed,  ///< the group cannot continue; the text follows
  left,    ///< the sender has destroyed its communicator
  waits,   ///< of no group: the rank of the wire that the sender waits for, or none any more
};

struct Envelope {
  std::uint64_t group = 0;
  std::int64_t number = 0; ///< of the collective call, the message among those of one tag between two ranks, the news
  std::int64_t count = 0;
  std::int64_t bytes = 0; ///< of the payload
  std::int64_t taken = 0; ///< left: the number of messages that the sender has taken from the receiver
  std::int32_t root = 0;  ///< failed: the rank at fault; waits: the awaited rank
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

/// An envelope and `envelope.bytes` bytes after it, still to be written.
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

/// The packet that tells the others of a failure. A rank's exception stays with it; the others read its text.
[[nodiscard]] inline Parcel pack(const detail::Failure& failure, std::uint64_t group) {
  Envelope envelope;
  envelope.group = group;
  envelope.kind = Kind::failed;
  envelope.root = failure.rank;
  envelope.flag = failure.is_timeout ? 1 : 0;
  envelope.bytes = static_cast<std::int64_t>(failure.text.size());
  return pack(envelope, failure.text.data());
}

/// The failure reported by another rank.
[[nodiscard]] inline detail::Failure failure_in(const Envelope& envelope, const Parcel& parcel) {
  return {std::string(reinterpret_cast<const char*>(content(parcel)), static_cast<std::size_t>(envelope.bytes)),
          envelope.root, envelope.flag != 0, nullptr, -1};
}

}}}}} // namespace twill::v0::parallel::messages::TWILL_ISA
