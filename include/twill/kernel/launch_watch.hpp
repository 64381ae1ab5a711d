#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tells who records runs when an eager launch ran, and NVIDIA's profilers what it is called. While nobody records, a launch
// asks one flag, and all that is said here lies far from its code. Where a launch cannot be recorded, for want of memory, its
// result is there all the same, and the trace counts it. GPUs have a watch of their own, kernel/gpu/launch_watch.hpp; launches
// of host devices that run later than they are given to the device are not watched. Read next: kernel/launch_info.hpp,
// profile/trace.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/core/range.hpp>
#include <twill/core/run_recorder.hpp>
#include <twill/device/device.hpp>
#include <twill/kernel/launch_info.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace twill::inline v0::kernel::inline TWILL_ISA {

/// A launch of a program, which describes itself when it is asked.
struct ProgramLaunch {
  std::span<const Line> lines{};
  KernelShape shape = KernelShape::elementwise;
  const Grid* grid = nullptr;
  const Operand* operands = nullptr;

  [[nodiscard]] NodeInfo operator()() const { return launch_info(lines, shape, *grid, operands); }
};

/// The record of a launch that is about to run.
[[nodiscard]] TWILL_COLD inline RecordedRun launch_record(std::string device, NodeInfo node) {
  RecordedRun run{};
  run.nodes = std::make_shared<const std::vector<NodeInfo>>(1, std::move(node));
  run.devices.push_back(std::move(device));
  run.is_statement = true;
  return run;
}

/// Stands around one launch on a host device, in the thread that runs it.
template <class D> class LaunchWatch {
  static_assert(HostDevice<D>, "twill: include <twill/kernel/gpu/launch.hpp> for launches on GPUs");

public:
  /// A launch begins of which `what()` tells.
  template <class Describe>
  TWILL_COLD LaunchWatch(const D& device, const team_t<D>&, const Describe& what) noexcept
      : recorder_{records_runs() ? run_recorder() : nullptr} {
    if (recorder_ == nullptr) return;
    try {
      run_ = launch_record(to_string(device), what());
      run_.times.resize(1);
      start_s_ = steady_seconds();
    } catch (...) {
      lose();
    }
  }

  /// It has run.
  TWILL_COLD void end() noexcept {
    if (recorder_ == nullptr) return;
    run_.times.front() = {0, start_s_, steady_seconds()};
    try {
      recorder_->add(std::make_shared<FinishedRun>(std::move(run_)));
    } catch (...) {
      lose();
    }
  }

private:
  void lose() noexcept {
    recorder_->note_lost();
    recorder_ = nullptr;
  }

  std::shared_ptr<RunRecorder> recorder_;
  RecordedRun run_{};
  double start_s_ = 0;
};

#if defined(TWILL_WITH_NVTX) && TWILL_WITH_NVTX

/// Names a launch for profilers.
class LaunchRange {
public:
  template <class Describe> explicit LaunchRange(const Describe& what) : range_{name_of(what).c_str()} {}

private:
  template <class Describe> [[nodiscard]] static std::string name_of(const Describe& what) noexcept {
    try {
      return what().operation;
    } catch (...) { // no memory for a name
      return "launch";
    }
  }
  ProfilerRange range_;
};

#else

struct LaunchRange {
  template <class Describe> constexpr explicit LaunchRange(const Describe&) {}
};

#endif

/// Whether somebody wants to know of launches now.
[[nodiscard]] inline bool are_launches_watched() { return names_launches || records_runs(); }

/// Whether a kind of device tells of its launches: they have run, or stand in a GPU's stream, when `launch` returns.
template <class D> inline constexpr bool is_watched = requires { requires D::launches_at_once; };

/// Gives `work(team)` to a device for somebody who wants to know of it. requires: is_watched<D>
template <class D, class Work, class Describe>
TWILL_COLD void launch_watched(const D& device, const Work& work, const Describe& what) {
  launch(device, [&](const team_t<D>& team) {
    [[maybe_unused]] const LaunchRange range{what};
    LaunchWatch<D> watch{device, team, what};
    work(team);
    watch.end();
  });
}

/// Gives `work(team)` to a device; whoever wants to know is told what `what()` says of it.
template <class D, class Work, class Describe>
void launch_work(const D& device, const Work& work, [[maybe_unused]] const Describe& what) {
  if constexpr (is_watched<D>)
    if (are_launches_watched()) [[unlikely]]
      return launch_watched(device, work, what);
  launch(device, work);
}

} // namespace twill::inline v0::kernel::inline TWILL_ISA
