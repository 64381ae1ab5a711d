#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Exchange of row counts before a step, so that losses and gradients can be means over all rows, and of rank 0's draw,
// so that dropout draws equal one device's. One small call. Read next: parallel/data/distributed_step.hpp.

#include <twill/core/config.hpp>
#include <twill/device/generator.hpp>
#include <twill/parallel/data/distributed.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// The ranks' rows in total and this rank's place among them.
struct Shares {
  std::int64_t all_rows = 0;  ///< of all ranks, including those summed earlier
  std::int64_t first_row = 0; ///< of this rank
  RandomDraw draw{};          ///< rank 0's
  bool finishes = false;      ///< some rank has batches summed earlier
};

/// The exchange of one rank of a `DistributedDataParallel`. All ranks make the same calls.
template <class Model> class RowShares {
public:
  explicit RowShares(Model& model) : model_{&model}, numbers_{model.communicator()} {}

  /// The bytes of it on the device.
  [[nodiscard]] std::size_t bytes() const { return numbers_.bytes(); }

  /// Announces this rank's rows, and batches summed earlier. throws: CommunicatorError
  [[nodiscard]] Shares exchange(std::int64_t rows, std::int64_t batches) {
    const RandomDraw own =
        model_->module().run_scalars().draws() ? model_->module().state()->next_draw() : RandomDraw{};
    const auto all =
        numbers_.exchange({rows, batches, static_cast<std::int64_t>(own.seed), static_cast<std::int64_t>(own.step)},
                          [&](const Call& call) { model_->run(call); });
    Shares shares{};
    shares.draw = {static_cast<std::uint64_t>(all[2]), static_cast<std::uint32_t>(all[3])};
    for (std::size_t i = 0; i < all.size(); i += 4) {
      if (i / 4 == static_cast<std::size_t>(model_->rank())) shares.first_row = shares.all_rows;
      shares.all_rows += all[i];
      shares.finishes = shares.finishes || all[i + 1] > 0;
    }
    return shares;
  }

  /// The most rows of any rank, one at least. throws: CommunicatorError
  [[nodiscard]] std::int64_t most(std::int64_t rows) {
    const auto all = numbers_.exchange({rows, 0, 0, 0}, [&](const Call& call) { model_->run(call); });
    std::int64_t most = 1;
    for (std::size_t i = 0; i < all.size(); i += 4) most = std::max(most, all[i]);
    return most;
  }

private:
  Model* model_;
  detail::HostNumbers<typename Model::communicator_type, 4> numbers_;
};

}}}} // namespace twill::v0::parallel::TWILL_ISA
