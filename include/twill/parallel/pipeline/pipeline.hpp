#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// `Pipeline<Schedule, First, Second, ...>` is a model cut into stages, each a model of its own, on several devices of one kind.
// What a stage makes has to be what the next declares: element type, rank and known extents are compared by the compiler. A
// kind of schedule with several stages on a rank takes as many models for each device. `train_step` of a pipeline runs the
// schedule on micro-batches, a thread for each rank; see parallel/pipeline/step.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/pipeline/schedule.hpp>
#include <twill/parallel/pipeline/stage.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace twill::inline v0::pipeline::detail::inline TWILL_ISA {

template <class Sequence, ComputeDevice D, FloatingScalar T, class... Models> struct StagesOf;
template <std::size_t... I, ComputeDevice D, FloatingScalar T, class... Models>
struct StagesOf<std::index_sequence<I...>, D, T, Models...> {
  using type = std::tuple<Stage<Models, D, T, I == 0>...>;
};

/// What stage From makes against what stage From + 1 declares, in the words of a network's inputs.
template <class Stages, std::size_t From> consteval void check_border() {
  using Next = std::tuple_element_t<From + 1, Stages>;
  using Made = typename std::tuple_element_t<From, Stages>::Output;
  using Network = typename Next::Network;
  nn::check_inputs<typename Network::model_type, typename Network::Element, typename Made::device_type, false, Made>();
}

} // namespace twill::inline v0::pipeline::detail::inline TWILL_ISA

namespace twill::inline v0::pipeline::inline TWILL_ISA {

/// The stages of a model on devices of kind D, with weights of type T.
template <ScheduleKind S, FloatingScalar T, ComputeDevice D, nn::Model... Models> class BasicPipeline {
  static_assert(sizeof...(Models) % S::stages_per_rank == 0,
                "twill: this kind of schedule takes a multiple of `stages_per_rank` stages");

public:
  using Stages = typename detail::StagesOf<std::index_sequence_for<Models...>, D, T, Models...>::type;
  using ScheduleType = S;
  using Element = T;
  using device_type = D;
  static constexpr int stages = sizeof...(Models);
  static constexpr int ranks = stages / S::stages_per_rank;

  /// One device for each rank, in order; devices may repeat. Draws the initial weights.
  /// throws: ValueError unless there are as many devices as ranks
  explicit BasicPipeline(std::vector<D> devices)
      : devices_{check(std::move(devices))}, stages_{make(std::index_sequence_for<Models...>{})} {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (detail::check_border<Stages, I>(), ...); }
    (std::make_index_sequence<sizeof...(Models) - 1>{});
  }

  [[nodiscard]] const std::vector<D>& devices() const { return devices_; }
  [[nodiscard]] Stages& all() { return *stages_; }

  /// The network of a stage.
  template <std::size_t I> [[nodiscard]] auto& stage() { return std::get<I>(*stages_).network; }

  /// Calls `f(network)` for each stage, in order.
  template <class F> void for_each_stage(F f) {
    std::apply([&](auto&... stage) { (f(stage.network), ...); }, *stages_);
  }

private:
  static std::vector<D> check(std::vector<D> devices) {
    if (devices.size() != static_cast<std::size_t>(ranks))
      throw ValueError("Pipeline: " + std::string{S::name} + " with " + std::to_string(stages) + " stages runs on " +
                       std::to_string(ranks) + " devices, got " + std::to_string(devices.size()));
    return devices;
  }
  template <std::size_t... I> [[nodiscard]] std::unique_ptr<Stages> make(std::index_sequence<I...>) const {
    return std::unique_ptr<Stages>(new Stages(std::tuple_element_t<I, Stages>(
        devices_[static_cast<std::size_t>(S::rank_of(static_cast<int>(I), ranks))])...));
  }

  std::vector<D> devices_;
  std::unique_ptr<Stages> stages_;
};

} // namespace twill::inline v0::pipeline::inline TWILL_ISA

namespace twill::inline v0::inline TWILL_ISA {

/// A pipeline of float32 on host devices.
template <pipeline::ScheduleKind S, nn::Model... Models>
using Pipeline = pipeline::BasicPipeline<S, float, Cpu, Models...>;

} // namespace twill::inline v0::inline TWILL_ISA
