#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Plan of a pipeline: its parts become its stages, here a model for each stage, and the compiler compares each result
// with the next declaration. Cut models have another plan. Read next: parallel/pipeline/model/pipeline.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/pipeline/model/stage.hpp>
#include <twill/parallel/pipeline/schedule/schedule.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

/// The stages on both sides of a border that does not fit, named by a refusal: which takes what the other one makes.
namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace with {

template <int Value> struct stage;
template <class S> struct takes;
template <class S> struct makes;

}}}}} // namespace twill::v0::parallel::pipeline::with

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// Compares the result of stage number `From`, of model M, with the declarations of the next, in the words of a
/// network's inputs and of both stages.
template <int From, class M, class Made, class Network> consteval void check_border() {
  using Next = typename Network::model_type;
  using Taken =
      typename nn::DeclaredInput<std::tuple_element_t<0, nn::inputs_t<Next>>, typename Network::Element>::shape_type;
  nn::check_inputs<nn::CallOf<"pipeline", Next, with::stage<From + 1>, with::takes<Taken>, nn::with::model<M>,
                              with::stage<From>, with::makes<typename Made::shape_type>>,
                   typename Network::Element, typename Made::device_type, void, Made>();
}

/// The stages of `Parts`, with weights of type T.
template <FloatingScalar T, class... Parts> struct Plan {
  static_assert((nn::Model<Parts> && ...), "twill: a pipeline is made of models");
  static_assert(((std::tuple_size_v<nn::inputs_t<Parts>> == 1) && ...), "twill: a stage of a pipeline has one input");

  static constexpr int stages = sizeof...(Parts);
  static constexpr bool has_ties = false; ///< each model has its own names
  template <std::size_t I> using Model = std::tuple_element_t<I, std::tuple<Parts...>>;
  template <std::size_t I> using Source = ModelAsStage<Model<I>, T, I == 0>;
  using BatchModel = Model<0>; ///< whose inputs are those of the batch

  /// Refuses stages that do not match each other.
  template <class Stages> static consteval void check() {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (check_border<static_cast<int>(I), Model<I>, typename std::tuple_element_t<I, Stages>::Output,
                    typename std::tuple_element_t<I + 1, Stages>::Network>(),
       ...);
      static_assert((has_known_extents<I + 1>() && ...),
                    "twill: an input of a stage that comes from another has known extents but for its rows");
    }
    (std::make_index_sequence<sizeof...(Parts) - 1>{});
  }

  /// The numbers of a stage's symbols for a micro-batch of these rows, whose inputs have these shapes.
  template <class Stage, std::size_t N>
  [[nodiscard]] static graph::SymbolValues symbols(const std::array<Dims, N>& shapes, std::int64_t rows) {
    return Stage::counts.given > 0 ? compile::resolve_symbols(Stage::shown(), shapes) : Stage::symbols_of_rows(rows);
  }

private:
  template <std::size_t I> static consteval bool has_known_extents() {
    using Shape = typename nn::DeclaredInput<std::tuple_element_t<0, nn::inputs_t<Model<I>>>, T>::shape_type;
    for (int axis = 1; axis < Shape::rank; ++axis)
      if (Shape::extent(axis) == dyn) return false;
    return true;
  }
};

/// Whether a kind of schedule computes gradients in two parts.
template <ScheduleKind S, int Ranks> [[nodiscard]] consteval bool splits_gradients() {
  constexpr int multiple = multiple_of<S>(Ranks);
  constexpr int least = (least_micro_batches<S>(Ranks) + multiple - 1) / multiple * multiple;
  for (int rank = 0; rank < Ranks; ++rank)
    for (const Action& action : S::order(rank, Ranks, least))
      if (action.work == Work::weight_gradient) return true;
  return false;
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA
