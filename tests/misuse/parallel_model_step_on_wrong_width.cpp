// SPDX-License-Identifier: Apache-2.0
//
// A step of a model on a mesh on rows of five numbers, where the model declares six.
//
// expect: input_has_another_extent_than_the_model_declares
// expect: declared<6>
// expect: given<5>

#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/model/parallel_model.hpp>
#include <twill/parallel/threads/communicator.hpp>

using namespace twill;

struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 6> x) { return nn::linear(x, 3, "linear"); }
};

#ifdef MISUSE
constexpr int width = 5;
#else
constexpr int width = 6;
#endif
using C = parallel::ThreadCommunicator<Cpu>;
using OnGrid = ParallelModel<parallel::Mesh<parallel::Axis<"data", 2>>, pipeline::OneForwardOneBackward, C, Model>;
using Loss = std::remove_const_t<decltype(nn::mse)>;
using Step = pipeline::RankStep<OnGrid::Pipe, Loss, optim::Sgd, C>;
static_assert(Step::takes<Tensor<float, Cpu, Shape<dyn, width>>, Tensor<float, Cpu, Shape<dyn, 3>>>);
