#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pipelines of stages: `Pipeline<Schedule, First, Second, ...>` has a model for each stage, on several devices, of one
// kind or of several; `Pipeline<Schedule, pipeline::Cut<Model>>` is a cut model, see parallel/pipeline/model/cut.hpp. A
// stage must make what the next declares: the compiler compares element type, rank and known extents. A kind of
// schedule with several stages on a rank takes as many models for each device. `train_step` of a pipeline runs the
// schedule on micro-batches, a thread for each rank, see parallel/pipeline/run/step.hpp; a rank alone in its process
// makes its own stages and steps them over a communicator, see parallel/pipeline/run/rank_step.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/pipeline/model/places.hpp>
#include <twill/parallel/pipeline/model/plan.hpp>
#include <twill/parallel/pipeline/model/stage.hpp>
#include <twill/parallel/pipeline/model/ties.hpp>
#include <twill/parallel/pipeline/schedule/schedule.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

template <class S, class Plan, class D, class T, class Sequence> struct StagesOf;
template <class S, class Plan, class D, class T, std::size_t... I>
struct StagesOf<S, Plan, D, T, std::index_sequence<I...>> {
  static constexpr int ranks = Plan::stages / S::stages_per_rank;
  template <std::size_t Own> static constexpr int rank = S::rank_of(static_cast<int>(Own), ranks);
  template <std::size_t Own> using Kind = typename Places<D>::template Kind<rank<Own>>;
  using type =
      std::tuple<Stage<typename Plan::template Source<I>, nn::Network<typename Plan::template Model<I>, Kind<I>, T>,
                       splits_gradients<S, ranks>()>...>;
};

