#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Capture of runs as graphs of a device: the part of an executor that a kind of device with graphs adds. Host devices
// have none, and programs in several slots are never captured; one slot of a GPU has compile/run/gpu/capture.hpp. Read
// next: compile/run/executor.hpp.

#include <twill/compile/run/bindings.hpp>
#include <twill/compile/run/capture_report.hpp>
#include <twill/compile/run/partial_update.hpp>
#include <twill/core/config.hpp>
#include <twill/device/device.hpp>

#include <cstddef>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Whether the arenas of temporaries outlive a run.
enum class Arena : bool { for_each_run, kept };

/// A run that is about to be given to the device of a program in one slot. `State` is kept beside the binding.
template <ComputeDevice D, class State> struct CapturableRun {
  const D& device;
  const Binding& binding;
  State& state;
  void* arena = nullptr;
  const RunArguments& arguments;
  std::size_t first_update = 0;    ///< the first launch that changes weights
  const char* objection = nullptr; ///< the reason why this run cannot be a graph's; null where it can
};

/// The captured runs of an executor; here of one that captures none. `Several`: its program is in several device slots.
template <ComputeDevice D, bool Several> class RunCapture {
public:
  /// Kept beside each binding.
  struct OfBinding {};
  using Run = CapturableRun<D, OfBinding>;

  explicit RunCapture(Arena) {}

  void allow(Capture) {}
  [[nodiscard]] CaptureReport report() const {
    return {.reason = Several ? "the program works in several device slots"
                              : "devices of this kind have no graphs: a run is one task of the stream as it is"};
  }
  static void prepare(OfBinding&, const TableView&, const Binding&) {}
  /// Bytes of a run's arena and of everything after it.
  [[nodiscard]] static std::size_t bytes(const OfBinding&, const Binding& binding, const RunArguments&) {
    return binding.arena_bytes;
  }
  /// The part of these bytes that only captured runs need.
  [[nodiscard]] static std::size_t bytes_beside(const OfBinding&, const Binding&) { return 0; }

  /// Runs by `write_numbers()` and `launch_all(arguments, progress)` on devices whose driver may stop the run half-way.
  template <class Write, class Launch>
  static void run(const Run& run, const Write& write_numbers, const Launch& launch_all) {
    detail::run_with_updates(run.first_update, [&](detail::UpdateProgress& progress) {
      write_numbers();
      launch_all(run.arguments, &progress);
    });
  }
};

}}}} // namespace twill::v0::compile::TWILL_ISA
