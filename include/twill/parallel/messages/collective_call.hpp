#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// One collective call of one rank. In its first phase every rank sends every other the part it needs of its source,
// often nothing, under the signature of its call: so all meet, and all can compare. A reduction is divided by
// parallel/group/call_check.hpp: each rank reduces its range of the elements from all ranks' packets in the order of
// the tree, hence to the bits of threads, and sends it on in a second phase. Not in the umbrella. Read next:
// parallel/messages/member.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/group/call_check.hpp>
#include <twill/parallel/group/reduction_tree.hpp>
#include <twill/parallel/messages/packet.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace messages { inline namespace TWILL_ISA {

/// A packet to a rank of the group.
struct Outgoing {
  int to = 0;
  Packet packet{};
};

class CollectiveCall {
public:
  /// The packets of one rank in each phase.
  struct Arrival {
    bool is_there[2] = {false, false};
    Packet packets[2]{};
    Header first{};
  };

  CollectiveCall(const Call& call, int rank, int size)
      : call_{call}, signature_{signature_of(call, size)}, rank_{rank}, arrivals_(at(size)) {}

  [[nodiscard]] const Call& call() const { return call_; }
  [[nodiscard]] const Signature& signature() const { return signature_; }
  [[nodiscard]] std::int64_t number() const { return number_; }
  [[nodiscard]] const Arrival& arrival(int rank) const { return arrivals_[at(rank)]; }
  [[nodiscard]] int phase() const { return phase_; }
  [[nodiscard]] bool has_begun() const { return number_ > 0; }

  /// The rank's request in a split.
  void request_split(int color, int key) {
    arrivals_[at(rank_)].first.color = color;
    arrivals_[at(rank_)].first.key = key;
  }

  /// The packets of the first phase.
  void begin(std::uint64_t group, std::int64_t number, std::vector<Outgoing>& out) {
    number_ = number;
    header_.group = group;
    header_.number = number;
    header_.color = arrivals_[at(rank_)].first.color;
    header_.key = arrivals_[at(rank_)].first.key;
    header_.set(signature_);
    arrivals_[at(rank_)].first = header_;
    Packet shared; // if all get the same
    for (int other = 0; other < size(); ++other) {
      if (other == rank_) continue;
      const auto [offset, bytes] = part_for(other);
      if (shared.size() == 0 || !is_same_for_all()) {
        header_.bytes = bytes;
        shared = pack(header_, bytes > 0 ? source() + offset : nullptr);
      }
      out.push_back({other, shared});
    }
  }

  void take(int from, const Header& header, const Packet& packet) {
    Arrival& arrival = arrivals_[at(from)];
    const int phase = header.kind == Kind::first ? 0 : 1;
    arrival.is_there[phase] = true;
    arrival.packets[phase] = packet;
    if (phase == 0) arrival.first = header;
  }

  /// Whether this rank waits for another in the current phase.
  [[nodiscard]] bool awaits(int other) const {
    if (other == rank_) return false;
    if (phase_ == 0) return !arrival(other).is_there[0];
    const bool takes_results = call_.operation == Operation::all_reduce || rank_ == call_.peer;
    return takes_results && !arrival(other).is_there[1];
  }

  /// Processes arrived packets; true when the call is done. requires: no rank is awaited, all signatures are equal
  [[nodiscard]] bool advance(std::vector<Outgoing>& out) {
    if (phase_ == 1) {
      for (int other = 0; other < size(); ++other) {
        const detail::Portion share = share_of(other);
        if (other != rank_ && arrival(other).is_there[1])
          copy(share.begin * width(), other, 1, share.count() * width());
      }
      return true;
    }
    switch (call_.operation) {
    case Operation::all_reduce:
    case Operation::reduce:
      if (size() > 1) {
        reduce_own_share(out);
        phase_ = 1;
        return false;
      }
      reduce_own_share(out);
      return true;
    case Operation::reduce_scatter: {
      const std::byte* own = source() == nullptr ? nullptr : source() + part_bytes() * rank_;
      reduce_into(own, target(), signature_.count);
      return true;
    }
    default:
      for (int other = 0; other < size(); ++other)
        if (const auto move = detail::move_of(signature_, other, rank_)) place(*move, other);
      return true;
    }
  }

private:
  [[nodiscard]] static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  [[nodiscard]] int size() const { return static_cast<int>(arrivals_.size()); }
  [[nodiscard]] std::int64_t width() const { return static_cast<std::int64_t>(size_of(signature_.dtype)); }
  [[nodiscard]] std::int64_t part_bytes() const { return signature_.count * width(); }
  [[nodiscard]] const std::byte* source() const { return static_cast<const std::byte*>(call_.source.data); }
  [[nodiscard]] std::byte* target() const { return static_cast<std::byte*>(call_.target.data); }
  [[nodiscard]] detail::Portion share_of(int rank) const { return detail::share_of(signature_.count, rank, size()); }

  [[nodiscard]] bool is_same_for_all() const {
    return call_.operation == Operation::all_gather || call_.operation == Operation::broadcast ||
           call_.operation == Operation::barrier || call_.operation == Operation::split;
  }

  // Offset and size of another rank's part of this one's source. A rank without data contributes nothing.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> part_for(int other) const {
    if (source() == nullptr) return {0, 0};
    switch (call_.operation) {
    case Operation::all_reduce:
    case Operation::reduce:
      return {share_of(other).begin * width(), share_of(other).count() * width()};
    case Operation::reduce_scatter:
      return {other * part_bytes(), part_bytes()};
    default:
      const auto move = detail::move_of(signature_, rank_, other);
      return {move ? move->from * width() : 0, move ? part_bytes() : 0};
    }
  }

  // Copies another rank's part, unless one of the two has no data.
  void copy(std::int64_t to_offset, int other, int phase, std::int64_t bytes) {
    if (other == rank_ || target() == nullptr || bytes == 0) return;
    const Packet& packet = arrival(other).packets[phase];
    if (header_of(packet).bytes == bytes)
      std::memcpy(target() + to_offset, payload(packet), static_cast<std::size_t>(bytes));
  }
  void place(const detail::Move& move, int other) {
    if (other != rank_) return copy(move.to * width(), other, 0, part_bytes());
    if (source() == nullptr || target() == nullptr || part_bytes() == 0) return;
    const std::byte* const part = source() + move.from * width();
    std::byte* const to = target() + move.to * width();
    if (part != to) std::memcpy(to, part, static_cast<std::size_t>(part_bytes()));
  }

  // Reduces this rank's range from all packets and passes it on.
  void reduce_own_share(std::vector<Outgoing>& out) {
    const detail::Portion share = share_of(rank_);
    const bool keeps = call_.operation == Operation::all_reduce || rank_ == call_.peer;
    header_.kind = Kind::second;
    header_.bytes = source() == nullptr ? 0 : share.count() * width();
    const Packet result = pack(header_);
    const std::byte* own = source() == nullptr ? nullptr : source() + share.begin * width();
    const bool reduced = reduce_into(own, payload(result), share.count());
    if (keeps && reduced && target() != nullptr)
      std::memcpy(target() + share.begin * width(), payload(result), static_cast<std::size_t>(header_.bytes));
    for (int other = 0; other < size(); ++other) {
      if (other == rank_ || (call_.operation == Operation::reduce && other != call_.peer)) continue;
      out.push_back({other, result});
    }
  }

  // False when there is nothing to reduce, or a rank takes part without data.
  bool reduce_into(const std::byte* own, std::byte* result, std::int64_t count) {
    if (count == 0 || own == nullptr || result == nullptr) return false;
    std::vector<const void*> sources(arrivals_.size());
    for (int other = 0; other < size(); ++other) {
      const bool is_own = other == rank_;
      if (!is_own && header_of(arrival(other).packets[0]).bytes != count * width()) return false;
      sources[at(other)] = is_own ? own : payload(arrival(other).packets[0]);
    }
    void* const targets[] = {result};
    reduce_tree(signature_.dtype, signature_.reduction, sources, targets, 0, count);
    return true;
  }

  Call call_;
  Signature signature_;
  int rank_;
  std::int64_t number_ = 0;
  int phase_ = 0;
  Header header_{};
  std::vector<Arrival> arrivals_;
};

}}}}} // namespace twill::v0::parallel::messages::TWILL_ISA
