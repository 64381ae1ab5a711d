#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Four host devices of one thread each, whatever the machine has. A program divides its cores once, so all files of one
// program that want more devices than there are cores include this and say nothing of their own.

#include <twill/device.hpp>

namespace twill::test {

/// Devices share the machine's cores.
[[maybe_unused]] inline const bool has_four_devices = [] {
  configure_host({.devices = 4, .threads_per_device = 1, .oversubscribe = true});
  return true;
}();

} // namespace twill::test
