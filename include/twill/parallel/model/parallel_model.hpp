#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Models over a mesh of ranks, determined by one type: in `ParallelModel<Mesh<Axis<"data", 2>, Axis<"pipe", 2>,
// Axis<"tensor", 2>>, Schedule, C, Model>` each of 8 ranks holds its stages along "pipe", its part of the layers that
// name the axis "tensor", and its rows along "data". Any axis may be missing; without "pipe" the same model is one
// stage. The compiler compares given sizes with those of the pipeline and the layers, open ones are compared when the
// mesh is filled. Losses, weights and draws equal those of one device with all rows. Read next:
// parallel/model/state.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/network.hpp>
#include <twill/ops/collective.hpp>
#include <twill/parallel/group/mesh.hpp>
#include <twill/parallel/group/rank_group.hpp>
#include <twill/parallel/pipeline/model/cut.hpp>
#include <twill/parallel/pipeline/run/inference.hpp>
#include <twill/parallel/pipeline/run/rank_step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// The axes of ranks named by the layers of a model.
struct LayerAxes {
  static constexpr int most = 8;
  graph::Few<kernel::AxisId, most> ids{};
  int count = 0;

  constexpr void add(const kernel::AxisId& axis) {
    if (axis.size > 1 && size_of(axis) == 0 && count < most) ids.items[count++] = axis;
  }
  constexpr void add(const LayerAxes& others) {
    for (int i = 0; i < others.count; ++i) add(others.ids.items[i]);
  }
  /// The ranks of the axis of this name; 0: no layer names it.
  [[nodiscard]] constexpr std::int64_t size_of(const kernel::AxisId& axis) const {
    for (int i = 0; i < count; ++i)
      if (ids.items[i].is_named_as(axis)) return ids.items[i].size;
    return 0;
  }
};

template <nn::Model M, FloatingScalar T> [[nodiscard]] consteval LayerAxes find_axes() {
  graph::Graph graph = nn::ModelStage<M, T, true>::make_graph();
  static_cast<void>(nn::ModelStage<M, T, true>::build(graph));
  LayerAxes axes{};
  for (const graph::ParameterInfo& info : graph.parameters) axes.add(info.shard.axis);
  for (const graph::Node& node : graph.nodes) {
    const bool calls = node.kind == graph::Kind::operation && node.operation->collective != kernel::Collective::none;
    const bool copies = node.kind == graph::Kind::rule && node.operation == &graph::copy_to_rule;
    if (calls || copies) axes.add(graph::detail::ranks_of(graph, node));
  }
  return axes;
}

/// The ranks named by the layers along an axis of a mesh; one if there are none.
template <class A> [[nodiscard]] consteval std::int64_t ranks_of_layers(const LayerAxes& axes) {
  const std::int64_t named = axes.size_of({A::name, 0});
  return named > 0 ? named : 1;
}

// Shown by the compiler for a mesh that does not match its model: never defined.
template <std::int64_t Ranks> struct mesh_has;
template <std::int64_t Ranks> struct pipeline_runs_on;
template <std::int64_t Ranks> struct layers_are_divided_among;
template <class Axis, class Model> struct the_axis_pipe_of_the_mesh_has_another_number_of_ranks;
template <class Axis, class Model> struct an_axis_of_the_mesh_has_another_number_of_ranks_than_the_layers_name;

/// Refuses an axis that neither replicas, nor stages, nor layers use, and a given size that is not theirs.
template <class A, std::int64_t PipeRanks, std::int64_t LayerRanks, bool IsNamed>
[[nodiscard]] consteval bool axis_fits() {
  if constexpr (A::name == "pipe") {
    if constexpr (A::size != dyn && A::size != PipeRanks)
      static_cast<void>(sizeof(
          the_axis_pipe_of_the_mesh_has_another_number_of_ranks<mesh_has<A::size>, pipeline_runs_on<PipeRanks>>));
  } else if constexpr (A::name != "data") {
    static_assert(IsNamed || A::name == "tensor",
                  "twill: ParallelModel: the axes of a mesh are \"data\", \"pipe\" and those along which layers of the "
                  "model are divided; no layer names this one");
    if constexpr (A::size != dyn && A::size != LayerRanks)
      static_cast<void>(sizeof(
          an_axis_of_the_mesh_has_another_number_of_ranks_than_the_layers_name<mesh_has<A::size>,
                                                                               layers_are_divided_among<LayerRanks>>));
  }
  return true;
}

