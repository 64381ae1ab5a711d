// SPDX-License-Identifier: Apache-2.0
//
// Layers divided among two ranks on a mesh with four places along their axis.
//
// expect: an_axis_of_the_mesh_has_another_number_of_ranks_than_the_layers_name
// expect: mesh_has<4>
// expect: layers_are_divided_among<2>

#include <twill/nn/tensor_parallel.hpp>
#include <twill/parallel/model/parallel_model.hpp>
#include <twill/parallel/threads/communicator.hpp>

using namespace twill;

struct Model {
  using Ranks = RankAxis<"tensor", 2>;
  static constexpr auto forward(Input<Dim<"batch">, 6> x) {
    return nn::row_linear<Ranks>(tanh(nn::column_linear<Ranks>(x, 8, "wide")), 3, "narrow");
  }
};

#ifdef MISUSE
using Grid = parallel::Mesh<parallel::Axis<"tensor", 4>>;
#else
using Grid = parallel::Mesh<parallel::Axis<"tensor", 2>>;
#endif
using OnGrid = ParallelModel<Grid, pipeline::OneForwardOneBackward, parallel::ThreadCommunicator<Cpu>, Model>;
static_assert(!OnGrid::has_replicas);
