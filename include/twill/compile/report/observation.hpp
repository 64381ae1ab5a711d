#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Observations of a run: copies of values, with the names they have in the model. Taps are values that the model
// itself, or `nn::Hooked`, has marked; they are in the table, so nothing is traced again. Read next:
// compile/report/nan_attribution.hpp, nn/tap.hpp.

#include <twill/compile/run/observer.hpp>
#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/device/current.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The kind of a marked value.
using graph::TapKind;

/// A value that a run has computed.
struct Observation {
  std::string layer{};           ///< the path of its scope, or the name of its tap; empty outside of all
  std::string operation{};       ///< that made it, the last of its kernel; "tap" for marked values
  bool is_gradient = false;      ///< with respect to the value, not the value
  TapKind kind = TapKind::value; ///< of the mark
  std::string device{};          ///< that computed it, "cpu:0"
  DType dtype = DType::float32;  ///< of the value
  Dims shape{};                  ///< of the value
  std::vector<double> values{};  ///< a copy of the elements, row-major
  int tap = -1;                  ///< the number of the mark; parts of the gradient of a layer's input share it
};

}}}} // namespace twill::v0::compile::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// Puts a dense value of the host's memory into an observation that knows its element type and shape.
void copy_values(const void* data, Observation& seen);

/// The number after rounding to an element type.
[[nodiscard]] double rounded(DType dtype, double number);

/// Appends an observation. The gradient of a layer's input comes in parts, one for each use: they are added up, and
/// their sum moves to the end, where the gradient is complete.
void append(std::vector<Observation>& known, Observation seen);

/// The observation of a tap.
[[nodiscard]] Observation observed(const TableView& table, const graph::SymbolValues& symbols,
                                   const graph::TapInfo& tap, const void* data);

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Copies everything that is tapped, and passes all values to another watcher.
class TapWatcher final : public Watcher {
public:
  /// Takes the names of the devices of all slots of the table.
  explicit TapWatcher(std::vector<std::string> devices) : devices_{std::move(devices)} {}

  void also(Watcher* other) { other_ = other; }

  TWILL_BODY void see(const TableView& table, const graph::SymbolValues& symbols, int value, const void* data) override;

  /// Returns them in the order in which the model was traced, gradients in the opposite order.
  [[nodiscard]] std::vector<Observation> take();

private:
  struct Numbered {
    std::size_t number = 0;
    Observation observation{};
  };

  std::vector<std::string> devices_;
  Watcher* other_ = nullptr;
  std::vector<Numbered> observations_{};
};

/// Watches the taps of an executor during its life.
template <class Executor> class Tapping {
public:
  explicit Tapping(Executor& executor)
      : executor_{&executor}, watcher_{devices_of(executor)}, former_{executor.watch(&watcher_)} {
    watcher_.also(former_);
  }
  Tapping(const Tapping&) = delete;
  Tapping& operator=(const Tapping&) = delete;
  ~Tapping() {
    if (is_watching_) executor_->watch(former_);
  }

  /// Waits for the executor and ends the watch.
  [[nodiscard]] std::vector<Observation> finish() {
    executor_->wait();
    is_watching_ = false;
    executor_->watch(former_);
    return watcher_.take();
  }

private:
  static std::vector<std::string> devices_of(const Executor& executor) { return names_of(executor.devices()); }

  Executor* executor_;
  TapWatcher watcher_;
  Watcher* former_;
  bool is_watching_ = true;
};

/// Gives an executor one run, waits for it and shows its taps.
template <class Executor, class Run, class F> void run_tapped(Executor& executor, const Run& run, const F& look) {
  Tapping<Executor> tapping{executor};
  run();
  for (const Observation& observation : tapping.finish()) look(observation);
}

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/report/observation.ipp>
#endif
