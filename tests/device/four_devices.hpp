#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The tests of devices run with four host devices of two threads each, whatever the machine has, so that they cover teams,
// several devices and oversubscription everywhere. The division is made before main. A test of the division itself starts
// this program again as a child in which it is not.

#include "tests/support/message_of.hpp"

#include <twill/device.hpp>

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace twill::test {

inline constexpr const char* undivided = "TWILL_TEST_UNDIVIDED";

inline const bool four_devices = [] {
  if (std::getenv(undivided) == nullptr) configure_host({.devices = 4, .threads_per_device = 2, .oversubscribe = true});
  return true;
}();

/// Runs one hidden test of this program in a new process, with the host undivided, and returns its exit status.
inline int run_in_child(const std::string& test) {
  const pid_t child = fork();
  if (child == 0) {
    setenv(undivided, "1", 1);
    execl("/proc/self/exe", "child", test.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

} // namespace twill::test
