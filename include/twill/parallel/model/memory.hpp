#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Memory of a step of a model on a mesh, exact to the byte and known without the devices: the step itself, run by all
// ranks on `Meta`, a device for each. Like `pipeline::memory` it holds for the steps after the first, without the
// caller's batch. Read next: parallel/pipeline/run/memory.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/data/chunk.hpp>
#include <twill/parallel/model/parallel_model.hpp>
#include <twill/parallel/pipeline/run/memory.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

template <class M, ScheduleKind S, parallel::Communicator C, class Model, FloatingScalar T>
struct OnMeta<ParallelModel<M, S, C, Model, T>> {
  using type = ParallelModel<M, S, parallel::ThreadCommunicator<Meta>, Model, T>;
};

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// The memory of each rank of a mesh in a step of `Parallel`, a `ParallelModel`, on a batch like this: the rows of all
/// replicas, as tensors on `Meta`.
/// throws: exceptions of the step    cost: host time of two steps of all ranks without their arithmetic, and no memory
template <class Parallel, class L, optim::Rule R, int Stage, AnyTensor... Batch>
[[nodiscard]] std::vector<RankMemory> memory(const typename Parallel::MeshType& mesh, const ReplicaOptions& replicas,
                                             const L& loss, const R& rule, const StepOptions& options,
                                             parallel::Zero<Stage> shared, const Batch&... batch) {
  using Mirrored = typename detail::OnMeta<Parallel>::type;
  const std::lock_guard lock(detail::measuring);
  std::vector<Meta> devices;
  for (int rank = 0; rank < mesh.ranks(); ++rank) devices.push_back(detail::measured_device(rank));
  std::vector<RankMemory> found(devices.size());
  auto world = parallel::thread_communicators(devices);
  parallel::run_ranks(world, [&](auto& member) {
    RankMemory& own = found[static_cast<std::size_t>(member.rank())];
    const Meta device = member.device();
    const std::tuple all{detail::like(batch, member.rank())...};
    const std::int64_t before = memory_allocated(device);
    Mirrored model{member, mesh, RandomDraw{}, replicas};
    own.weights = memory_allocated(device) - before;
    auto step = train_step(model, loss, rule, options, shared);
    const auto run = [&](const auto&... tensor) {
      step(parallel::rows_of<0>(tensor, model.rows_of(tensor.shape()[0]))...);
    };
    std::apply(run, all); // makes the optimiser's states
    reset_peak_memory_stats(device);
    std::apply(run, all);
    own.held = memory_allocated(device) - before;
    own.peak = max_memory_allocated(device) - before;
  });
  return found;
}

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA
