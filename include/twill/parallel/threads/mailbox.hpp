#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Messages between two ranks of a group of threads. A send and a receive meet by rendezvous: the second one copies,
// directly from source to target, and both are done. Messages between two ranks with one tag keep their order. Since a
// copy in progress accesses both ranks' memory, it is always finished; only a message that has met no other can run
// into the time-out. Read next: parallel/threads/rank.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/parallel/threads/group.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

class ThreadMailbox {
public:
  /// One side of a message, from its posting to its end.
  struct Message {
    enum class State { waiting, copying, done };
    Call call;
    int rank = 0;
    State state = State::waiting;
    double finished_s = 0; ///< when the elements were copied, by the steady clock
  };
  using Ticket = std::shared_ptr<Message>;

  explicit ThreadMailbox(ThreadGroup& group) : group_{group} {}

  /// Posts a send or receive without waiting for the other side. throws: CommunicatorError if the group has failed, the
  /// peer has left, or the two sides differ in size or element type
  [[nodiscard]] Ticket post(const Call& call, int rank);

  /// Waits for the other side. throws: CommunicatorError; the message is then withdrawn
  void wait(const Ticket& message);

  [[nodiscard]] bool is_done(const Ticket& message);

private:
  [[nodiscard]] static bool are_two_sides(const Message& left, const Message& right);

  /// Removes a message from the list, if it is there; the others keep their order.
  void withdraw(const Ticket& message);

  void require_same_size(const Message& left, const Message& right);

  ThreadGroup& group_;
  std::vector<Ticket> waiting_; // guarded by the group's mutex
};

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/threads/mailbox.ipp>
#endif
