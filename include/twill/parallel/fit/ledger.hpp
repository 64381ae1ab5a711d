#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Ledger of a device's bytes by class, while the actions of a step are replayed: what is alive, and what was alive when
// most was. An entry counts until its last owner releases it, like a tensor's memory. Not in twill.hpp. Read next:
// parallel/fit/held.hpp, parallel/fit/stage_replay.hpp.

#include <twill/compile/plan/memory_use.hpp>
#include <twill/core/config.hpp>
#include <twill/parallel/fit/planned.hpp>
#include <twill/parallel/fit/report.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// The bytes of one device.
class Ledger {
  struct Held {
    Held(Ledger& of, Bytes which, std::int64_t bytes, std::int64_t all)
        : ledger{&of}, kind{which}, content{bytes}, taken{all} {
      ledger->count(kind, content, taken);
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { ledger->count(kind, -content, -taken); }

    /// Moves it to another class.
    void become(Bytes other) {
      ledger->move(kind, other, content);
      kind = other;
    }

    Ledger* ledger;
    Bytes kind;
    std::int64_t content;
    std::int64_t taken;
  };

public:
  /// Bytes that are alive as long as one of the copies.
  using Entry = std::shared_ptr<Held>;

  Ledger() = default;
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  /// An allocation of a pool.
  [[nodiscard]] Entry allocate(Bytes kind, std::int64_t bytes) {
    return allocate(kind, bytes, compile::pool_bytes(bytes));
  }
  /// An allocation of which only a part has content.
  [[nodiscard]] Entry allocate(Bytes kind, std::int64_t content, std::int64_t taken) {
    return std::make_shared<Held>(*this, kind, content, taken);
  }
  /// The arena of a program.
  [[nodiscard]] Entry allocate(Bytes kind, const ArenaBytes& arena) { return allocate(kind, arena.live, arena.total); }

  /// An allocation of a pool that stays.
  void hold(Bytes kind, std::int64_t bytes) { count(kind, bytes, compile::pool_bytes(bytes)); }
  /// An arena that stays.
  void hold(Bytes kind, const ArenaBytes& arena) { count(kind, arena.live, arena.total); }

  /// What is alive.
  [[nodiscard]] const ByteCounts& now() const { return now_; }
  /// What was alive at the peak.
  [[nodiscard]] const ByteCounts& peak() const { return peak_; }
  /// Both, without traffic.
  [[nodiscard]] RankReport report() const {
    RankReport found{};
    found.bytes = peak_;
    found.held_bytes = now_.total();
    return found;
  }

private:
  void move(Bytes from, Bytes to, std::int64_t content) {
    now_[from] -= content;
    now_[to] += content;
  }
  void count(Bytes kind, std::int64_t content, std::int64_t taken) {
    now_[kind] += content;
    now_[Bytes::fragmentation] += taken - content;
    if (now_.total() > peak_.total()) peak_ = now_;
  }

  ByteCounts now_{};
  ByteCounts peak_{};
};

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA
