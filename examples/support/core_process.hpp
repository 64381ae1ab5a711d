#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A process of its own that makes steps when it is asked to, so that what two processes reach on two cores can be measured
// beside what two devices of one process do. It is forked, and has to be before the program has threads: make it first. Not
// part of twill.

#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace examples {

class CoreProcess {
public:
  /// In the new process `make_step()` is called once, at the first request, and gives a function that makes a step.
  /// throws: std::runtime_error where the system gives no process
  template <class MakeStep> explicit CoreProcess(MakeStep make_step) {
    std::fflush(nullptr); // or both would write what is buffered
    if (pipe(request_) != 0 || pipe(answer_) != 0) throw std::runtime_error("CoreProcess: no pipe");
    process_ = fork();
    if (process_ < 0) throw std::runtime_error("CoreProcess: no process");
    if (process_ > 0) { // the other ends are the process's alone, so that its end is seen here
      close(request_[0]);
      close(answer_[1]);
      return;
    }
    try {
      serve(make_step);
      _exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "a process of its own: %s\n", error.what());
    }
    _exit(1);
  }
  CoreProcess(const CoreProcess&) = delete;
  CoreProcess& operator=(const CoreProcess&) = delete;
  ~CoreProcess() {
    const char quit = 'q';
    static_cast<void>(!write(request_[1], &quit, 1));
    close(request_[1]);
    close(answer_[0]);
    waitpid(process_, nullptr, 0);
  }

  /// Begins a step.
  void ask() {
    const char step = 's';
    if (write(request_[1], &step, 1) != 1) throw std::runtime_error("CoreProcess: the process is gone");
  }
  /// Waits for its end: how long it took, in seconds.    throws: std::runtime_error where the process has failed
  [[nodiscard]] double seconds() {
    double taken = 0;
    if (read(answer_[0], &taken, sizeof taken) != sizeof taken)
      throw std::runtime_error("CoreProcess: the process has failed");
    return taken;
  }

private:
  template <class MakeStep> void serve(MakeStep& make_step) {
    close(request_[1]);
    char request = 'q';
    if (read(request_[0], &request, 1) != 1 || request != 's') return;
    auto step = make_step();
    do {
      const auto start = std::chrono::steady_clock::now();
      step();
      const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (write(answer_[1], &taken, sizeof taken) != sizeof taken) return;
    } while (read(request_[0], &request, 1) == 1 && request == 's');
  }

  int request_[2] = {-1, -1};
  int answer_[2] = {-1, -1};
  pid_t process_ = -1;
};

} // namespace examples
