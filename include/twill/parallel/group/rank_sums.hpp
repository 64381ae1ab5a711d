#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sums over all ranks inside a model's run, forward and backward: after the launch that has written this rank's addend
// the host sums those of all ranks, in place. All ranks run the same program, so they meet in one order, including
// ranks without rows. Read next: nn/batch_norm.hpp.

#include <twill/compile/run/bindings.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/ops/rank_sum.hpp>
#include <twill/parallel/group/communicator.hpp>

#include <cstddef>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// The sums over ranks in a table.
class RankSums {
public:
  /// throws: ValueError if one is in a loop, whose steps the host cannot interrupt
  explicit RankSums(const compile::TableView& table);

  [[nodiscard]] bool empty() const { return places_.empty(); }
  [[nodiscard]] const std::vector<int>& places() const { return places_; }

  /// Sums the values written just before a place; `run(call)` carries out the call.
  template <class Run> void add_up(int place, const compile::Binding& binding, const Run& run) const {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i] != place) continue;
      const compile::BoundInstruction& instruction = binding.instructions[instructions_[i]];
      const std::size_t result = instruction.first_operand + 1;
      const Elements sum{binding.operands[result].data, binding.shapes[instruction.first_shape + 1].elements(),
                         binding.dtypes[result]};
      run(Call::all_reduce(sum));
    }
  }

private:
  std::vector<std::size_t> instructions_{};
  std::vector<int> places_{};
};

/// A run with no other host callback.
template <class Run> class AddUpRankSums final : public compile::HostCallback {
public:
  AddUpRankSums(const compile::TableView& table, Run run) : sums_{table}, run_{std::move(run)} {
    set_places(sums_.places());
  }

  void act(int place, const compile::Binding& binding) override { sums_.add_up(place, binding, run_); }

  [[nodiscard]] bool empty() const { return sums_.empty(); }

private:
  RankSums sums_;
  Run run_;
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/group/rank_sums.ipp>
#endif
