// SPDX-License-Identifier: Apache-2.0
//
// Lines of code of docs/reference/parallel.md: tools/reference/lines.py says how they are found. They are compiled, not run.

#include <twill/io.hpp>
#include <twill/nn/expert_parallel.hpp>
#include <twill/nn/ring_attention.hpp>
#include <twill/parallel.hpp>
#include <twill/parallel/data/elastic_process.hpp>
#include <twill/parallel/data/elastic_state.hpp>
#include <twill/parallel/data/reproducible_replicas.hpp>
#include <twill/parallel/group/on_termination.hpp>
#include <twill/parallel/model/memory.hpp>
#include <twill/parallel/model/ring_attention_bytes.hpp>
#include <twill/parallel/pipeline/run/costs.hpp>
#include <twill/parallel/pipeline/run/memory.hpp>
#include <twill/parallel/threads/elastic.hpp>
#include <twill/twill.hpp>

#include <array>
#include <iostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace twill;
using graph::Value;

// clang-format off

struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, 8> x) { return nn::linear(x, 3, "output"); }
};
struct Lower {
  static constexpr auto forward(Input<Dim<"batch">, 8> x) { return relu(nn::linear(x, 16, "lower")); }
};
struct Upper {
  static constexpr auto forward(Input<Dim<"batch">, 16> x) { return nn::linear(x, 3, "upper"); }
};
using Ranks = RankAxis<"tensor", 2>;
using Context = RankAxis<"context", 4>;
struct Divided {
  static constexpr auto forward(Input<Dim<"batch">, 8> x) {
    return nn::row_linear<Ranks>(relu(nn::column_linear<Ranks>(x, 16, "wide")), 3, "narrow");
  }
};
using Network = nn::Network<Classifier, Cpu>;
using Matrix = Tensor<float, Cpu, Shape<dyn, 8>>;
using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;
using Rank = parallel::ThreadCommunicator<Cpu>;
using Schedule = pipeline::OneForwardOneBackward;
using Pipe = Pipeline<Schedule, Lower, Upper>;
using Grid = parallel::Mesh<parallel::Axis<"data">, parallel::Axis<"tensor", 2>>;
using OnMesh = ParallelModel<Grid, Schedule, Rank, Divided>;
using Rule = optim::Sgd;
using Step = decltype(train_step(std::declval<DataParallel<Network>&>(), nn::cross_entropy, optim::Sgd{{}}));

// Data parallel: `model` is a network, `x` a batch, `communicator` this rank's.
void data_parallel(Network& model, Step& step, Rank& communicator, const Matrix& x, const std::vector<Cpu>& devices, const std::vector<Matrix>& pieces) {
  // PyTorch: `nn.DataParallel(model, device_ids)`; the loss is computed inside the replicas.
  { DataParallel parallel{model, {.devices = devices}}; }
  // PyTorch: `DistributedDataParallel(model)`.
  { DistributedDataParallel distributed{model, communicator}; }
  { DataParallel parallel{model}; auto step = train_step(parallel, nn::cross_entropy, optim::Sgd{{.rate = 0.1}}); }
  { DistributedDataParallel ddp{model, communicator}; auto step = train_step(ddp, nn::cross_entropy, optim::Adam{{}}, parallel::zero<1>); }
  // PyTorch: none; `torch.use_deterministic_algorithms` gives the same bits on the same number of GPUs only.
  { auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}}, parallel::Reproducible{.shards = 8}); }
  { std::cout << parallel::to_string(step.balance()); }
  { const auto pieces = parallel::chunk(x, devices); }
  { const Tensor whole = parallel::concatenate(pieces, Cpu{0}); }
  { const std::vector<Cpu> devices = all_devices<Cpu>(); }
  { const auto columns = parallel::scatter<1>(x, devices); }
  { const Tensor whole = parallel::gather(pieces, Cpu{0}); }
  { parallel::ElasticState state{parallel::ElasticFiles{.folder = "run", .save_every = 100}}; }
}

