#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Cuts of a whole model into stages, `Pipeline<Schedule, pipeline::Cut<Model>>`: its `forward` is cut at each `x =
// nn::stage_boundary(x)`, and inputs and results of stages are the values that pass the cuts. A value used some stages
// later is sent through those between; values made only from the batch or weights are made where they are used; and a
// weight used by two stages is tied: both have it, and its gradients are summed. Names and initial weights are those of
// the model as one network. `CutBefore<Model, "layer3.">` cuts a model without marks at the names of its weights, and
// `Balanced<Model, Stages, Size<...>...>` finds the cuts. Read next: parallel/pipeline/model/balance.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/nn/network.hpp>
#include <twill/parallel/pipeline/model/crossing.hpp>
#include <twill/parallel/pipeline/model/plan.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// in one model
inline constexpr int most_stages = 64;

/// The cuts of a trace: the first node of each stage except the first.
struct CutPlaces {
  graph::Few<int, most_stages> nodes{}; ///< the first `count` count
  int count = 0;                        ///< one less than there are stages
  graph::Fault fault{};                 ///< why the model cannot be cut this way

  [[nodiscard]] constexpr int begin(int stage) const { return stage == 0 ? 0 : nodes.items[stage - 1]; }
  [[nodiscard]] constexpr int end(int stage, int all) const { return stage < count ? nodes.items[stage] : all; }
};

/// A way to cut a model: its places in the trace of elements of type T.
template <class C>
concept CutKind = nn::Model<typename C::cut_type> && requires {
  { C::template places<float>() } -> std::same_as<CutPlaces>;
};

/// M, cut at its own marks.
template <nn::Model M> struct Cut {
  using cut_type = M;
  /// The marks, as places in the trace.
  template <FloatingScalar T, bool Training = true> static constexpr CutPlaces places() {
    graph::Graph graph = nn::ModelStage<M, T, Training>::make_graph();
    static_cast<void>(nn::ModelStage<M, T, Training>::build(graph));
    CutPlaces found{};
    found.fault = graph.fault;
    for (const int node : graph.stage_boundaries)
      if (found.count < most_stages) found.nodes.items[found.count++] = node;
    return found;
  }
};

/// M as one stage, whatever its marks: a pipeline of one rank.
template <nn::Model M> struct Uncut {
  using cut_type = M;
  /// No places.
  template <FloatingScalar T> static constexpr CutPlaces places() { return {}; }
};

/// M without marks, cut before the first weights whose names begin with these: `CutBefore<ResNet50<>, "layer3.">`.
template <nn::Model M, FixedString... Prefixes> struct CutBefore {
  static_assert(sizeof...(Prefixes) < most_stages, "twill: CutBefore makes at most 64 stages");
  using cut_type = M;
  /// The first nodes of the named layers.
  template <FloatingScalar T, bool Training = true> static constexpr CutPlaces places() {
    graph::Graph graph = nn::ModelStage<M, T, Training>::make_graph();
    static_cast<void>(nn::ModelStage<M, T, Training>::build(graph));
    CutPlaces found{};
    found.fault = graph.fault;
    const auto cut = [&](std::string_view prefix) {
      std::size_t i = 0;
      while (i < graph.parameters.size() && !graph.parameters[i].name.view().starts_with(prefix)) ++i;
      const bool is_there = i < graph.parameters.size();
      if (is_there && (found.count == 0 || graph.parameters[i].node > found.nodes.items[found.count - 1]))
        found.nodes.items[found.count++] = graph.parameters[i].node;
      else if (!found.fault.any())
        found.fault = {is_there ? graph::Problem::model_is_to_be_cut_out_of_order
                                : graph::Problem::model_has_no_weight_before_which_it_is_to_be_cut,
                       found.count,
                       0,
                       {},
                       graph::Named::weight(prefix)};
    };
    (cut(Prefixes.view()), ...);
    return found;
  }
};