/// Whether the mesh has each axis named by the layers, and these are not those of replicas and stages.
template <class... Axes> [[nodiscard]] consteval bool has_axes_of(const LayerAxes& axes) {
  for (int i = 0; i < axes.count; ++i)
    if (!(axes.ids.items[i].is_named_as({Axes::name, 0}) || ...)) return false;
  return true;
}
[[nodiscard]] consteval bool leaves_data_and_pipe(const LayerAxes& axes) {
  return axes.size_of({"data", 0}) == 0 && axes.size_of({"pipe", 0}) == 0;
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// A model for each stage, in order, in place of one type of a `ParallelModel`.
template <nn::Model... Stages> struct InStages {};

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// The pipeline of a model on a mesh: cut at its marks by default, whole if there is no axis "pipe".
template <bool HasPipe, class S, class T, class D, class Model> struct PipelineOf {
  using type = pipeline::BasicPipeline<S, T, D, pipeline::Cut<Model>>;
};
template <bool HasPipe, class S, class T, class D, pipeline::CutKind C> struct PipelineOf<HasPipe, S, T, D, C> {
  using type = pipeline::BasicPipeline<S, T, D, C>;
};
template <class S, class T, class D, class Model>
requires(!pipeline::CutKind<Model>) struct PipelineOf<false, S, T, D, Model> {
  using type = pipeline::BasicPipeline<pipeline::OneForwardOneBackward, T, D, pipeline::Uncut<Model>>;
};
template <class S, class T, class D, pipeline::CutKind C> struct PipelineOf<false, S, T, D, C> {
  using type = pipeline::BasicPipeline<pipeline::OneForwardOneBackward, T, D, pipeline::Uncut<typename C::cut_type>>;
};
template <bool HasPipe, class S, class T, class D, class... Stages>
struct PipelineOf<HasPipe, S, T, D, pipeline::InStages<Stages...>> {
  static_assert(HasPipe, "twill: ParallelModel: a model given in stages runs along the axis \"pipe\" of a mesh");
  using type = pipeline::BasicPipeline<S, T, D, Stages...>;
};

/// The mesh, if its ranks along "pipe" are those of the pipeline. throws: ValueError with both numbers
template <class Pipe, class M> [[nodiscard]] const M& require_pipe(const M& mesh) {
  if constexpr (M::template has<"pipe">)
    if (mesh.template size<"pipe">() != Pipe::ranks)
      throw ValueError(
          join_text({"ParallelModel: ", Pipe::ScheduleType::name, " with ", Pipe::stages, " stages runs on ",
                     Pipe::ranks, " ranks, the axis \"pipe\" has ", mesh.template size<"pipe">()}));
  return mesh;
}

/// A replica's rows of a batch: the first ones have one more if the replicas do not divide them evenly.
[[nodiscard]] constexpr Rows rows_of_replica(std::int64_t rows, std::int64_t replica, std::int64_t replicas) {
  const std::int64_t each = rows / replicas;
  const std::int64_t more = rows % replicas;
  return {replica * each + std::min(replica, more), each + (replica < more ? 1 : 0)};
}

/// The axes named by the layers of a model, in any of its forms.
template <class T, class Model> inline constexpr LayerAxes layer_axes = find_axes<Model, T>();
template <class T, pipeline::CutKind C>
inline constexpr LayerAxes layer_axes<T, C> = find_axes<typename C::cut_type, T>();
template <class T, class... Stages>
inline constexpr LayerAxes layer_axes<T, pipeline::InStages<Stages...>> = [] {
  LayerAxes all{};
  (all.add(find_axes<Stages, T>()), ...);
  return all;
}();

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// One rank's part of a model on the mesh M, with weights of type T. `Model` is a model, cut at its marks;
/// `pipeline::Cut`, `pipeline::Balanced` or another way to cut one; or `pipeline::InStages<First, Second, …>`.
template <class M, pipeline::ScheduleKind S, parallel::Communicator C, class Model, FloatingScalar T = float>
class ParallelModel;

/// A model whose ranks form a mesh: a pipeline along "pipe", replicas along "data", parts of layers along others.
template <class... Axes, pipeline::ScheduleKind S, parallel::Communicator C, class Model, FloatingScalar T>
class ParallelModel<parallel::Mesh<Axes...>, S, C, Model, T> {
public:
  /// The mesh as given by the caller, including axes of open size.
  using MeshType = parallel::Mesh<Axes...>;
  using communicator_type = C;
  using device_type = typename C::Device;
  using Element = T;
  /// The pipeline that runs this rank's stages.
  using Pipe = typename parallel::detail::PipelineOf<MeshType::template has<"pipe">, S, T, device_type, Model>::type;
  static constexpr bool has_replicas = MeshType::template has<"data">; ///< Whether several pipelines share a batch.

private:
  static constexpr parallel::detail::LayerAxes named = parallel::detail::layer_axes<T, Model>;
  static_assert(parallel::detail::leaves_data_and_pipe(named),
                "twill: ParallelModel: layers are divided along an axis of their own, not along \"data\" or \"pipe\"");
  static_assert(parallel::detail::has_axes_of<Axes...>(named),
                "twill: ParallelModel: layers of the model are divided along an axis that the mesh does not have");
  static_assert((parallel::detail::axis_fits<Axes, Pipe::ranks, parallel::detail::ranks_of_layers<Axes>(named),
                                             (named.size_of({Axes::name, 0}) > 0)>() &&
                 ...));

public:
  /// A collective call of the whole group, which has to outlive it; the group fills the mesh, of which one size may be
  /// open. `draw` is the same on all ranks: weights are those of one network with this draw.
  /// throws: ValueError if the mesh, the pipeline or the layers have another number of ranks
  ParallelModel(C& world, const RandomDraw& draw, pipeline::ReplicaOptions options = {})
      : ParallelModel(world, MeshType::of_ranks(world.size()), draw, options) {}

  /// A model on a mesh with given values of the open sizes.
  ParallelModel(C& world, const MeshType& mesh, const RandomDraw& draw, pipeline::ReplicaOptions options = {})
      : groups_{world, parallel::detail::require_pipe<Pipe>(mesh)},
        alone_{alone(world)},
        options_{options},
        pipe_(made(world, draw)) {}

  ParallelModel(const ParallelModel&) = delete;
  ParallelModel& operator=(const ParallelModel&) = delete;

  /// This rank's stages.
  [[nodiscard]] Pipe& pipeline() { return pipe_; }
  /// The communicators along the axes of the mesh.
  [[nodiscard]] parallel::MeshGroups<C, MeshType>& groups() { return groups_; }
  /// The communicator of all ranks.
  [[nodiscard]] C& world() { return groups_.world(); }
  /// The ranks of this replica's pipeline; only this one if the mesh has no axis "pipe".
  [[nodiscard]] C& along_pipe() {
    if constexpr (MeshType::template has<"pipe">)
      return groups_.template along<"pipe">();
    else
      return *alone_;
  }
  /// This rank's replica's rows of a batch of `rows` rows: the first replicas have one more if they do not divide
  /// evenly.
  [[nodiscard]] parallel::Rows rows_of(std::int64_t rows) const {
    std::int64_t replica = 0;
    std::int64_t replicas = 1;
    if constexpr (has_replicas) {
      replica = groups_.template coordinate<"data">();
      replicas = groups_.mesh().template size<"data">();
    }
    return parallel::detail::rows_of_replica(rows, replica, replicas);
  }

  /// Sets training mode of steps: dropout and the like; inference never uses it.
  void train() { pipe_.train(); }
  /// Sets evaluation mode: dropout keeps all, batch norms use their running statistics.
  void eval() { pipe_.eval(); }
  /// Changes a run-time number of the model on all ranks.    throws: ValueError listing those of a stage if none has it
  void set(std::string_view name, double number) { pipe_.set(name, number); }

  /// The other ranks with this rank's stages.
  [[nodiscard]] pipeline::RankPeers<C> peers() {
    pipeline::RankPeers<C> found{.world = &world(), .options = options_};
    if constexpr (has_replicas) found.replicas = &groups_.template along<"data">();
    return found;
  }

private:
  static std::optional<C> alone(C& world) {
    if constexpr (MeshType::template has<"pipe">)
      return std::nullopt;
    else
      return world.split(world.rank(), 0);
  }

  /// This rank's stages. An exception during construction also ends the other ranks' calls, wherever they wait.
  [[nodiscard]] Pipe made(C& world, const RandomDraw& draw) {
    try {
      return Pipe{device_type(world.device()), along_pipe().rank(), draw, rank_groups()};
    } catch (...) {
      world.fail(std::current_exception());
      throw;
    }
  }

  /// The groups along all axes. Those of layers have the number of ranks that these name.
  [[nodiscard]] kernel::RankGroups rank_groups() {
    kernel::RankGroups groups{};
    std::size_t place = 0;
    (groups.add(group_along<Axes>(groups_.along_axis(place++))), ...);
    return groups;
  }

  template <class A> [[nodiscard]] static std::shared_ptr<kernel::RankGroup> group_along(C& along) {
    constexpr bool is_of_layers = A::name != "data" && A::name != "pipe";
    const std::int64_t ranks = is_of_layers ? parallel::detail::ranks_of_layers<A>(named) : along.size();
    return std::make_shared<parallel::CommunicatorGroup<C>>(along, kernel::AxisId{A::name, ranks});
  }

  parallel::MeshGroups<C, MeshType> groups_;
  std::optional<C> alone_; ///< if there is no axis "pipe"
  pipeline::ReplicaOptions options_;
  Pipe pipe_;
};

/// This rank's part of a training step: `step(inputs, targets)` gives the loss of all rows, on every rank. Replicas
/// give their own rows, in the order of the mesh, the ranks of one replica the same ones. The model has to outlive it.
template <class M, pipeline::ScheduleKind S, parallel::Communicator C, class Model, FloatingScalar T, class L,
          optim::Rule R>
[[nodiscard]] auto train_step(ParallelModel<M, S, C, Model, T>& model, L loss, R rule, pipeline::StepOptions options) {
  return train_step(model, std::move(loss), std::move(rule), options, parallel::zero<0>);
}

/// A training step with the optimiser's states divided over the replicas of each stage, `parallel::zero<1>`: equal
/// bits, and less memory, except for rules that sum over the elements of a weight, which add in another order.
template <class M, pipeline::ScheduleKind S, parallel::Communicator C, class Model, FloatingScalar T, class L,
          optim::Rule R, int Stage>
[[nodiscard]] auto train_step(ParallelModel<M, S, C, Model, T>& model, L loss, R rule, pipeline::StepOptions options,
                              parallel::Zero<Stage>) {
  using Parallel = ParallelModel<M, S, C, Model, T>;
  static_assert(Stage == 0 || Parallel::has_replicas,
                "twill: zero: replicas share out an optimiser's states, and the mesh has no axis \"data\"");
  return pipeline::RankStep<typename Parallel::Pipe, L, R, C, C, parallel::Zero<Stage>>{
      model.pipeline(), model.along_pipe(), std::move(loss), std::move(rule), options, model.peers()};
}

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// This rank's part of inference: `infer(inputs...)` gives the result for the rows that a replica's ranks all give, on
/// those of the last stage, or on all; replicas need not wait for each other. The model outlives it.
template <class M, ScheduleKind S, parallel::Communicator C, class Model, FloatingScalar T>
[[nodiscard]] auto inference(ParallelModel<M, S, C, Model, T>& model, InferenceOptions options = {}) {
  using Pipe = typename ParallelModel<M, S, C, Model, T>::Pipe;
  return [infer = RankInference<Pipe, C>{model.pipeline(), model.along_pipe(), options},
          world = &model.world()](const auto&... inputs) mutable {
    try {
      return infer(inputs...);
    } catch (...) {
      world->fail(std::current_exception());
      throw;
    }
  };
}

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA
