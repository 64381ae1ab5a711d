#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Report of an estimate: for each rank its bytes at the peak of a step, by class, and its traffic; the time line, the
// bubble and the step time that are predicted. Bytes are exact, as the pool of a device counts them; times are
// predictions. Not in twill.hpp. Read next: parallel/fit/estimate.hpp, profile/fit_table.hpp for tables and drawings.

#include <twill/core/config.hpp>
#include <twill/parallel/fit/options.hpp>
#include <twill/parallel/pipeline/schedule/timeline.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace fit {

/// A class of bytes on a device.
enum class Bytes : std::uint8_t {
  weights,       ///< and buffers
  gradients,     ///< that have memory of their own; those of a planned step are among the activations
  states,        ///< of the optimiser
  activations,   ///< from a forward pass to its gradients; of a planned step all values of its arena
  working,       ///< of running programs, and of libraries
  communication, ///< buckets, messages on their way, and gathered weights
  fragmentation, ///< gaps in arenas, and the rounding of the pool's allocations to 512 bytes
};
/// The number of classes.
inline constexpr std::size_t kinds_of_bytes = 7;

/// The name of a class, in tables and JSON.
[[nodiscard]] constexpr std::string_view name(Bytes kind) {
  constexpr std::string_view names[] = {"weights", "gradients",     "states",       "activations",
                                        "working", "communication", "fragmentation"};
  return names[static_cast<std::size_t>(kind)];
}

/// Bytes of one device by class.
struct ByteCounts {
  std::array<std::int64_t, kinds_of_bytes> counts{}; ///< in the order of the classes

  /// Those of one class.
  [[nodiscard]] constexpr std::int64_t& operator[](Bytes kind) { return counts[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] constexpr std::int64_t operator[](Bytes kind) const { return counts[static_cast<std::size_t>(kind)]; }
  /// All of them: the peak of the device.
  [[nodiscard]] constexpr std::int64_t total() const {
    std::int64_t sum = 0;
    for (const std::int64_t bytes : counts) sum += bytes;
    return sum;
  }
};

/// One rank of an estimate.
struct RankReport {
  ByteCounts bytes{};                  ///< at the peak of a step after the first
  std::int64_t held_bytes = 0;         ///< between two steps
  std::int64_t sent_bytes = 0;         ///< to ranks of its pipeline, or to devices of other slots, in a step
  std::vector<std::int64_t> sent_to{}; ///< of these, to each rank of its pipeline
  std::int64_t summed_bytes = 0;       ///< to replicas, in a step
  std::int64_t layer_bytes = 0;        ///< to ranks that divide its layers, in a step
  std::int64_t operation_bytes = 0;    ///< on GPUs of the pool for one decomposition or transform, at most
};

/// An estimate of one way to divide a training.
struct Report {
  Options options{};               ///< what it is of
  std::vector<RankReport> ranks{}; ///< of one pipeline, or else of each replica or slot; of divided layers the first
  double step_s = 0;               ///< predicted
  double bubble_s = 0;             ///< of the rank that idles longest
  double all_reduce_s = 0;         ///< of sums among replicas
  double layers_s = 0;             ///< of calls among ranks that divide layers
  pipeline::Timeline timeline{};   ///< predicted, of the ranks of a pipeline
  std::int64_t rows = 0;           ///< of a step, among all replicas

  /// The bytes of the fullest device.
  [[nodiscard]] std::int64_t peak_bytes() const {
    std::int64_t peak = 0;
    for (const RankReport& rank : ranks) peak = rank.bytes.total() > peak ? rank.bytes.total() : peak;
    return peak;
  }
  /// Rows in a second.
  [[nodiscard]] double rows_per_s() const { return step_s > 0 ? static_cast<double>(rows) / step_s : 0; }
};

}}}} // namespace twill::v0::parallel::fit