/// The cuts of a kind, found once.
template <CutKind C, FloatingScalar T> inline constexpr CutPlaces cut_places = C::template places<T>();

/// The cuts in the trace of evaluation: at the marks, or before the weights before which training is cut.
template <CutKind C, FloatingScalar T>
inline constexpr CutPlaces evaluation_places = [] {
  if constexpr (requires { C::template places<T, false>(); }) {
    return C::template places<T, false>();
  } else {
    CutPlaces found = cut_places<C, T>;
    graph::Graph training = nn::ModelStage<typename C::cut_type, T, true>::make_graph();
    static_cast<void>(nn::ModelStage<typename C::cut_type, T, true>::build(training));
    graph::Graph graph = nn::ModelStage<typename C::cut_type, T, false>::make_graph();
    const int root = nn::ModelStage<typename C::cut_type, T, false>::build(graph).id();
    for (int cut = 0; cut < found.count; ++cut) {
      std::size_t weight = 0; // the first one after it
      while (weight < training.parameters.size() && training.parameters[weight].node < found.nodes.items[cut]) ++weight;
      found.nodes.items[cut] = weight < graph.parameters.size() ? graph.parameters[weight].node : root;
    }
    return found;
  }
}();

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// The orders of images that pass the cuts of a kind, found once.
template <CutKind C, FloatingScalar T>
inline constexpr auto orders_of_images = [] {
  constexpr auto find = [] {
    using Whole = nn::ModelStage<typename C::cut_type, T, true>;
    const CutPlaces& places = cut_places<C, T>;
    graph::Graph graph = Whole::make_graph();
    const int root = Whole::build(graph).id();
    if (places.fault.any()) return List<char>{};
    return find_orders_of_images(graph, root, {places.nodes.items, static_cast<std::size_t>(places.count)});
  };
  constexpr std::size_t size = find().size();
  std::array<char, size> orders{};
  const List<char> found = find();
  for (std::size_t i = 0; i != size; ++i) orders[i] = found[i];
  return orders;
}();

/// Whether the result of a cut model is an image that one network computes channels-last.
template <CutKind C, FloatingScalar T>
inline constexpr bool makes_image = [] {
  using Whole = nn::ModelStage<typename C::cut_type, T, true>;
  constexpr const auto& orders = orders_of_images<C, T>;
  graph::Graph graph = Whole::make_graph();
  const auto root = static_cast<std::size_t>(Whole::build(graph).id());
  return root < orders.size() && (orders[root] & value_passes_last) != 0;
}();

