#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Packets between the ranks of a group, and the endpoint of a network that carries them. parallel/messages/ needs only
// this of a network: whole packets that arrive at their destination, once and unchanged, in any order. Nothing blocks
// and nothing points into the memory of a caller, so a failed call can be forgotten immediately, whatever the network
// still does. Every packet begins with a header: its group, its kind, and its sender's current call, so that ranks that
// have lost step find out by comparing. All ranks of a network have one byte order and one layout of headers. Not in
// the umbrella. Read next: parallel/messages/member.hpp.

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

/// A header and the bytes after it. Copies share them, so they do not change once one is in flight. The size is a
/// multiple of 16, aligned to 16.
class Packet {
public:
  static constexpr std::size_t block = 16;

  Packet() = default;
  /// Not initialised, except the part of the last block after `bytes`.
  explicit Packet(std::size_t bytes) : size_{(bytes + block - 1) / block * block}, data_{new std::byte[size_]} {
    for (std::size_t i = bytes; i < size_; ++i) data_[static_cast<std::ptrdiff_t>(i)] = std::byte{};
  }

  [[nodiscard]] std::byte* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

private:
  std::size_t size_ = 0;
  std::shared_ptr<std::byte[]> data_;
};

/// A packet that has arrived, and the rank on the network that sent it.
struct Incoming {
  int from = 0;
  Packet packet{};
};

/// One rank's end of a network. Requirements beyond the compiler's: `send` takes a packet without waiting for its
/// receiver; `poll` returns one that has arrived, or nothing, immediately; `close` is called last, and told whether no
/// rank will send any more. `lingers` says that it is closed only after the leave notices of all ranks.
template <class W>
concept Endpoint = requires(W& endpoint, const W& constant, const Packet& packet, int rank, bool is_quiet) {
  { W::lingers } -> std::convertible_to<bool>;
  { constant.rank() } -> std::same_as<int>;
  { constant.size() } -> std::same_as<int>;
  { constant.label(rank) } -> std::convertible_to<std::string>; // "rank 1 (host:4711)"
  endpoint.send(rank, packet);
  { endpoint.poll() } -> std::same_as<std::optional<Incoming>>;
  { endpoint.is_idle() } -> std::same_as<bool>; // all sent packets have left
  endpoint.close(is_quiet);
};

enum class Kind : std::uint8_t {
  first,        ///< a collective call: its signature and the receiver's part of the sender's source
  second,       ///< the receiver's part of the sender's result
  message,      ///< a send
  acknowledged, ///< a message has been received
  failed,       ///< the group cannot continue; the text follows
  left,         ///< the sender has destroyed its communicator
  waits,        ///< of no group: the rank of the network that the sender waits for, or none any more
};

struct Header {
  std::uint64_t group = 0;
  std::int64_t number = 0; ///< of the collective call, the message among those of one tag between two ranks, the news
  std::int64_t count = 0;
  std::int64_t bytes = 0; ///< of the payload
  std::int64_t taken = 0; ///< left: the number of messages that the sender has taken from the receiver
  std::int32_t root = 0;  ///< failed: the rank at fault; waits: the awaited rank
  std::int32_t tag = 0;
  std::int32_t color = 0; ///< split
  std::int32_t key = 0;   ///< split; failed: the rank at fault by its number in the group of all
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
static_assert(std::is_trivially_copyable_v<Header> && sizeof(Header) % Packet::block == 0);

/// A header and `header.bytes` bytes after it, still to be written.
[[nodiscard]] inline Packet pack(const Header& header) {
  Packet packet(sizeof(Header) + static_cast<std::size_t>(header.bytes));
  std::memcpy(packet.data(), &header, sizeof(Header));
  return packet;
}
[[nodiscard]] inline Packet pack(const Header& header, const void* bytes) {
  Packet packet = pack(header);
  if (header.bytes > 0) std::memcpy(packet.data() + sizeof(Header), bytes, static_cast<std::size_t>(header.bytes));
  return packet;
}
[[nodiscard]] inline std::byte* payload(const Packet& packet) { return packet.data() + sizeof(Header); }
[[nodiscard]] inline Header header_of(const Packet& packet) {
  Header header;
  std::memcpy(&header, packet.data(), sizeof(Header));
  return header;
}

/// The packet that tells the others of a failure. A rank's exception stays with it; the others read its text.
[[nodiscard]] inline Packet pack(const detail::Failure& failure, std::uint64_t group) {
  Header header;
  header.group = group;
  header.kind = Kind::failed;
  header.root = failure.rank;
  header.key = failure.origin;
  header.flag = failure.is_timeout ? 1 : 0;
  header.bytes = static_cast<std::int64_t>(failure.text.size());
  return pack(header, failure.text.data());
}

/// The failure reported by another rank.
[[nodiscard]] inline detail::Failure failure_in(const Header& header, const Packet& packet) {
  return {std::string(reinterpret_cast<const char*>(payload(packet)), static_cast<std::size_t>(header.bytes)),
          header.root, header.flag != 0, nullptr, header.key};
}

}}}}} // namespace twill::v0::parallel::messages::TWILL_ISA
