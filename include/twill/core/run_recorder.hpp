#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Recorder of runs. Executors and eager statements report each launch and its times to it while a recording is active;
// otherwise they test one flag. The records know no device, no model and no instruction set, so one recorder takes the
// runs of all threads, devices and shared libraries of a process. Read next: compile/run/observer.hpp and
// profile/trace.hpp, which fill them, and profile/trace_report.hpp, which shows them.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 {

/// One launch of a program for given sizes.
struct NodeInfo {
  std::string operation{};        ///< "matmul", "add+tanh"
  std::string layer{};            ///< the path of its scope in the model, or the parameter that it updates
  std::string_view kind{};        ///< "elementwise", "rows", "columns", "operation", "ranks", "move"
  bool is_gradient = false;       ///< of values that the layer computes
  int slot = 0;                   ///< among the devices of the run
  int instructions = 1;           ///< that share the launch
  DType dtype = DType::float32;   ///< that it computes in
  std::int64_t bytes_read = 0;    ///< each tensor once
  std::int64_t bytes_written = 0; ///< each tensor once
  std::int64_t flops = 0;         ///< two for a multiply-add, one for an element of anything else
};

/// When a launch ran, in `steady_seconds`.
struct NodeTime {
  std::size_t node = 0; ///< which of the run's nodes
  double start_s = 0;   ///< in seconds
  double end_s = 0;     ///< in seconds
};

/// A finished run.
struct RecordedRun {
  std::shared_ptr<const std::vector<NodeInfo>> nodes{}; ///< one entry for each launch
  std::vector<std::string> devices{};                   ///< of the slots
  bool is_update = false;                               ///< it writes weights
  std::vector<NodeTime> times{}; ///< in the order of the launches of a slot, those of loops once for each step
  bool is_checked = false;       ///< the values that a launch wrote are inspected before the next launch
  bool is_statement = false;     ///< one launch of an eager statement, not of a program
};

/// A run that may still be under way.
class PendingRun {
public:
  PendingRun() = default;
  PendingRun(const PendingRun&) = delete;
  PendingRun& operator=(const PendingRun&) = delete;
  virtual ~PendingRun() = default;
  /// Waits for its end. Called once. throws: what the device's driver reports
  [[nodiscard]] virtual RecordedRun take() = 0;
};

/// A finished run, in the form of a pending one.
class FinishedRun final : public PendingRun {
public:
  explicit FinishedRun(RecordedRun run) : run_{std::move(run)} {}
  [[nodiscard]] RecordedRun take() override { return std::move(run_); }

private:
  RecordedRun run_;
};

/// Collects runs, from any thread.
class RunRecorder {
public:
  void add(std::shared_ptr<PendingRun> run);

  /// Takes the memory for one run that will be added later. throws: std::bad_alloc
  void reserve();
  /// Adds a run, or nothing where it is null. requires: a `reserve` of its own
  void add_reserved(std::shared_ptr<PendingRun> run) noexcept;

  /// Notes that a launch ran which could not be recorded.
  void note_lost() noexcept { lost_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t lost() const { return lost_.load(std::memory_order_relaxed); }

  /// All runs so far, ordered by their beginning, statements by their end; no later run is kept.
  [[nodiscard]] std::vector<std::shared_ptr<PendingRun>> close();

  /// An object that the runs of a device share, such as its clock; made by `make()` for the first of them.
  template <class T, class Make> [[nodiscard]] std::shared_ptr<T> shared(const std::string& device, const Make& make) {
    const std::lock_guard lock{mutex_};
    std::shared_ptr<void>& known = shared_[device];
    if (known == nullptr) known = make();
    return std::static_pointer_cast<T>(known);
  }

private:
  /// Makes room for one run beyond those that are reserved.
  void make_room();

  std::mutex mutex_{};
  bool is_closed_ = false;
  std::size_t reserved_ = 0; ///< runs in progress that will be added
  std::atomic<std::int64_t> lost_{0};
  std::map<std::string, std::shared_ptr<void>> shared_{};
  std::vector<std::shared_ptr<PendingRun>> runs_{};
};

/// Reserved place of a run in a recorder, taken before the run begins, so that adding the run cannot fail.
/// requires: the recorder outlives it
class RunPlace {
public:
  /// throws: std::bad_alloc
  explicit RunPlace(RunRecorder& recorder) : recorder_{&recorder} { recorder.reserve(); }
  RunPlace(const RunPlace&) = delete;
  RunPlace& operator=(const RunPlace&) = delete;
  ~RunPlace() { fill(nullptr); }

  /// Adds the finished run. Called once.
  void fill(std::shared_ptr<PendingRun> run) noexcept;

private:
  RunRecorder* recorder_;
};

namespace detail {
/// The recorder of the process; `is_on` tells whether there is one, without a lock.
struct ActiveRecorder {
  std::mutex mutex{};
  std::shared_ptr<RunRecorder> recorder{};
};
TWILL_EXPORT inline std::atomic<bool> is_recording_runs{false};
[[nodiscard]] TWILL_EXPORT inline ActiveRecorder& active_recorder() {
  static auto* const active = new ActiveRecorder{}; // never destroyed: devices' threads may outlive it
  return *active;
}
} // namespace detail

/// Whether a recording is active. cost: one load
[[nodiscard]] inline bool records_runs() { return detail::is_recording_runs.load(std::memory_order_relaxed); }

/// The active recorder, null when the recording has ended.
[[nodiscard]] std::shared_ptr<RunRecorder> run_recorder();

/// Records the runs of all threads while it lives.
class RecordingRuns {
public:
  /// throws: ValueError when another recording is active
  explicit RecordingRuns(std::shared_ptr<RunRecorder> recorder);
  RecordingRuns(const RecordingRuns&) = delete;
  RecordingRuns& operator=(const RecordingRuns&) = delete;
  ~RecordingRuns();
};

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/core/run_recorder.ipp>
#endif
