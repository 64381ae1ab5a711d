#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Options of the interpreter and of the pretended device, read from the environment once.

#include <cstddef>
#include <cstdint>
#include <string>

namespace ptxrun {

struct Options {
  bool checks_shared_races = false; ///< PTXRUN_RACES=1: races in shared memory, and reads of what was never written
  bool checks_global_races = false; ///< PTXRUN_GLOBAL_RACES=1: races in global memory, between and within blocks
  std::uint64_t shuffle_seed = 0;   ///< PTXRUN_SHUFFLE=<seed>: warps, blocks and graph nodes in a random order
  bool streams_run_late = false;    ///< PTXRUN_LAZY=1: work runs when the program waits for it, not before
  bool errors_stick = false;        ///< PTXRUN_STICKY=1: after a fault all calls fail, as on a device
  int devices = 1;                  ///< PTXRUN_DEVICES
  int multiprocessors = 132;        ///< PTXRUN_SMS, of each device
  int capability = 90;              ///< PTXRUN_ARCH: 75, 80, 86, 89, 90 or 120; decides the limits of shared memory
  std::size_t memory_bytes = std::size_t{8} << 30;            ///< PTXRUN_MEMORY_MIB, of each device
  std::uint64_t endless_after = std::uint64_t{4'000'000'000}; ///< PTXRUN_LIMIT_M, in millions: instructions of a warp
  std::string log_file{};       ///< PTXRUN_LOG: findings are added to this file instead of to stderr
  std::string report_file{};    ///< PTXRUN_REPORT: launches, instructions and coverage of each kernel are added here
  bool lists_unreached = false; ///< PTXRUN_UNREACHED=1: the report lists the instructions that no thread executed

  /// Limits of the pretended device, in bytes: a block's shared memory by opting in, and a multiprocessor's.
  [[nodiscard]] std::size_t opt_in_shared_bytes() const;
  [[nodiscard]] std::size_t multiprocessor_shared_bytes() const;
};

[[nodiscard]] const Options& options();

/// Replaces what the environment says; between launches. For tests.
void set_options(const Options& replacement);

} // namespace ptxrun
