// SPDX-License-Identifier: Apache-2.0
//
// Stages that compute on images: what their programs leave for each other and for other stages passes between them as it was
// computed, with its channels last, and the numbers are one network's.
#include "tests/support/late_device.hpp"
#include "tests/support/test_seed.hpp"
#include "tests/training/models.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/nn/convolution.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/pipeline/model/cut.hpp>
#include <twill/parallel/pipeline/model/state.hpp>
#include <twill/parallel/pipeline/run/inference.hpp>
#include <twill/parallel/pipeline/run/memory.hpp>
#include <twill/parallel/pipeline/run/step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

using namespace twill;
using namespace twill::test;
using graph::Value;

constexpr Value residual(Value x, const char* name) {
  const nn::Scope scope{x.graph(), name};
  const nn::ConvolutionLayerOptions options{.kernel = 3, .padding = 1};
  return relu(nn::conv2d(relu(nn::conv2d(x, 4, "first", options)), 4, "second", options) + x);
}

struct OnImages {
  static constexpr Value forward(Input<Dim<"batch">, 3, 6, 6> x) {
    Value y = residual(relu(nn::conv2d(x, 4, "stem", {.kernel = 3, .padding = 1})), "lower");
    y = residual(nn::stage_boundary(y), "upper");
    return nn::linear(flatten(nn::adaptive_avg_pool2d(y, 1)), 3, "head");
  }
};
using Cuts = pipeline::Cut<OnImages>;

/// How many of a program's outputs from this one on, and of its inputs but for the last `results`, are images that the program
/// turns round.
template <class Program> std::array<int, 2> turned(std::size_t outputs, std::size_t inputs, std::size_t results) {
  graph::Graph graph = Program::trace();
  REQUIRE_FALSE(graph.fault.any());
  compile::simplify(graph);
  compile::carry_channels_last(graph);
  const auto is_turned = [&](int id) {
    return graph.node(id).kind == graph::Kind::transpose && graph.node(id).shape.rank == 4;
  };
  std::array<int, 2> count{};
  for (std::size_t i = outputs; i < graph.outputs.size(); ++i) count[0] += is_turned(graph.outputs[i]) ? 1 : 0;
  const List<char> needed = compile::needed_nodes(graph);
  for (int id = 0; id < graph.size(); ++id) {
    if (needed[static_cast<std::size_t>(id)] == 0 || !is_turned(id)) continue;
    const graph::Node& source = graph.node(graph.node(id).input(0));
    const auto number = static_cast<std::size_t>(source.index);
    if (source.kind == graph::Kind::input && number >= inputs && number + results < graph.inputs.size()) ++count[1];
  }
  return count;
}

TEST_CASE("images that programs of stages leave for each other are not turned round", "[parallel][PAR-6]") {
  using First = pipeline::CutStage<Cuts, 0, float>;
  using Second = pipeline::CutStage<Cuts, 1, float>;
  constexpr std::array none{0, 0};
  CHECK(turned<pipeline::StageForward<First>>(0, 1, 0) == none);
  CHECK(turned<pipeline::StageBackward<First>>(0, 1, 0) == none);
  CHECK(turned<pipeline::StageForward<Second>>(1, 0, 0) == none);
  CHECK(turned<pipeline::StageInputGradient<Second>>(1, 2, 0) == none);
  constexpr std::array pooled{0, 1}; // of one pixel each, which the last layer reads as rows
  CHECK(turned<pipeline::StageBackward<Second>>(1000, 2, 0) == pooled);
  CHECK(turned<pipeline::StageWeightGradient<Second>>(0, 2, 0) == pooled);
  CHECK(turned<pipeline::StageForward<First>>(0, 0, 0) == std::array{0, 1}); // the images of the batch
}

TEST_CASE("a pipeline on images has the gradients and results of one network", "[parallel][PAR-6]") {
  INFO("seed " << test_seed());
  using P = pipeline::BasicPipeline<pipeline::ZeroBubbleH1, double, Cpu, Cuts>;
  const auto flat = random_rows<double, 3 * 6 * 6>(Cpu{0}, 5);
  Tensor<double, Cpu, Shape<dyn, 3, 6, 6>> x(Cpu{0}, Dims(5, 3, 6, 6));
  std::copy(flat.data(), flat.data() + flat.elements(), x.data());
  const auto labels = random_labels(Cpu{0}, 5, 3);
  P pipe{{Cpu{0}, Cpu{1}}};
  nn::Network<OnImages, Cpu, double> whole{Cpu{0}};
  nn::load_state_dict(whole, pipeline::state_dict(pipe));
  const auto loss = nn::cross_entropy(whole.forward(x), labels);
  loss.backward();
  auto step = train_step(pipe, nn::cross_entropy, optim::Sgd{{.rate = 0.1}}, {.micro_batches = 3}); // 2, 2, 1
  CHECK(step.gradients(x, labels) == Approx(loss.item()).epsilon(1e-12));
  std::size_t compared = 0;
  for (const auto& theirs : whole.parameters())
    pipe.for_each_stage([&](auto& network) {
      for (const auto& own : network.parameters()) {
        if (own.name != theirs.name) continue;
        INFO(own.name);
        double worst = 0;
        const auto* mine = static_cast<const double*>(own.gradient.data());
        const auto* expected = static_cast<const double*>(theirs.gradient.data());
        for (std::size_t i = 0; i < theirs.gradient.bytes() / sizeof(double); ++i)
          worst = std::fmax(worst, std::fabs(mine[i] - expected[i]));
        CHECK(worst < 1e-12);
        ++compared;
      }
    });
  CHECK(compared == whole.parameters().size());
  const auto inferred = pipeline::inference(pipe, {.micro_batches = 2})(x); // whose messages are row-major
  const auto expected = whole.infer(x);
  for (std::int64_t i = 0; i < expected.elements(); ++i)
    CHECK(inferred.data()[i] == Approx(expected.data()[i]).margin(1e-12));
}

