// SPDX-License-Identifier: Apache-2.0
//
// Distributed ranks, of which each has one device, of a model that needs two.
//
// expect: twill: DistributedDataParallel: the model puts parts into several device slots, a rank has one device

#include <twill/nn.hpp>
#include <twill/parallel/data/distributed.hpp>
#include <twill/parallel/threads/communicator.hpp>

using namespace twill;

struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
#ifdef MISUSE
    x = Input<Dim<"batch">, 4>{nn::to(x, nn::Slot{1})};
#endif
    return nn::linear(x, 4, "linear");
  }
};

const auto made = sizeof(DistributedDataParallel<nn::Network<Model>, parallel::ThreadCommunicator<Cpu>>);
