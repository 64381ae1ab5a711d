// SPDX-License-Identifier: Apache-2.0
//
// States of an optimiser that replicas are to share out, on a mesh without replicas.
//
// expect: replicas share out an optimiser's states, and the mesh has no axis "data"

#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/model/parallel_model.hpp>
#include <twill/parallel/threads/communicator.hpp>

using namespace twill;

struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 6> x) {
    return nn::linear(nn::stage_boundary(nn::linear(x, 4, "lower")), 3, "upper");
  }
};

#ifdef MISUSE
using Grid = parallel::Mesh<parallel::Axis<"pipe", 2>>;
#else
using Grid = parallel::Mesh<parallel::Axis<"data">, parallel::Axis<"pipe", 2>>;
#endif
using C = parallel::ThreadCommunicator<Cpu>;

void train(ParallelModel<Grid, pipeline::OneForwardOneBackward, C, Model>& model) {
  auto step = train_step(model, nn::mse, optim::Sgd{}, {.micro_batches = 2}, parallel::zero<1>);
  static_cast<void>(step.steps());
}
