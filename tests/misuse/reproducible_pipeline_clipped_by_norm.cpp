// SPDX-License-Identifier: Apache-2.0
//
// Clipping by the norm of all gradients in a pipeline that is to have the bits of one device.
//
// expect: clipping by norm and loss scales sum over all gradients, which a pipeline does stage by stage

#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/pipeline/model/cut.hpp>
#include <twill/parallel/pipeline/run/reproducible_step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>

using namespace twill;

struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 6> x) {
    return nn::linear(nn::stage_boundary(nn::linear(x, 4, "lower")), 3, "upper");
  }
};

#ifdef MISUSE
const auto rule = optim::clip_norm(optim::Sgd{}, 1.0);
#else
const auto rule = optim::Sgd{};
#endif

void train(Pipeline<pipeline::GPipe, pipeline::Cut<Model>>& model) {
  auto step = train_step(model, nn::mse, rule, parallel::Reproducible{.shards = 4});
  static_cast<void>(step.steps());
}
