// SPDX-License-Identifier: Apache-2.0
//
// Long simulations of pipelines: three ranks by several schedules, three that share a weight under `parallel::Reproducible`, and
// two replicas of two stages on a mesh, on threads and on a network.

#include "tests/parallel/simulation/long_run/jobs.hpp"
#include "tests/parallel/simulation/long_run/wrappers.hpp"

#include <twill/nn/batch_norm.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/parallel/model/parallel_model.hpp>
#include <twill/parallel/pipeline/model/cut.hpp>
#include <twill/parallel/pipeline/run/rank_step.hpp>
#include <twill/parallel/pipeline/run/reproducible_rank_step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>

namespace twill::test::long_run {
namespace {

/// Ranks with a stage each, uneven micro-batches.
template <class S> struct Stages {
  static constexpr int ranks = 3;
  static constexpr int steps = 4;
  static constexpr int rows = 7;

  template <class C, class Note> static void train(C& communicator, const Start& from, const Note& note) {
    pipeline::BasicPipeline<S, double, Cpu, Middle, Middle, Head> pipe{communicator.device(), communicator.rank(),
                                                                       RandomDraw{}};
    begin_stages_at(pipe, from);
    auto step = train_step(pipe, communicator, faulty_loss, FaultySgd{}, {.micro_batches = 4});
    for (int i = from.step; i < steps; ++i) {
      static_cast<void>(step(batch_of<inputs>(Cpu{0}, i, 0, rows), batch_of<outputs>(Cpu{0}, i, 0, rows)));
      note(weights_of_stages(pipe));
    }
  }
};

/// Three stages share a weight, and the shards of the second one meet inside their runs.
struct Sharing {
  static constexpr auto forward(Input<Dim<"batch">, inputs> x) {
    const auto shared = nn::parameter(x.graph(), "shared", {inputs, inputs}, nn::initialise::fan_in_uniform(inputs));
    const auto low = nn::stage_boundary(fault_point<Place::forward>(tanh(nn::linear(x, shared))));
    const auto middle = nn::batch_norm(tanh(nn::linear(low, shared)), "norm", {.is_synchronised = true});
    const auto high = tanh(nn::linear(nn::stage_boundary(fault_point<Place::forward>(middle)), shared));
    return nn::linear(fault_point<Place::forward>(high), outputs, "head");
  }
};

/// Ranks that exchange gradients of the shared weight, shard by shard.
struct UnderPolicy {
  static constexpr int ranks = 3;
  static constexpr int steps = 4;
  static constexpr parallel::Reproducible policy{.shards = 4};

  template <class C, class Note> static void train(C& communicator, const Start& from, const Note& note) {
    pipeline::BasicPipeline<pipeline::OneForwardOneBackward, double, Cpu, pipeline::Cut<Sharing>> pipe{
        communicator.device(), communicator.rank(), RandomDraw{}};
    begin_stages_at(pipe, from);
    auto step = train_step(pipe, communicator, faulty_loss, FaultySgd{}, policy);
    for (int i = from.step; i < steps; ++i) {
      static_cast<void>(step(batch_of<inputs>(Cpu{0}, i, 0, 7), batch_of<outputs>(Cpu{0}, i, 0, 7)));
      note(weights_of_stages(pipe));
    }
  }
};

/// Two replicas of two stages: each rank waits in groups of its own.
struct OnMesh {
  static constexpr int ranks = 4;
  static constexpr int steps = 4;
  using Grid = parallel::Mesh<parallel::Axis<"data", 2>, parallel::Axis<"pipe", 2>>;

  template <class C, class Note> static void train(C& communicator, const Start& from, const Note& note) {
    ParallelModel<Grid, pipeline::OneForwardOneBackward, C, pipeline::InStages<Middle, Head>, double> model{
        communicator, RandomDraw{3, 0}};
    begin_stages_at(model.pipeline(), from);
    auto step = train_step(model, faulty_loss, FaultySgd{}, {.micro_batches = 2});
    const parallel::Rows own = model.rows_of(7);
    for (int i = from.step; i < steps; ++i) {
      static_cast<void>(
          step(batch_of<inputs>(Cpu{0}, i, own.begin, own.count), batch_of<outputs>(Cpu{0}, i, own.begin, own.count)));
      note(weights_of_stages(model.pipeline()));
    }
  }
};

} // namespace

void add_pipelines(std::vector<Wrapper>& all) {
  all.push_back({"GPipe, threads", &play_seed<Stages<pipeline::GPipe>, OnThreads>});
  all.push_back({"GPipe, network", &play_seed<Stages<pipeline::GPipe>, OnNetwork>});
  all.push_back({"1F1B, threads", &play_seed<Stages<pipeline::OneForwardOneBackward>, OnThreads>});
  all.push_back({"1F1B, network", &play_seed<Stages<pipeline::OneForwardOneBackward>, OnNetwork>});
  all.push_back({"ZB-H1, threads", &play_seed<Stages<pipeline::ZeroBubbleH1>, OnThreads>});
  all.push_back({"ZB-H1, network", &play_seed<Stages<pipeline::ZeroBubbleH1>, OnNetwork>});
  all.push_back({"reproducible, threads", &play_seed<UnderPolicy, OnThreads>});
  all.push_back({"reproducible, network", &play_seed<UnderPolicy, OnNetwork>});
  all.push_back({"mesh, threads", &play_seed<OnMesh, OnThreads>});
  all.push_back({"mesh, network", &play_seed<OnMesh, OnNetwork>});
}

} // namespace twill::test::long_run
