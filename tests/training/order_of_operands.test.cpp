// SPDX-License-Identifier: Apache-2.0
//
// C++ leaves open which operand of a sum is evaluated first. A model has the weights that the compiler's trace found, however
// it is built, and whatever the program would trace when it runs.

#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/network.hpp>
#include <twill/nn/state_dict.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace twill;

namespace {

struct Sum {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
    return nn::linear(nn::linear(x, 3, "narrow"), 5, "left") + nn::linear(x, 5, "right");
  }
};

struct Ordered {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
    const auto left = nn::linear(nn::linear(x, 3, "narrow"), 5, "left");
    const auto right = nn::linear(x, 5, "right");
    return left + right;
  }
};

template <class Model> std::vector<float> losses(const nn::StateDict& initial) {
  nn::Network<Model, Cpu> model{Cpu{0}};
  nn::load_state_dict(model, initial);
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  const auto x = full<float, Shape<dyn, 4>>(Dims(8, 4), 0.5F, Cpu{0});
  const auto y = zeros<std::int64_t, Shape<dyn>>(Dims(8));
  std::vector<float> result;
  for (int i = 0; i < 3; ++i) result.push_back(step(x, y).item());
  return result;
}

} // namespace

TEST_CASE("weights are those of the compiler's trace, in whichever order a program evaluates operands", "[training]") {
  nn::Network<Sum, Cpu> model{Cpu{0}};
  std::vector<std::string> names;
  for (const auto& parameter : model.parameters()) names.emplace_back(parameter.name);
  CHECK(names == std::vector<std::string>{"narrow.weight", "narrow.bias", "left.weight", "left.bias", "right.weight",
                                          "right.bias"});
  const nn::StateDict initial = nn::state_dict(model);
  CHECK(losses<Sum>(initial) == losses<Ordered>(initial));
}