/// Whether all stages are on one device.
template <class Stages, std::size_t... I> [[nodiscard]] consteval bool have_one_slot(std::index_sequence<I...>) {
  return ((std::tuple_element_t<I, Stages>::shown().slots == 1) && ...);
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// The stages of a model on devices of kind D, or of a kind for each rank, with weights of type T.
template <ScheduleKind S, FloatingScalar T, RankPlaces D, class... Parts> class BasicPipeline {
  using Places = detail::Places<D>;

public:
  /// The stages in order, checked against each other.
  using Plan = detail::Plan<T, Parts...>;
  using ScheduleType = S;
  using Element = T;
  using device_type = typename Places::template Kind<0>; ///< of the first rank, which receives the batch
  using Devices = typename Places::Devices;
  using Communicators = typename Places::Communicators; ///< of threads, one for each rank
  /// The kind of device of a rank with this communicator.
  template <parallel::Communicator C> using device_of = typename Places::template KindOf<typename C::Device>;
  /// The communicator of a rank in a group of threads.
  template <int Rank> using ThreadOf = parallel::ThreadCommunicator<typename Places::template Kind<Rank>>;
  static constexpr int stages = Plan::stages;               ///< their number
  static constexpr int ranks = stages / S::stages_per_rank; ///< their number
  static_assert(stages % S::stages_per_rank == 0,
                "twill: this kind of schedule takes a multiple of `stages_per_rank` stages");
  static_assert(Places::template has<ranks>,
                "twill: pipeline: `On` names a kind of device for each rank; stages of one rank are on its device");
  /// The numbers of the stages.
  using Sequence = std::make_index_sequence<static_cast<std::size_t>(stages)>;
  /// The type that holds them.
  using Stages = typename detail::StagesOf<S, Plan, D, T, Sequence>::type;
  static_assert(detail::have_one_slot<Stages>(Sequence{}),
                "twill: a stage of a pipeline puts parts into several device slots, a stage has one device");

  /// One device for each rank, in order; devices may repeat. Draws the initial weights: a cut model once, from the
  /// generator of the first device, as one network there does, so that dropout goes on alike.
  /// throws: ValueError unless there are as many devices as ranks
  explicit BasicPipeline(Devices devices)
      : devices_{check(std::move(devices))}, stages_{make(-1, first_draw(), Sequence{})} {
    Plan::template check<Stages>();
  }

  /// The stages of one rank, on its device; the others are elsewhere. A cut model gets the weights of one network that
  /// draws `draw`, equal on all ranks. With groups the rank is one of several with the same stages: layers divided
  /// along the axes of the groups are parts, and every step draws alike on all. A stage that is a separate model then
  /// draws the values after `draw` by its number.    throws: ValueError for a rank outside of the pipeline
  BasicPipeline(D device, int rank, const RandomDraw& draw, kernel::RankGroups groups = {})
      : devices_{Places::everywhere(ranks, device)},
        groups_{std::move(groups)},
        next_draw_{later(draw, Plan::has_ties ? 1 : stages)},
        stages_{make(check(rank), draw, Sequence{})} {
    Plan::template check<Stages>();
  }

  /// The stages of one rank of a pipeline whose stages are all here; both share them.
  BasicPipeline(const BasicPipeline& all, int rank)
      : devices_{all.devices_}, groups_{all.groups_}, stages_{std::make_unique<Owned>(*all.stages_)} {
    for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      if (S::rank_of(static_cast<int>(I), ranks) != rank) std::get<I>(*stages_).reset();
    });
  }

  /// The devices, one for each rank, in order.
  [[nodiscard]] const Devices& devices() const { return devices_; }
  /// A group of threads with these devices.
  [[nodiscard]] Communicators make_group(const parallel::ThreadOptions& options) const {
    return Places::group(devices_, options);
  }
  /// All stages, as references.    requires: all are here
  [[nodiscard]] auto all() {
    return std::apply([](auto&... stage) { return std::tie(*stage...); }, *stages_);
  }

  /// The groups of the rank, besides that of the pipeline's ranks; empty if no other rank has its stages.
  [[nodiscard]] const kernel::RankGroups& groups() const { return groups_; }

  /// With groups: the first draw of the next step, equal to one device's generator, whatever is drawn on this one.
  [[nodiscard]] const RandomDraw& next_draw() const { return next_draw_; }
  /// Sets the first draw of the next step, to be the same as on one device.
  void set_next_draw(const RandomDraw& draw) { next_draw_ = draw; }

  /// Calls `f(stage, draw)` for each stage that is here and draws in the next step: a cut model draws as one, separate
  /// models one after another. All ranks count alike, whatever stages they have.
  template <class F> void draw_with_groups(F f) {
    int draws = 0;
    const auto one = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      if (!run_scalars_of<I>().draws()) return; // during steps
      if (has<I>()) f(at<I>(), later(next_draw_, Plan::has_ties ? 0 : draws));
      draws = Plan::has_ties ? 1 : draws + 1;
    };
    for_each_number(one);
    next_draw_ = later(next_draw_, draws);
  }

  /// Calls `f(std::integral_constant<std::size_t, I>{})` for the number of each stage, in order.
  template <class F> static void for_each_number(F f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (f(std::integral_constant<std::size_t, I>{}), ...); }
    (Sequence{});
  }

  /// A stage, if it is here.
  template <std::size_t I> [[nodiscard]] auto& at() { return *std::get<I>(*stages_); }
  /// Whether stage I is on this rank.
  template <std::size_t I> [[nodiscard]] bool has() const { return std::get<I>(*stages_) != nullptr; }

  /// The network of a stage.
  template <std::size_t I> [[nodiscard]] auto& stage() { return at<I>().network; }

  /// Calls `f(stage)` for each stage that is here, in order.
  template <class F> void for_each_stage_here(F f) {
    std::apply([&](auto&... stage) { ((stage ? f(*stage) : void()), ...); }, *stages_);
  }
  /// Calls `f(network)` for the network of each stage that is here, in order.
  template <class F> void for_each_stage(F f) {
    for_each_stage_here([&](auto& stage) { f(stage.network); });
  }

  /// Changes a run-time number of the model, such as a dropout probability, in all stages here that have it; a stage's
  /// network changes only its own.    throws: ValueError listing those of a stage if none has it, here or elsewhere
  void set(std::string_view name, double number) {
    const bool is_known = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (run_scalars_of<I>().contains(name) || ...);
    }
    (Sequence{});
    for_each_stage([&](auto& network) {
      if (!is_known || network.run_scalars().contains(name)) network.set(name, number);
    });
  }

  /// Sets training mode of all stages here: dropout and the like.
  void train() {
    for_each_stage([](auto& network) { network.train(); });
  }
  /// Sets evaluation mode of all stages here.
  void eval() {
    for_each_stage([](auto& network) { network.eval(); });
  }

  /// The weights of each stage on devices of kind E; null for stages elsewhere.
  template <ComputeDevice E = device_type> [[nodiscard]] StageStates<E> states() const {
    StageStates<E> found(static_cast<std::size_t>(stages));
    for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      if constexpr (std::same_as<typename std::tuple_element_t<I, Stages>::D, E>)
        if (has<I>()) found[I] = std::get<I>(*stages_)->network.state();
    });
    return found;
  }

  /// The descriptions of each stage's weights, wherever it is.
  [[nodiscard]] static std::vector<ListView<graph::ParameterInfo>> infos() {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return std::vector<ListView<graph::ParameterInfo>>{
          std::tuple_element_t<I, Stages>::Network::parameter_infos()...};
    }
    (Sequence{});
  }

