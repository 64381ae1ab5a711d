#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Early stopping: ends a training when a number measured after each epoch, such as a validation loss, has not become
// better for a while, and keeps the weights of the best measurement if it is given the network. An improvement is
// counted as in Keras' and Lightning's EarlyStopping. Not in twill.hpp. Read next: optim/schedules.hpp for the plateau,
// which lowers the rate in place of stopping.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/nn/state_dict.hpp>

#include <cstdint>
#include <optional>

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

/// Options of early stopping.
struct EarlyStoppingOptions {
  std::int64_t patience = 3;     ///< measurements without improvement, one after the other, that end the training
  double min_delta = 0;          ///< absolute; the number has to improve by more than this
  bool larger_is_better = false; ///< whether the number should rise, such as an accuracy
};

/// Tells when a number has not become better for a while: `if (stop(validation_loss)) break;` after each epoch. NaN is
/// no improvement.
class EarlyStopping {
public:
  /// Numbers that a run has to save and restore to resume, besides the best weights.
  struct State {
    double best = 0;               ///< the best number so far
    std::int64_t best_index = -1;  ///< of its measurement, from 0; -1: none yet
    std::int64_t measurements = 0; ///< so far
    std::int64_t bad = 0;          ///< measurements since the last improvement

    /// Whether there is a best number.
    [[nodiscard]] bool has_best() const { return best_index >= 0; }
  };

  /// throws: ValueError unless the patience is at least 1 and min_delta at least 0
  explicit EarlyStopping(EarlyStoppingOptions given = {});

  /// Notes a measurement; true when the training should stop.
  bool operator()(double measured);
  /// Notes a measurement and, if it is the best so far, copies the weights and buffers of the network, for
  /// `restore_best`. True when the training should stop.
  template <class Network> bool operator()(double measured, const Network& network) {
    const bool stops = (*this)(measured);
    if (state_.bad == 0) best_weights_ = nn::state_dict(network);
    return stops;
  }

  /// Whether the training should stop, by the last measurement.
  [[nodiscard]] bool should_stop() const { return state_.bad >= options.patience; }
  /// The best number so far. throws: ValueError when there is none
  [[nodiscard]] double best() const;
  /// Which measurement was the best, from 0. throws: ValueError when there is none
  [[nodiscard]] std::int64_t best_index() const;

  /// The weights and buffers at the best measurement. throws: ValueError when the network was never given
  [[nodiscard]] const nn::StateDict& best_weights() const;
  /// Puts the weights and buffers of the best measurement back into the network.
  /// throws: ValueError when the network was never given
  template <class Network> void restore_best(Network& network) const { nn::load_state_dict(network, best_weights()); }

  /// What was measured so far, to be saved.
  [[nodiscard]] const State& state() const { return state_; }
  /// Continues from a saved state; the best weights are those given next, or before.
  void set_state(const State& state) { state_ = state; }

  EarlyStoppingOptions options; ///< may change between calls

private:
  [[nodiscard]] bool is_better(double measured) const;

  State state_{};
  std::optional<nn::StateDict> best_weights_{};
};

}}}} // namespace twill::v0::training::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/training/early_stopping.ipp>
#endif
