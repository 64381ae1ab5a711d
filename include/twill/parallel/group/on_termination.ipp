#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/group/on_termination.hpp.

#include <twill/core/text.hpp>
#include <twill/parallel/group/on_termination.hpp>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <poll.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// The end of the pipe to which the handler writes; negative: there is none.
inline std::atomic<int> termination_pipe{-1};

inline constexpr char signal_came = 's';
inline constexpr char life_ends = 'e';

inline void write_byte(int pipe, char byte) {
  while (::write(pipe, &byte, 1) < 0 && errno == EINTR) {
  }
}

/// Handler of SIGTERM.
inline void note_termination(int) {
  const int error = errno;
  write_byte(termination_pipe.load(), signal_came);
  errno = error;
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

TWILL_BODY OnTermination::OnTermination(std::function<void()> act, int stay_ms)
    : act_{std::move(act)}, stay_ms_{stay_ms} {
  if (::pipe2(pipe_.data(), O_CLOEXEC) != 0)
    throw SystemError(join_text({"OnTermination: pipe: ", std::strerror(errno)}));
  const auto close_pipe = [this] {
    for (const int end : pipe_) ::close(end);
  };
  int none = -1;
  if (!detail::termination_pipe.compare_exchange_strong(none, pipe_[1])) {
    close_pipe();
    throw ValueError("OnTermination: there is another one; a process has one at a time");
  }
  try {
    watcher_ = std::thread{[this] { watch(); }};
  } catch (const std::system_error& error) {
    detail::termination_pipe = -1;
    close_pipe();
    throw SystemError(join_text({"OnTermination: cannot start a thread: ", error.what()}));
  }
  struct sigaction action {};
  action.sa_handler = &detail::note_termination;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &action, &before_);
}

TWILL_BODY OnTermination::~OnTermination() {
  ::sigaction(SIGTERM, &before_, nullptr);
  detail::write_byte(pipe_[1], detail::life_ends); // after the handler's byte, if there is one
  watcher_.join();
  detail::termination_pipe = -1;
  for (const int end : pipe_) ::close(end);
}

TWILL_BODY void OnTermination::watch() const {
  char byte = detail::life_ends;
  while (::read(pipe_[0], &byte, 1) < 0 && errno == EINTR) {
  }
  if (byte != detail::signal_came) return;
  try {
    act_();
  } catch (const std::exception& error) {
    warn(join_text({"OnTermination: ", error.what()}));
  }
  pollfd next{pipe_[0], POLLIN, 0};
  ::poll(&next, 1, stay_ms_); // for a second signal, or the end of life
  ::sigaction(SIGTERM, &before_, nullptr);
  ::kill(::getpid(), SIGTERM);
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
