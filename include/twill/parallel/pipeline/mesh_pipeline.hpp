#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A pipeline over a mesh: `PipelineOn<Mesh<Axis<"data", 2>, Axis<"pipe", 3>>, Schedule, pipeline::Cut<Model>>` is one rank's stages of
// a pipeline along the axis "pipe", beside the same stages of other replicas along "data", if there is such an axis. Where the
// axis's size is written, it is compared by the compiler to the number of ranks that the pipeline has. Read next:
// parallel/pipeline/rank_step.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/mesh.hpp>
#include <twill/parallel/pipeline/rank_step.hpp>

#include <string>
#include <utility>

namespace twill::inline v0::pipeline::inline TWILL_ISA {

/// One rank's part, and its communicators along both axes.
template <parallel::AnyMesh M, parallel::Communicator C, ScheduleKind S, FloatingScalar T, ComputeDevice D,
          class... Parts>
class MeshPipeline {
  static_assert(M::template has<"pipe">, "twill: a pipeline runs along the axis \"pipe\" of its mesh");

public:
  using Pipe = BasicPipeline<S, T, D, Parts...>;

  /// A collective call of the whole group, which has to outlive it. Replicas start from the weights of the first one; `draw` is
  /// the same on all ranks.    throws: ValueError where the mesh or the pipeline has another number of ranks
  MeshPipeline(C& world, const Draw& draw)
      : groups_{parallel::over<M>(world)},
        pipe_{D(world.device()), checked(groups_).template coordinate<"pipe">(), draw} {
    if constexpr (M::template has<"data">)
      pipe_.for_each_stage([&](auto& network) {
        for (const auto& view : network.parameters())
          groups_.template along<"data">().run(
              parallel::Call::broadcast({view.buffer.data(), view.shape.elements(), view.dtype}, 0));
      });
  }

  [[nodiscard]] Pipe& pipeline() { return pipe_; }
  [[nodiscard]] parallel::MeshGroups<C, M>& groups() { return groups_; }

  /// This rank's part of a training step; replicas see different batches.
  template <class L, optim::Rule R> [[nodiscard]] auto step(L loss, R rule, StepOptions options) {
    C& ranks = groups_.template along<"pipe">();
    C* replicas = nullptr;
    if constexpr (M::template has<"data">) replicas = &groups_.template along<"data">();
    return RankStep<Pipe, L, R, C>{pipe_, ranks, std::move(loss), std::move(rule), options, replicas};
  }

private:
  static parallel::MeshGroups<C, M>& checked(parallel::MeshGroups<C, M>& groups) {
    if constexpr (M::open_axes == 0)
      static_assert(M{}.template size<"pipe">() == Pipe::ranks,
                    "twill: the axis \"pipe\" of a mesh has as many places as the pipeline has ranks");
    if (groups.mesh().template size<"pipe">() != Pipe::ranks)
      throw ValueError("Pipeline: " + std::string{S::name} + " with " + std::to_string(Pipe::stages) +
                       " stages runs on " + std::to_string(Pipe::ranks) + " ranks, the axis \"pipe\" has " +
                       std::to_string(groups.mesh().template size<"pipe">()));
    return groups;
  }

  parallel::MeshGroups<C, M> groups_;
  Pipe pipe_;
};

} // namespace twill::inline v0::pipeline::inline TWILL_ISA

namespace twill::inline v0::inline TWILL_ISA {

/// A pipeline of float32 over a mesh of ranks whose communicators are of type C.
template <class M, class C, pipeline::ScheduleKind S, class... Parts>
using PipelineOn = pipeline::MeshPipeline<M, C, S, float, typename C::Device, Parts...>;

} // namespace twill::inline v0::inline TWILL_ISA
