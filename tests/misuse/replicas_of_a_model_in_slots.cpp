// SPDX-License-Identifier: Apache-2.0
//
// Replicas, of which each has one device, of a model that needs two.
//
// expect: the model puts parts into several device slots

#include <twill/nn.hpp>
#include <twill/parallel/data/data_parallel.hpp>

using namespace twill;

struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
#ifdef MISUSE
    x = Input<Dim<"batch">, 4>{nn::to(x, nn::Slot{1})};
#endif
    return nn::linear(x, 4, "linear");
  }
};

const auto made = sizeof(DataParallel<nn::Network<Model>>);