// Meshes and models on them: `communicator` is this rank's of all, `Grid` a mesh of named axes, `OnMesh` a `ParallelModel` on it, `x` and `label` tensors on `Meta`.
void meshes(Rank& world, OnMesh& model, const Tensor<float, Meta, Shape<dyn, 8>>& x, const Tensor<std::int64_t, Meta, Shape<dyn>>& label, const nn::StateDict& state) {
  { using Grid = parallel::Mesh<parallel::Axis<"data">, parallel::Axis<"tensor", 2>>; }
  { auto groups = parallel::over<Grid>(world); }
  { using Model = pipeline::InStages<Lower, Upper>; }
  { ParallelModel<Grid, Schedule, Rank, Divided> model{world, RandomDraw{.seed = 1, .step = 0}}; }
  { auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}}, {.micro_batches = 4}); }
  { auto infer = pipeline::inference(model, {.micro_batches = 4}); }
  { const auto ranks = pipeline::memory<OnMesh>(Grid{2}, {}, nn::cross_entropy, optim::Sgd{{}}, {.micro_batches = 4}, parallel::zero<1>, x, label); }
  { const nn::StateDict whole = state_dict(model); }
  { load_state_dict(model, state); }
  { TensorParallel<Divided, Ranks> model{std::vector{Cpu{0}, Cpu{1}}}; }
}
using StepOnMesh = decltype(train_step(std::declval<OnMesh&>(), nn::cross_entropy, optim::Sgd{{}}, pipeline::StepOptions{}));
void checkpoints(OnMesh& model, StepOnMesh& step, const io::Checkpoint& checkpoint) {
  { const io::Checkpoint now = io::checkpoint_of(model, step); }
  { io::restore(checkpoint, model, step); }
}

// Tensor parallel layers: inside a model whose ranks share an axis, `using Ranks = RankAxis<"tensor", 2>;`.
constexpr void divided_layers(Value x, Value token) {
  { using Ranks = RankAxis<"tensor", 2>; }
  { const Value y = nn::column_linear<Ranks>(x, 256, "wide"); }
  { const Value y = nn::row_linear<Ranks>(x, 64, "narrow"); }
  { const Value y = nn::vocabulary_embedding<Ranks>(token, 1000, 64, "token", {.split_axis = nn::not_split}); }
  { const Value y = nn::sharded_multi_head_attention<Ranks>(x, 8, "attention"); }
  { const Value y = nn::sharded_mixture_of_experts<Ranks>(x, 8, 256, "moe", {.split_axis = 0}); }
  { const Value w = nn::sharded_parameter<Ranks>(x.graph(), "weight", {64, 32}, nn::initialise::xavier_uniform()); }
  { const Value loss = nn::sharded_cross_entropy<Ranks>(x, token); }
  { const Value y = all_reduce<Ranks>(x); }
  { const Value y = all_gather<Ranks>(x, 0); }
  { const Value y = reduce_scatter<Ranks>(x, 0); }
  { const Value y = all_to_all<Ranks>(x); }
  { const Value y = copy_to<Ranks>(x); }
  { const Value y = reduce_from<Ranks>(x); }
  { const Value y = split_to<Ranks>(x, 0); }
  { const Value y = gather_from<Ranks>(x, 0); }
}

// Context parallelism: inside a model whose ranks divide the sequence, `using Context = RankAxis<"context", 4>;`.
constexpr void divided_sequence(Value x, Value token, Value q, Value k, Value v) {
  { const Value y = nn::ring_attention<Context>(q, k, v, {.is_causal = true, .division = nn::SequenceDivision::zigzag}); }
  { const Value y = nn::ring_multi_head_attention<Context>(x, 8, "attention", {.is_causal = true}); }
  { const Value own = nn::sequence_part<Context>(token, 1); }
  { const Value all = nn::sequence_whole<Context>(x, 1); }
  { const Value places = nn::sequence_positions<Context>(x.graph(), 512); }
  { const Value loss = nn::mean_over_ranks<Context>(nn::cross_entropy(x, token)); }
  { const Value y = ring_attention<Context>(q, k, v, {.scale = 0.125}); }
  { const Value y = to_next<Context>(x); }
  { const Value y = to_previous<Context>(x); }
}
void bytes_of_ring() {
  { const std::int64_t sent = parallel::ring_attention_bytes({.batch = 8, .rows = 4096, .width = 64, .value_width = 64, .ranks = 4}).sent_backward; }
}

