#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Replay of a stage's memory: the values that `pipeline::Stage` keeps of each micro-batch, in the same order, as
// entries of a ledger. Not in twill.hpp. Read next: parallel/pipeline/model/stage.hpp,
// parallel/fit/pipeline_replay.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/fit/ledger.hpp>
#include <twill/parallel/fit/stage_plan.hpp>
#include <twill/parallel/group/communicator.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// A value of a stage: its memory, and what a message says of it.
struct ReplayedBlock {
  Ledger::Entry memory{};
  std::int64_t count = 0;
  DType dtype = DType::float32;

  /// The elements of a message; none of them exists.
  [[nodiscard]] Elements elements() const { return {nullptr, count, dtype}; }
};
/// Several values.
using ReplayedBlocks = std::vector<ReplayedBlock>;

/// One stage on one device.
class StageReplay {
public:
  StageReplay(const StagePlan& plan, Ledger& ledger) : plan_{&plan}, ledger_{&ledger} {}

  std::map<int, ReplayedBlocks> inputs{};
  std::map<int, ReplayedBlocks> outputs{};
  std::map<int, ReplayedBlocks> cotangents{};
  std::map<int, ReplayedBlocks> input_gradients{};

  bool keeps_orders = false; ///< of the weights of convolutions, until `drop_orders`
  /// Called inside a run that adds up values of several micro-batches, which are at work at once; none if none does.
  std::function<void()> meet{};

  /// The forward pass of a micro-batch with these numbers of symbols. `is_here(input)`: that input of the batch is on
  /// this device already.
  void forward(int micro_batch, const graph::SymbolValues& symbols, const std::function<bool(int)>& is_here,
               bool recompute);
  /// The whole backward pass.
  void backward(int micro_batch);
  /// The part for which the stage before waits.
  void input_gradient(int micro_batch);
  /// The rest.
  void weight_gradient(int micro_batch);

  /// Memory for the received values of a micro-batch.
  [[nodiscard]] ReplayedBlocks make_inputs(const graph::SymbolValues& symbols) const;
  /// Memory for the received gradients of its results.
  [[nodiscard]] ReplayedBlocks make_cotangents(const graph::SymbolValues& symbols) const;
  /// A value of this stage's first result.
  [[nodiscard]] ReplayedBlock make_cotangent_of(const ReplayedBlock& result) const;
  /// Takes the gradients of the last micro-batch from the sum.
  [[nodiscard]] ReplayedBlocks take_gradients() { return std::exchange(gradients_, {}); }
  /// Gives the stage a sum made elsewhere.
  void leave_gradients(ReplayedBlocks sum) { gradients_ = std::move(sum); }

  /// Releases the weights in the order of their readers.
  void drop_orders() { orders_.clear(); }

  /// The bytes that it has sent to ranks that divide its layers.
  [[nodiscard]] std::int64_t layer_bytes() const { return layer_bytes_; }
  /// The most that one of its operations takes of a GPU's pool.
  [[nodiscard]] std::int64_t operation_bytes() const { return operation_bytes_; }

private:
  struct Kept {
    graph::SymbolValues symbols{};
    ReplayedBlocks operands{};
    bool is_recomputed = false;
  };

  [[nodiscard]] ReplayedBlock make(Bytes kind, DType dtype, const graph::Extents& shape,
                                   const graph::SymbolValues& symbols) const;
  /// Runs a program: its results, and for a moment its arena and what its operations take of the pool.
  [[nodiscard]] ReplayedBlocks run(const PlannedProgram& program, const graph::SymbolValues& symbols);
  void keep_orders();
  void complete(Kept& own, ReplayedBlocks made) const;
  [[nodiscard]] Kept take_with_cotangents(int micro_batch);
  void add_gradients(ReplayedBlocks made);

  const StagePlan* plan_;
  Ledger* ledger_;
  std::map<int, Kept> kept_{};
  ReplayedBlocks gradients_{};
  ReplayedBlocks rests_{}; ///< rounding errors of sums in half precision
  std::vector<Ledger::Entry> orders_{};
  std::int64_t layer_bytes_ = 0;
  std::int64_t operation_bytes_ = 0;
};

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/fit/stage_replay.ipp>
#endif