/// Reduces a traced model to the nodes between two places. Nodes keep their numbers; those of other stages become
/// unread constants.
constexpr StageTrace cut_out(graph::Graph& graph, int root, int begin, int end, ListView<char> orders_of_images) {
  const auto passes = [&](int id, PassesLast what) {
    const auto node = static_cast<std::size_t>(id);
    return node < orders_of_images.size() && (orders_of_images[node] & what) != 0;
  };
  StageTrace trace{};
  const int all = graph.size();
  const Crossing crossing{graph, root};
  List<int> received{};
  if (begin > 0) received = crossing.values(begin);
  if (end < all)
    trace.results = crossing.values(end);
  else
    trace.results.push_back(root);
  if (trace.results.empty())
    graph.refuse(graph::Problem::stage_before_a_boundary_makes_nothing_for_the_next, begin, end, {});

  if (end < all)
    for (const int id : trace.results) {
      trace.results_last.push_back(passes(id, value_passes_last) ? 1 : 0);
      trace.cotangents_last.push_back(passes(id, gradient_passes_last) ? 1 : 0);
    }
  for (const int id : received) trace.gradients_last.push_back(passes(id, gradient_passes_last) ? 1 : 0);

  List<char> of_model(graph.nodes.size(), 0); // weights used by any stage
  of_model.items[root] = 1;
  List<char> live(graph.nodes.size(), 0);
  for (const int id : trace.results) live.items[id] = 1;
  List<char> is_received(graph.nodes.size(), 0);
  for (const int id : received) is_received.items[id] = 1;
  for (int id = all; id-- > 0;) {
    const graph::Node& node = graph.node(id);
    if (node.kind == graph::Kind::assign) of_model.items[id] = 1;
    if (node.kind == graph::Kind::assign && id >= begin && id < end) live.items[id] = 1;
    for (int k = 0; k < node.arity; ++k) {
      if (of_model.items[id] != 0) of_model.items[node.input(k)] = 1;
      if (live.items[id] != 0 && is_received.items[id] == 0) live.items[node.input(k)] = 1;
    }
  }

  List<graph::InputInfo> inputs{};
  List<int> number(graph.inputs.size(), -1);
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const int id = graph.inputs[i].node;
    if (live.items[id] == 0) continue;
    number[i] = static_cast<int>(inputs.size());
    graph.nodes.items[id].index = number[i];
    trace.given.push_back(static_cast<int>(i));
    inputs.push_back(graph.inputs[i]);
  }
  List<CallSite> parameter_sites{};
  List<graph::ParameterInfo> parameters{};
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    const graph::ParameterInfo& info = graph.parameters[i];
    // A weight that no stage uses is refused in its stage, as in the whole model, unless it is frozen.
    const bool is_unused = of_model.items[info.node] == 0 && info.node >= begin && info.node < end;
    if (live.items[info.node] == 0 && !is_unused) continue;
    live.items[info.node] = 1;
    graph.nodes.items[info.node].index = static_cast<int>(parameters.size());
    parameters.push_back(info);
    parameter_sites.push_back(graph.parameter_sites[i]);
  }
  List<graph::IntegerBounds> bounds{};
  for (graph::IntegerBounds bound : graph.bounds) {
    bound.input = number.items[bound.input];
    if (bound.input >= 0) bounds.push_back(bound);
  }
  List<graph::RegionInfo> regions{};
  for (const graph::RegionInfo& region : graph.regions)
    if (region.begin >= begin && region.end <= end) regions.push_back(region);
  for (int id = 0; id < all; ++id)
    if (live.items[id] == 0) graph.nodes.items[id] = graph::Node{};
  graph.inputs.swap(inputs);
  graph.parameters.swap(parameters);
  graph.parameter_sites.swap(parameter_sites);
  graph.bounds.swap(bounds);
  graph.regions.swap(regions);
  graph.taps.clear();
  for (const int id : received) make_input(graph, id, passes(id, value_passes_last));
  return trace;
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// Stage I of a cut model, as a model whose weights are the stage's: the type of networks and optimisers.
template <CutKind C, std::size_t I> struct CutModel {
  static constexpr graph::Value forward(); ///< never defined: the stage is traced from the whole
};

