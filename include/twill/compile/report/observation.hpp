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

/// An executor of any type, and its next run, as those that watch it see them.
struct WatchedRun {
  void* executor = nullptr;                                      ///< called by the functions
  Watcher* (*watch)(void* executor, Watcher* watcher) = nullptr; ///< returns the watcher before
  void (*wait)(void* executor) = nullptr;                        ///< for the end of the run
  std::vector<std::string> (*devices)(void* executor) = nullptr; ///< their names
  const void* run = nullptr;                                     ///< its function object
  void (*call)(const void* run) = nullptr;                       ///< makes the run

  /// requires: both outlive it
  template <class Executor, class Run> static WatchedRun of(Executor& executor, const Run& run) {
    return {&executor,
            [](void* own, Watcher* watcher) { return static_cast<Executor*>(own)->watch(watcher); },
            [](void* own) { static_cast<Executor*>(own)->wait(); },
            [](void* own) { return names_of(static_cast<const Executor*>(own)->devices()); },
            &run,
            [](const void* own) { (*static_cast<const Run*>(own))(); }};
  }
};

/// Makes a run and waits for it. Returns its taps.
[[nodiscard]] std::vector<Observation> run_tapped(const WatchedRun& run);

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/report/observation.ipp>
#endif
