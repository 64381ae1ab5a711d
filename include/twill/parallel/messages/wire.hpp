#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the collectives of parallel/messages/ need of a network, and all they need: whole packets that are given away and turn
// up at their destination, once and unchanged, in any order. Nothing blocks and nothing points into the memory of a caller,
// so a call that has failed can be forgotten at once, whatever the network still does. MPI is such a wire
// (parallel/messages/mpi.hpp); tests have one that delays, reorders and loses.
// Not in the umbrella. Read next: parallel/messages/envelope.hpp.

#include <twill/core/config.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace twill::inline v0::parallel::messages::inline TWILL_ISA {

/// Bytes that several packets may share; they are not changed once one is under way. A multiple of 16, aligned to 16.
class Parcel {
public:
  static constexpr std::size_t block = 16;

  Parcel() = default;
  /// Not initialised but for what the last block has beyond `bytes`.
  explicit Parcel(std::size_t bytes) : size_{(bytes + block - 1) / block * block}, data_{new std::byte[size_]} {
    for (std::size_t i = bytes; i < size_; ++i) data_[static_cast<std::ptrdiff_t>(i)] = std::byte{};
  }

  [[nodiscard]] std::byte* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

private:
  std::size_t size_ = 0;
  std::shared_ptr<std::byte[]> data_;
};

/// A parcel and the rank on the wire that it comes from.
struct Packet {
  int from = 0;
  Parcel parcel{};
};

/// What a compiler cannot check: `send` takes a packet without waiting for its receiver; `poll` returns one that has arrived,
/// or nothing, at once; `close` is called last, and told whether nobody will send any more.
/// `lingers` says that a wire is closed only when all ranks have said good-bye.
template <class W>
concept Wire = requires(W& wire, const W& constant, const Parcel& parcel, int rank, bool is_quiet) {
  { W::lingers } -> std::convertible_to<bool>;
  { constant.rank() } -> std::same_as<int>;
  { constant.size() } -> std::same_as<int>;
  { constant.label(rank) } -> std::convertible_to<std::string>; // "rank 1 (host:4711)"
  wire.send(rank, parcel);
  { wire.poll() } -> std::same_as<std::optional<Packet>>;
  { wire.is_idle() } -> std::same_as<bool>; // whatever was sent has left
  wire.close(is_quiet);
};

} // namespace twill::inline v0::parallel::messages::inline TWILL_ISA