private:
  template <class Tuple> struct Pointers;
  template <class... Stage> struct Pointers<std::tuple<Stage...>> {
    using type = std::tuple<std::shared_ptr<Stage>...>;
  };
  using Owned = typename Pointers<Stages>::type;

  static Devices check(Devices devices) {
    if (Places::count(devices) != static_cast<std::size_t>(ranks))
      throw ValueError("Pipeline: " + std::string{S::name} + " with " + std::to_string(stages) + " stages runs on " +
                       std::to_string(ranks) + " devices, got " + std::to_string(Places::count(devices)));
    return devices;
  }

  static int check(int rank) {
    if (rank < 0 || rank >= ranks)
      throw ValueError("Pipeline: a rank is in [0, " + std::to_string(ranks) + "), got " + std::to_string(rank));
    return rank;
  }

  [[nodiscard]] static RandomDraw later(RandomDraw draw, int draws) {
    draw.step += static_cast<decltype(draw.step)>(draws);
    return draw;
  }
  /// The initial run-time numbers of a stage, wherever it is.
  template <std::size_t I> [[nodiscard]] static compile::RunScalars run_scalars_of() {
    using Shown = nn::PlainForward<typename std::tuple_element_t<I, Stages>::Network::Stage>;
    return compile::RunScalars{compile::Signature<Shown>::view().run_scalars};
  }

  [[nodiscard]] RandomDraw first_draw() const {
    if constexpr (Plan::has_ties) return generator(Places::template at<0>(devices_)).next();
    return {};
  }

  /// The stages of a rank, or all.
  template <std::size_t... I>
  [[nodiscard]] std::unique_ptr<Owned> make(int rank, [[maybe_unused]] const RandomDraw& draw,
                                            std::index_sequence<I...>) const {
    auto made = std::make_unique<Owned>();
    const auto one = [&]<class Stage, std::size_t Number>(std::shared_ptr<Stage>& stage,
                                                          std::integral_constant<std::size_t, Number>) {
      constexpr int own = S::rank_of(static_cast<int>(Number), ranks);
      if (rank >= 0 && own != rank) return;
      const auto& device = Places::template at<own>(devices_);
      if (groups_.all().empty() && !Plan::has_ties)
        stage = std::make_shared<Stage>(device);
      else // leaves the device's generator alone: all stages of a cut model draw once, as one network
        stage = std::make_shared<Stage>(device, groups_, later(draw, Plan::has_ties ? 0 : static_cast<int>(Number)));
      if constexpr (Plan::has_ties) Plan::initialise(*stage, draw);
    };
    (one(std::get<I>(*made), std::integral_constant<std::size_t, I>{}), ...);
    return made;
  }

  Devices devices_;
  kernel::RankGroups groups_{};
  RandomDraw next_draw_{};
  std::unique_ptr<Owned> stages_;
};

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// A pipeline of float32 on host devices.
template <pipeline::ScheduleKind S, class... Parts> using Pipeline = pipeline::BasicPipeline<S, float, Cpu, Parts...>;

}}} // namespace twill::v0::TWILL_ISA
