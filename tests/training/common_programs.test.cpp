// SPDX-License-Identifier: Apache-2.0
//
// Programs that the compiled library holds are those of a network with bias, ReLU, cross entropy and the usual rules.

#include <twill/kernel/common_programs.hpp>
#include <twill/nn/activations.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace twill;

namespace {

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 12> x) {
    return nn::linear(relu(nn::linear(relu(nn::linear(x, 8, "first")), 8, "second")), 5, "third");
  }
};

template <class Rule>
using Step = training::WholeStep<Mlp, float, std::remove_cvref_t<decltype(nn::cross_entropy)>, Rule,
                                 compile::Argument<std::int64_t, Shape<dyn>>>;

/// How many programs of a step are compiled in the file that trains.
template <class Rule> std::size_t own_programs() {
  using P = kernel::CommonPrograms;
  using kernel::table_of;
  const std::vector<const kernel::ProgramTable*> common{&table_of<P::BiasRelu>,   &table_of<P::BiasReluGradient>,
                                                        &table_of<P::ColumnSums>, &table_of<P::MeanLoss>,
                                                        &table_of<P::Sgd>,        &table_of<P::Adam>,
                                                        &table_of<P::AdamW>,      &table_of<P::CrossEntropy>};
  std::size_t own = 0;
  for (const compile::KernelFunction& one : compile::kernels<Step<Rule>>)
    if (one.program != nullptr && std::find(common.begin(), common.end(), one.program) == common.end()) ++own;
  return own;
}

} // namespace

TEST_CASE("a multilayer perceptron's programs are those of the compiled library", "[training]") {
  CHECK(own_programs<optim::Sgd>() == 0);
  CHECK(own_programs<optim::Adam>() == 0);
  CHECK(own_programs<optim::AdamW>() == 0);
}
