// SPDX-License-Identifier: Apache-2.0
//
// A hook on the result of `forward` that takes no input.
//
// expect: a hook takes the tensors that it looks at

#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 2, "output"); }
};

using Rows = Tensor<float, Cpu, Shape<dyn, 2>>;

nn::HookHandle watch(nn::Network<Model>& model) {
#ifdef MISUSE
  return model.on_forward([](const Rows&) {});
#else
  return model.on_forward([](const auto&, const Rows&) {});
#endif
}
