// SPDX-License-Identifier: Apache-2.0
//
// A mesh with an axis along which nothing is divided.
//
// expect: no layer names this one

#include <twill/nn/linear.hpp>
#include <twill/parallel/model/parallel_model.hpp>
#include <twill/parallel/threads/communicator.hpp>

using namespace twill;

struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 6> x) { return nn::linear(x, 3, "linear"); }
};

#ifdef MISUSE
using Grid = parallel::Mesh<parallel::Axis<"data", 2>, parallel::Axis<"expert", 2>>;
#else
using Grid = parallel::Mesh<parallel::Axis<"data", 2>>;
#endif
using OnGrid = ParallelModel<Grid, pipeline::OneForwardOneBackward, parallel::ThreadCommunicator<Cpu>, Model>;
static_assert(OnGrid::has_replicas);
