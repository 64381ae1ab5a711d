// SPDX-License-Identifier: Apache-2.0
//
// A budget that no choice of what is kept meets.
// expect: fit_budget_is_below_the_lowest_peak

#include <twill/nn/fit.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 64> x) {
    return nn::linear(tanh(nn::linear(x, 64, "hidden")), 3, "output");
  }
};

#ifdef MISUSE
constexpr std::int64_t budget = 100_KiB;
#else
constexpr std::int64_t budget = 10_MiB;
#endif

void run() {
  const nn::Network<nn::Fit<Model, budget, nn::Size<"batch", 1024>>, Cpu> model{};
  static_cast<void>(model.forward(zeros<float, Shape<1024, 64>>()));
}
