#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Last act of a process that is asked to end by SIGTERM: mpirun sends it to all processes when one has died, batch
// systems before they take a machine back. The handler of the signal only writes a byte; a thread that waits for it
// acts, also while all other threads wait in calls, then lets the signal take its course. The sender decides for how
// long: SIGKILL follows. Not in twill.hpp. Read next: parallel/data/elastic_process.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>

#include <array>
#include <csignal>
#include <functional>
#include <thread>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// During its life SIGTERM first calls a function, in a thread of its own. A process has one at a time.
class OnTermination {
public:
  /// The function is called once, at the first SIGTERM. After it the process stays for `stay_ms`, or until a second
  /// SIGTERM, since a launcher may give the others less time when one has ended. Then what SIGTERM did before is done:
  /// the process ends, unless the program has a handler. An exception of the function becomes a warning.
  /// throws: ValueError while there is another one; SystemError if the system has no pipe or thread left
  explicit OnTermination(std::function<void()> act, int stay_ms = 0);
  OnTermination(const OnTermination&) = delete;
  OnTermination& operator=(const OnTermination&) = delete;
  /// Waits for the function if the signal has come.
  ~OnTermination();

private:
  void watch() const;

  std::function<void()> act_;
  int stay_ms_;
  std::array<int, 2> pipe_{-1, -1};
  struct sigaction before_ {};
  std::thread watcher_{};
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/group/on_termination.ipp>
#endif
