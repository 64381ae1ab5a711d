// SPDX-License-Identifier: Apache-2.0
//
// A budget for a model whose number of rows is not said.
//
// expect: fit_needs_the_size_of_each_named_dimension
// expect: "batch"

#include <twill/nn/fit.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Model {
  static constexpr graph::Value forward(Input<Dim<"batch">, 64> x) { return nn::linear(x, 3, "output"); }
};

#ifdef MISUSE
using Fitted = nn::Fit<Model, 10_MiB>;
#else
using Fitted = nn::Fit<Model, 10_MiB, nn::Size<"batch", 1024>>;
#endif

void run() {
  const nn::Network<Fitted, Cpu> model{};
  static_cast<void>(model.forward(zeros<float, Shape<1024, 64>>()));
}
