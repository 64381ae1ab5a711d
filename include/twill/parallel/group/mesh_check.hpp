#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The axes of a mesh against those that a model's layers name, by the compiler: whoever divides layers among four ranks
// along "tensor" has to stand in a mesh whose axis "tensor" has four places. Sizes that are open are compared when the mesh
// is filled. Read next: parallel/model/parallel_model.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/network.hpp>
#include <twill/ops/collective.hpp>
#include <twill/parallel/group/mesh.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace twill::inline v0::parallel::inline TWILL_ISA {

/// The axes of ranks that the layers of a model name.
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
  /// How many ranks the axis of this name has; 0: no layer names it.
  [[nodiscard]] constexpr std::int64_t size_of(const kernel::AxisId& axis) const {
    for (int i = 0; i < count; ++i)
      if (ids.items[i].is_named_as(axis)) return ids.items[i].size;
    return 0;
  }
};

} // namespace twill::inline v0::parallel::inline TWILL_ISA

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

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

/// How many ranks the layers name along an axis of a mesh; one where they name none.
template <class A> [[nodiscard]] consteval std::int64_t ranks_of_layers(const LayerAxes& axes) {
  const std::int64_t named = axes.size_of({A::name, 0});
  return named > 0 ? named : 1;
}

// What a compiler shows of a mesh that does not fit its model: never defined.
template <std::int64_t Ranks> struct mesh_has;
template <std::int64_t Ranks> struct pipeline_runs_on;
template <std::int64_t Ranks> struct layers_are_divided_among;
template <class Axis, class Model> struct the_axis_pipe_of_the_mesh_has_another_number_of_ranks;
template <class Axis, class Model> struct an_axis_of_the_mesh_has_another_number_of_ranks_than_the_layers_name;

/// Refuses an axis that neither replicas, nor stages, nor layers use, and a written size that is not theirs.
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

/// Whether the mesh has each axis that the layers name, and these are not those of replicas and stages.
template <class... Axes> [[nodiscard]] consteval bool has_axes_of(const LayerAxes& axes) {
  for (int i = 0; i < axes.count; ++i)
    if (!(axes.ids.items[i].is_named_as({Axes::name, 0}) || ...)) return false;
  return true;
}
[[nodiscard]] consteval bool leaves_data_and_pipe(const LayerAxes& axes) {
  return axes.size_of({"data", 0}) == 0 && axes.size_of({"pipe", 0}) == 0;
}

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA
