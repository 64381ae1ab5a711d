#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Communicators as rank groups of a compiled program: `model.bind(parallel::rank_group<Tensor>(communicator))`. The
// program does not depend on the kind of communicator. Read next: parallel/model/tensor_parallel.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/graph/ranks.hpp>
#include <twill/kernel/rank_group.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/operation.hpp>

#include <exception>
#include <memory>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// The reduction of a given name.
[[nodiscard]] constexpr Reduction reduction_of(kernel::Reduction reduction) {
  switch (reduction) {
  case kernel::Reduction::product:
    return Reduction::product;
  case kernel::Reduction::max:
    return Reduction::max;
  case kernel::Reduction::min:
    return Reduction::min;
  case kernel::Reduction::any:
    return Reduction::any;
  case kernel::Reduction::all:
    return Reduction::all;
  default:
    return Reduction::sum;
  }
}

/// One rank of a communicator along an axis. The communicator must outlive it, without other users during a run.
template <Communicator C> class CommunicatorGroup final : public kernel::RankGroup {
public:
  /// throws: ValueError unless the communicator has as many ranks as the axis
  CommunicatorGroup(C& communicator, const kernel::AxisId& axis)
      : kernel::RankGroup{axis}, communicator_{&communicator} {
    if (communicator.size() != axis.size)
      throw ValueError(join_text({"rank_group: the axis '", axis.name(), "' has ", axis.size,
                                  " ranks, the communicator ", communicator.size()}));
  }

  [[nodiscard]] int rank() const override { return communicator_->rank(); }
  void run(const kernel::GroupCall& call) override {
    const ConstElements source{call.source, call.source_count, call.dtype};
    const Elements target{call.target, call.target_count, call.dtype};
    switch (call.collective) {
    case kernel::Collective::all_reduce:
      return communicator_->run(Call::all_reduce(source, target, reduction_of(call.reduction)));
    case kernel::Collective::all_gather:
      return communicator_->run(Call::all_gather(source, target));
    case kernel::Collective::reduce_scatter:
      return communicator_->run(Call::reduce_scatter(source, target, reduction_of(call.reduction)));
    case kernel::Collective::all_to_all:
      return communicator_->run(Call::all_to_all(source, target));
    case kernel::Collective::to_next:
      return shift(source, target, 1);
    case kernel::Collective::to_previous:
      return shift(source, target, communicator_->size() - 1);
    case kernel::Collective::none:
      break;
    }
  }

  void fail(const std::exception_ptr& cause) override { communicator_->fail(cause); }

private:
  /// Sends to the rank `distance` places further round the ring, receives from the one as far back. Both are started
  /// before either is waited for: ranks that all send first would wait for each other.
  void shift(const ConstElements& source, const Elements& target, int distance) {
    const int size = communicator_->size();
    auto sent = communicator_->start(Call::send(source, (rank() + distance) % size));
    auto received = communicator_->start(Call::receive(target, (rank() + size - distance) % size));
    received.wait();
    sent.wait();
  }

  C* communicator_;
};

/// The communicator as the group along an axis. throws: ValueError unless it has as many ranks
template <AnyRankAxis A, Communicator C> [[nodiscard]] std::shared_ptr<kernel::RankGroup> rank_group(C& communicator) {
  return std::make_shared<CommunicatorGroup<C>>(communicator, A::id);
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
