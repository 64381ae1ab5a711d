// SPDX-License-Identifier: Apache-2.0
//
// Pipelines under `parallel::Reproducible` that cannot have the bits of one device: each is refused by name.

#include <twill/nn/batch_norm.hpp>
#include <twill/nn/convolution.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/pipeline/model/cut.hpp>
#include <twill/parallel/pipeline/run/reproducible_step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/tensor/random.hpp>

#include "tests/support/message_of.hpp"
#include "tests/support/ranks.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace twill;
using twill::test::message_of;

namespace {

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 7> x) {
    return nn::linear(nn::stage_boundary(tanh(nn::linear(x, 6, "lower"))), 5, "head");
  }
};
/// Three stages use a weight, the one at `Place` several times, the others once.
template <int Place> struct Tied {
  static constexpr auto forward(Input<Dim<"batch">, 7> x) {
    const auto shared = nn::parameter(x.graph(), "shared", {7, 7}, nn::initialise::fan_in_uniform(7));
    graph::Value y = x;
    for (int stage = 0; stage < 3; ++stage) {
      if (stage > 0) y = nn::stage_boundary(y);
      if (stage == Place) y = tanh(nn::linear(y, shared));
      y = tanh(nn::linear(y, shared));
    }
    return y;
  }
};
struct Normalised {
  static constexpr auto forward(Input<Dim<"batch">, 7> x) {
    const auto lower = nn::stage_boundary(tanh(nn::linear(x, 6, "lower")));
    return nn::linear(nn::batch_norm(lower, "norm", {.is_synchronised = true}), 5, "head");
  }
};
struct Images {
  static constexpr auto forward(Input<Dim<"batch">, 3, 4, 4> x) {
    const auto images = nn::stage_boundary(relu(nn::conv2d(x, 8, "lower", {.kernel = 3})));
    return nn::conv2d(images, 8, "upper", {.kernel = 1});
  }
};
constexpr auto in_rows = nn::loss([](auto image, auto rows) { return nn::mse(reshape(image, {-1, 32}), rows); });
template <class Model> using Pipe = pipeline::BasicPipeline<pipeline::GPipe, float, Cpu, pipeline::Cut<Model>>;

const std::vector<Cpu> devices{Cpu{0}, Cpu{1}, Cpu{2}};
constexpr parallel::Reproducible policy{.shards = 5};

template <class Model> void make(const pipeline::StepOptions& options = {.micro_batches = 5}) {
  Pipe<Model> pipe{{devices.begin(), devices.begin() + Pipe<Model>::ranks}};
  static_cast<void>(train_step(pipe, nn::cross_entropy, optim::Sgd{}, options, policy));
}
template <class Model> std::string refusal(const pipeline::StepOptions& options = {.micro_batches = 5}) {
  return message_of<ValueError>([&] { make<Model>(options); });
}

} // namespace

TEST_CASE("options of a pipeline that contradict the shards are refused by both numbers", "[parallel][PAR-9]") {
  CHECK(refusal<Mlp>({.micro_batches = 4}) ==
        "Reproducible: each shard of the batch is a micro-batch of the pipeline, got .shards = 5 and .micro_batches = "
        "4; give both the same number");
  CHECK(refusal<Mlp>({.micro_batches = 5, .weight_orders = pipeline::WeightOrders::kept_for_step})
            .starts_with("Reproducible: gradients of weights in kept orders are summed one micro-batch after another"));
}

TEST_CASE("a pipeline adds the gradients of a shared weight in the order of one device, or is refused",
          "[parallel][PAR-9]") {
  CHECK(refusal<Tied<0>>() ==
        "Reproducible: stage 0 of the pipeline uses the weight \"shared\" 2 times and stage 1 too, and one device adds "
        "the gradients of these uses one after another; cut the model so that each stage but the last of those that "
        "share it uses it once");
  CHECK(refusal<Tied<1>>().starts_with("Reproducible: stage 1 of the pipeline uses the weight \"shared\" 2 times and "
                                       "stage 2 too"));
  CHECK_NOTHROW(make<Tied<2>>());
}

TEST_CASE("shards of a pipeline that meet run together in each pass", "[parallel][PAR-9]") {
  CHECK_NOTHROW(make<Normalised>());
  CHECK(refusal<Normalised>({.micro_batches = 5, .checkpointing = pipeline::Checkpointing::except_last}) ==
        "Reproducible: stage 1 of the pipeline sums over the batch inside its run, so that its micro-batches run "
        "together and none is the last; give it Checkpointing::always or Checkpointing::never");
}

TEST_CASE("a loss that computes the gradient of an image in rows is refused", "[parallel][PAR-9]") {
  Pipe<Images> pipe{{Cpu{0}, Cpu{1}}};
  auto step = train_step(pipe, in_rows, optim::Sgd{}, policy);
  const auto x = randn<float, Shape<9, 3, 4, 4>>();
  const auto y = randn<float, Shape<9, 32>>();
  const std::string images = message_of<ValueError>([&] { step(x, y); });
  INFO(images);
  CHECK(images.starts_with("Reproducible: the result of the pipeline is an image of a convolution, which one device"));
}

TEST_CASE("a reproducible step of a pipeline goes on after a batch that does not fill the shards",
          "[parallel][PAR-9]") {
  Pipe<Mlp> pipe{{Cpu{0}, Cpu{1}}};
  // region: step
  auto step = train_step(pipe, nn::cross_entropy, optim::Sgd{{.rate = 0.1}}, parallel::Reproducible{.shards = 5});
  // end region
  const test::LabelledRows<float, 7> few{3, 5};
  CHECK(message_of<ValueError>([&] { step(few.x, few.label); }) ==
        "Reproducible: a batch of 3 rows on all ranks does not fill 5 shards; give it more rows, or train with fewer "
        ".shards");
  const test::LabelledRows<float, 7> enough{12, 5};
  const double before = step(enough.x, enough.label);
  CHECK(step(enough.x, enough.label) < before);
  CHECK(step.steps() == 2);
}