// Ranks and communicators: a rank is a thread, a process of MPI or a GPU of NCCL.
void ranks(std::vector<Rank>& ranks) {
  { auto ranks = parallel::thread_communicators(std::vector{Cpu{0}, Cpu{1}}, {.timeout_ms = 10'000}); }
  { parallel::run_ranks(ranks, [](auto& communicator) { parallel::barrier(communicator); }); }
  // PyTorch: `torchrun --nnodes=2:4 --max-restarts=3`, which ends and starts all processes, like a loop around `mpirun`; threads stay.
  { const auto report = parallel::run_elastic(std::vector{Cpu{0}, Cpu{1}}, {.least = 1, .most_restarts = 3}, [](auto& communicator) { parallel::barrier(communicator); }); }
  { const parallel::OnTermination saving{[] { std::cerr << "SIGTERM"; }}; }
}

// Collectives: of whole tensors in place, or of `count` elements at an address.
void collectives(Rank& communicator, Matrix& x, Matrix& part, float* from, float* to) {
  { parallel::all_reduce(communicator, x); }
  { parallel::broadcast(communicator, x, 0); }
  { parallel::reduce(communicator, x, 0); }
  { parallel::reduce_scatter(communicator, x, part); }
  { parallel::all_gather(communicator, part, x); }
  { parallel::gather(communicator, from, to, 100); }
  { parallel::scatter(communicator, from, to, 100); }
  { parallel::all_to_all(communicator, from, to, 100); }
  { parallel::send(communicator, x, 1); }
  { parallel::receive(communicator, x, 0); }
  { parallel::barrier(communicator); }
}

// Pipelines: `Lower` and `Upper` are models, stages of a pipeline; `Schedule` is `pipeline::OneForwardOneBackward`.
void pipelines(Pipe& model, const Matrix& x, const Labels& label, const nn::StateDict& state) {
  { Pipeline<Schedule, Lower, Upper> model{{Cpu{0}, Cpu{1}}}; }
  { auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}}, {.micro_batches = 4}); }
  { auto infer = pipeline::inference(model, {.micro_batches = 4}); }
  { const nn::StateDict state = pipeline::state_dict(model); }
  { pipeline::load_state_dict(model, state); }
  { const auto ranks = pipeline::memory(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}}, {.micro_batches = 4}, x, label); }
  { const auto costs = pipeline::stage_bytes<Pipe>(std::array{Dims(16, 8)}); }
  { const auto costs = pipeline::counted_costs<Pipe>(std::array{Dims(16, 8)}, {.operations_per_s = 1e11, .bytes_per_s = 2e10}); }
  { using Pipe = Pipeline<Schedule, pipeline::Cut<Classifier>>; }
  { using Pipe = Pipeline<Schedule, pipeline::CutBefore<Classifier, "output">>; }
  { using Pipe = Pipeline<Schedule, pipeline::Balanced<Classifier, 2>>; }
  { const pipeline::StageCheckpointing some{pipeline::Checkpointing::except_last}; }
  { using Doubles = pipeline::BasicPipeline<Schedule, double, Cpu, Lower, Upper>; }
  { using Mixed = pipeline::BasicPipeline<Schedule, float, pipeline::On<Cpu, Meta>, Lower, Upper>; }
}
constexpr void boundaries(Value x) {
  { const Value y = nn::stage_boundary(x); }
}

// Schedules of pipelines: known to the compiler, which proves them; `Schedule` is `pipeline::OneForwardOneBackward`.
void schedules(const List<pipeline::StageCost>& costs, const pipeline::Schedule& own) {
  { static_assert(pipeline::verified<Schedule, 2, 4>); }
  { constexpr double bubble = pipeline::simulate(pipeline::table<Schedule>(2, 4), pipeline::UniformCost{}).bubble(); }
  { const pipeline::Schedule orders = pipeline::table<Schedule>(2, 4); }
  { const auto foreseen = pipeline::predict<Schedule>(2, 4, costs); }
  { const auto foreseen = pipeline::simulate<Schedule>(pipeline::CostModel{costs, 4}); }
  { const double seconds = pipeline::ring_all_reduce_s(1e8, 4, {.bytes_per_s = 1e10}); }
  { const auto bytes = pipeline::peak_kept_bytes(own, costs); }
  { const auto most = pipeline::peak_activations(own); }
  { using Pipe = Pipeline<pipeline::GPipe, Lower, Upper>; }
  { using Pipe = Pipeline<pipeline::OneForwardOneBackward, Lower, Upper>; }
  { using Chunks = pipeline::Interleaved<2>; }
  { using Pipe = Pipeline<pipeline::ZeroBubbleH1, Lower, Upper>; }
  { using Pipe = Pipeline<pipeline::ZeroBubbleH2, Lower, Upper>; }
  { using Chunks = pipeline::ZeroBubbleV; }
  { const pipeline::Cluster cluster{.between_stages = {.bytes_per_s = 1e10}}; }
  { const pipeline::Schedule orders = pipeline::schedule<Schedule>(2, 4); }
  { std::cout << pipeline::to_string(pipeline::verify(own)); }
  { const pipeline::Verdict verdict = pipeline::verify(own); }
  { const auto orders = pipeline::read_schedule({"F0 F1 B0 B1", "F0 B0 F1 B1"}, 2, 2); }
  { const auto order = pipeline::actions("F0 F1 B0 B1"); }
  { const pipeline::Action action = pipeline::forward(0, 1); }
  { const pipeline::Action action = pipeline::backward(0, 1); }
  { const pipeline::Action action = pipeline::input_gradient(0, 1); }
  { const pipeline::Action action = pipeline::weight_gradient(0, 1); }
}
