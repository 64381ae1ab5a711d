#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Memory of a step of a model on a mesh, exact to the byte and known without the devices: the replay of a pipeline for
// the ranks of each replica. Like `pipeline::memory` it holds for the steps after the first, without the caller's
// batch. Not in twill.hpp. Read next: parallel/pipeline/run/memory.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/data/zero_stage.hpp>
#include <twill/parallel/model/parallel_model.hpp>
#include <twill/parallel/pipeline/run/memory.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// A rank's coordinate along an axis that the mesh may have.
template <FixedString Name, class M> [[nodiscard]] std::size_t place_along(const M& mesh, int rank) {
  if constexpr (M::template has<Name>) return static_cast<std::size_t>(mesh.template coordinate<Name>(rank));
  return 0;
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// The memory of each rank of a mesh in a step of `Parallel`, a `ParallelModel`, on a batch like this: the rows of all
/// replicas, as tensors on `Meta`.
/// throws: exceptions of the step    cost: host time of planning the stages, and no memory
template <class Parallel, class L, optim::Rule R, int Stage, AnyTensor... Batch>
[[nodiscard]] std::vector<RankMemory> memory(const typename Parallel::MeshType& mesh, const ReplicaOptions& replicas,
                                             const L& loss, [[maybe_unused]] const R& rule, const StepOptions& options,
                                             [[maybe_unused]] parallel::Zero<Stage> shared, const Batch&... batch) {
  static_cast<void>(parallel::detail::require_pipe<typename Parallel::Pipe>(mesh));
  int number = 1; // of replicas
  if constexpr (Parallel::has_replicas) number = mesh.template size<"data">();
  detail::StepReplay<typename Parallel::Pipe, L, R, Stage, Batch...> replay{loss, options, batch...};
  replay.setting.has_input = [](int, int, std::int64_t) { return true; };
  replay.setting.replicas = Parallel::has_replicas ? number : 0;
  replay.setting.buckets = replicas.buckets;
  replay.setting.broadcasts_buffers = replicas.broadcasts_buffers;
  std::vector<std::vector<RankMemory>> of_replica{};
  for (int replica = 0; replica < number; ++replica) {
    replay.setting.replica = replica;
    of_replica.push_back(replay.run(parallel::detail::rows_of_replica(replay.rows(), replica, number).count));
  }
  std::vector<RankMemory> found{};
  for (int rank = 0; rank < mesh.ranks(); ++rank)
    found.push_back(of_replica[detail::place_along<"data">(mesh, rank)][detail::place_along<"pipe">(mesh, rank)]);
  return found;
}

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA
