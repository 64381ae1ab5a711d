// SPDX-License-Identifier: Apache-2.0
//
// A layer that updates running statistics, for each example of a batch.
// expect: vmap_of_an_update_of_a_buffer
// expect: "norm.running_mean"

#include <twill/compile/vmap.hpp>
#include <twill/nn.hpp>

using namespace twill;

struct Model {
  static constexpr auto forward(Input<5, 4, 3> x) {
#ifdef MISUSE
    return vmap([](graph::Value one) { return nn::batch_norm(one, "norm"); })(x);
#else
    return vmap([](graph::Value one) { return nn::layer_norm(one, "norm"); })(x);
#endif
  }
};

const nn::Network<Model> model;
