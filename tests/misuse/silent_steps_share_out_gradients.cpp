// SPDX-License-Identifier: Apache-2.0
//
// Silent steps of ranks that share out reduced gradients.
// expect: no_sync: sums of gradients are whole on every rank

#include <twill/nn/linear.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/distributed_step.hpp>
#include <twill/parallel/threads/communicator.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};
using Wrapped = DistributedDataParallel<nn::Network<Model>, parallel::ThreadCommunicator<Cpu>>;

#ifdef MISUSE
constexpr int stage = 2;
#else
constexpr int stage = 1;
#endif

void train(Wrapped& model) {
  auto step = train_step(model, nn::mse, optim::Sgd{}, parallel::zero<stage>);
  const auto silence = step.no_sync();
}
