// SPDX-License-Identifier: Apache-2.0
//
// A model of two stages on a mesh with three places along "pipe".
//
// expect: the_axis_pipe_of_the_mesh_has_another_number_of_ranks
// expect: mesh_has<3>
// expect: pipeline_runs_on<2>

#include <twill/nn/linear.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/parallel/model/parallel_model.hpp>
#include <twill/parallel/threads/communicator.hpp>

using namespace twill;

struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 6> x) {
    return nn::linear(nn::stage_boundary(tanh(nn::linear(x, 4, "first"))), 3, "second");
  }
};

#ifdef MISUSE
using Grid = parallel::Mesh<parallel::Axis<"data", 2>, parallel::Axis<"pipe", 3>>;
#else
using Grid = parallel::Mesh<parallel::Axis<"data", 2>, parallel::Axis<"pipe", 2>>;
#endif
using OnGrid = ParallelModel<Grid, pipeline::OneForwardOneBackward, parallel::ThreadCommunicator<Cpu>, Model>;
static_assert(OnGrid::has_replicas);