/// Of as many channels as fill the library's blocks.
struct Blocked {
  static constexpr Value forward(Input<Dim<"batch">, 32, 6, 6> x) {
    const nn::ConvolutionLayerOptions options{.kernel = 3, .padding = 1};
    const Value y = nn::stage_boundary(relu(nn::conv2d(x, 32, "first", options)));
    const Value z = relu(nn::conv2d(y, 64, "second", options)) + nn::conv2d(y, 64, "beside", {.kernel = 1});
    return nn::linear(flatten(nn::adaptive_avg_pool2d(z, 1)), 3, "head");
  }
};

template <class P> std::vector<std::vector<float>> weights_of_stages(P& pipe) {
  std::vector<std::vector<float>> found;
  pipe.for_each_stage([&](auto& network) { found.push_back(weights_of(network)); });
  return found;
}
template <class P> std::vector<std::vector<float>> gradients_of_stages(P& pipe) {
  std::vector<std::vector<float>> found;
  pipe.for_each_stage([&](auto& network) {
    for (const auto& view : network.parameters()) {
      found.emplace_back(view.gradient.bytes() / sizeof(float));
      copy_bytes(Cpu{}, found.back().data(), network.device(), view.gradient.data(), view.gradient.bytes(),
                 CopyOptions{});
    }
  });
  return found;
}

/// Weights, gradients and bytes with weights in the order of who reads them, beside those without.
template <class S, class D> void check_orders() {
  INFO("seed " << test_seed());
  using pipeline::WeightOrders;
#if defined(TWILL_WITH_ONEDNN)
  if constexpr (cpu::has_onednn_convolution) // the library makes its cache in a way that ThreadSanitizer does not see
    static_cast<void>(cpu::find_convolution(ConvolutionPart::output, DType::float32, ConvolutionShape{}));
#endif
  constexpr std::int64_t rows = 8;
  const auto images =
      from_values<Shape<dyn, 32, 6, 6>>(random_values<float>(rows * 32 * 36), Dims(rows, 32, 6, 6), D{0});
  const auto labels = random_labels(D{1}, rows, 3);
  const std::vector<D> devices{D{0}, D{1}};
  std::vector<std::int64_t> before;
  for (const D device : devices) before.push_back(memory_allocated(device));
  pipeline::BasicPipeline<S, float, D, pipeline::Cut<Blocked>> pipe{devices};
  const auto initial = pipeline::state_dict(pipe);
  const auto rule = optim::Sgd{{.rate = 0.1}};
  std::vector<std::vector<float>> expected, expected_gradients;
  std::vector<pipeline::RankMemory> least;
  using pipeline::Checkpointing;
  for (const auto& [orders, checkpointing] : {std::pair{WeightOrders::made_each_time, Checkpointing::never},
                                              std::pair{WeightOrders::kept_for_step, Checkpointing::never},
                                              std::pair{WeightOrders::kept_for_step, Checkpointing::always}}) {
    const pipeline::StepOptions options{
        .micro_batches = 3, .checkpointing = checkpointing, .weight_orders = orders}; // of 3, 3, 2
    INFO("orders " << static_cast<int>(orders) << ", checkpointing " << static_cast<int>(checkpointing));
    pipeline::load_state_dict(pipe, initial);
    const auto predicted = pipeline::memory(pipe, nn::cross_entropy, rule, options, images, labels);
    auto step = train_step(pipe, nn::cross_entropy, rule, options);
    step(images, labels);
    for (const D device : devices) reset_peak_memory_stats(device);
    step(images, labels); // reads what the first one has written
    for (std::size_t rank = 0; rank < devices.size(); ++rank) {
      synchronize(devices[rank]);
      CHECK(max_memory_allocated(devices[rank]) - before[rank] == predicted[rank].peak);
      CHECK(memory_allocated(devices[rank]) - before[rank] == predicted[rank].held);
    }
    const auto made = weights_of_stages(pipe);
    step.gradients(images, labels);
    if (orders == WeightOrders::made_each_time) {
      expected = made;
      expected_gradients = gradients_of_stages(pipe);
      least = predicted;
      continue;
    }
    CHECK(made == expected); // bit for bit
    CHECK(gradients_of_stages(pipe) == expected_gradients);
    CHECK(predicted[1].held == least[1].held);
    if (!cpu::has_onednn_convolution || checkpointing == Checkpointing::always) continue;
    constexpr std::int64_t elements = 32 * 32 * 9;
    CHECK(predicted[0].peak == least[0].peak + elements * 4); // nobody reads the gradient of the images
    CHECK(predicted[1].peak == least[1].peak + 2 * (2 * elements + 32 * 64) * 4);
  }
  CHECK(pipe.template at<0>().kept_orders() == nullptr);
}

TEST_CASE("weights and their gradients change their order once in a step", "[parallel][PAR-6][PAR-8]") {
  check_orders<pipeline::OneForwardOneBackward, Late>(); // whose two threads share the larger convolutions
}

TEST_CASE("gradients of weights that can wait change their order once in a step", "[parallel][PAR-6][PAR-8]") {
  check_orders<pipeline::ZeroBubbleH1, Cpu>();
}

} // namespace