/// Stage I of a cut model as the source that a pipeline runs.
template <CutKind C, std::size_t I, FloatingScalar T, bool Training = true> struct CutStage {
  /// The whole model, before it is cut.
  using Whole = nn::ModelStage<typename C::cut_type, T, Training>;
  /// The stage outside of training.
  using Evaluation = CutStage<C, I, T, false>;
  /// Whether it is the last one, of a model whose result is an image that one network computes channels-last.
  static constexpr bool makes_image =
      I == static_cast<std::size_t>(cut_places<C, T>.count) && detail::makes_image<C, T>;
  /// The call that runs it, in messages.
  static constexpr compile::CallName called() { return {written_name<typename C::cut_type>(), "pipeline", true}; }
  /// Bounds of the tables that its programs compile to.
  static constexpr compile::TableSizes room() { return nn::ModelStage<CutModel<C, I>, T, true>::room(); }
  /// An empty graph with the model's element type.
  static constexpr graph::Graph make_graph() { return Whole::make_graph(); }
  /// Traces the stage: its inputs are the results of the stages before.
  static constexpr StageTrace build(graph::Graph& graph) {
    const int root = Whole::build(graph).id();
    const CutPlaces& places = places_in_trace();
    if (places.fault.any()) graph.fault = places.fault;
    if (graph.fault.any()) return {};
    constexpr int own = static_cast<int>(I);
    return detail::cut_out(graph, root, places.begin(own), places.end(own, graph.size()), orders());
  }

private:
  /// Outside of training messages are row-major.
  static constexpr ListView<char> orders() {
    if constexpr (Training) {
      constexpr const auto& found = detail::orders_of_images<C, T>;
      return {found.data(), found.size()};
    } else {
      return {};
    }
  }
  static constexpr const CutPlaces& places_in_trace() {
    if constexpr (Training)
      return cut_places<C, T>;
    else
      return evaluation_places<C, T>;
  }
};

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Uses without training, such as an update of weights, need only the weights: places are those of the trace in
/// training, which evaluation may shorten.
template <pipeline::CutKind C, std::size_t I, FloatingScalar T, bool Training>
struct ModelStage<pipeline::CutModel<C, I>, T, Training> {
  /// The source that traces the stage.
  using Source = pipeline::CutStage<C, I, T>;
  /// An empty graph with the model's element type.
  static constexpr graph::Graph make_graph() { return Source::make_graph(); }
  /// Traces the stage, which has one result.
  static constexpr graph::Value build(graph::Graph& graph) {
    const pipeline::StageTrace trace = Source::build(graph);
    if (!Training) {
      pipeline::detail::drop_assignments(graph);
      graph.requirements.clear();
    }
    return {graph, trace.results.empty() ? 0 : trace.results[0]};
  }
  /// Bounds of the tables that the stage compiles to.
  static constexpr compile::TableSizes room() {
    return compile::room_around(compile::Signature<PlainForward<ModelStage<pipeline::CutModel<C, I>, T, true>>>::sizes);
  }
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// The stages of a cut model.
template <FloatingScalar T, CutKind C> struct Plan<T, C> {
  using Whole = nn::PlainForward<nn::ModelStage<typename C::cut_type, T, true>>;

  static constexpr int stages = cut_places<C, T>.count + 1;
  static constexpr bool has_ties = true;
  template <std::size_t I> using Model = CutModel<C, I>;
  template <std::size_t I> using Source = CutStage<C, I, T>;
  using BatchModel = typename C::cut_type;

  /// Refuses nothing: both sides of a cut come from one trace.
  template <class Stages> static consteval void check() {}

  /// The symbols of a stage: with one trace, all stages have its symbols.
  template <class Stage, std::size_t N>
  [[nodiscard]] static graph::SymbolValues symbols(const std::array<Dims, N>& shapes, std::int64_t) {
    compile::TableView whole = compile::Signature<Whole>::view();
    whole.name.call = "pipeline";
    return compile::resolve_symbols(whole, shapes);
  }

  /// Gives a stage the weights that the whole model would have drawn, of divided ones this rank's part.
  template <class Stage> static void initialise(Stage& stage, const RandomDraw& draw) {
    const auto infos = compile::Signature<Whole>::view().parameters;
    const auto& state = *stage.network.state();
    for (std::size_t own = 0; own < state.infos.size(); ++own)
      for (std::size_t i = 0; i < infos.size(); ++i)
        if (infos[i].name == state.infos[own].name)
          nn::initialise_parameter(state.device, infos[i], i, draw, state.buffers[own].data(),
                                   rank_of_part(state.groups, infos[i]),
                                   i + 1 < infos.size() ? &infos[i + 1] : nullptr);
  }

private:
  [[nodiscard]] static int rank_of_part(const kernel::RankGroups& groups, const graph::ParameterInfo& info) {
    const kernel::RankGroup* const group = info.shard.is_part() ? groups.find(info.shard.axis) : nullptr;
    return group != nullptr ? group->rank() : 0;
  }
};

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA
