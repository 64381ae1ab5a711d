// SPDX-License-Identifier: Apache-2.0
//
// A mixture of experts whose eight experts are divided between two devices. Each device routes half of the sequences; an
// exchange takes tokens to their experts, another one the results back. Beside it the undivided model, which starts from
// the same weights and takes the same steps.
//
// prints: the losses agree: yes
// prints: experts on each device: 4 of 8

#include <twill/nn/expert_parallel.hpp>
#include <twill/parallel.hpp>
#include <twill/twill.hpp>

#include <cmath>
#include <iostream>
#include <vector>

using namespace twill;

// region: whole
/// Eight sequences of 16 tokens of 32 features. A token goes to two of eight experts, each with room for 5 of a sequence.
struct Whole {
  static constexpr auto forward(Input<8, 16, 32> x) {
    const auto y = nn::mixture_of_experts(nn::layer_norm(x, "norm"), 8, 64, "moe", {.top_k = 2});
    return nn::linear(x + y, 4, "head"); // a token that found no room keeps its x
  }
};
// end region

// region: divided
using Ranks = RankAxis<"expert", 2>;

struct Divided {
  static constexpr auto forward(Input<8, 16, 32> x) {
    const nn::SplitRegion<Ranks> part{x.graph(), 0}; // until the last line, each rank has four of the sequences
    const graph::Value own = graph::split_to<Ranks>(x, 0);
    const auto y = nn::sharded_mixture_of_experts<Ranks>(nn::layer_norm(own, "norm"), 8, 64, "moe",
                                                         {.mixture = {.top_k = 2}, .split_axis = 0});
    return graph::gather_from<Ranks>(nn::linear(own + y, 4, "head"), 0);
  }
};
// end region

int main() {
  const std::vector<Cpu> devices{Cpu{0}, Cpu{1 % Cpu::count()}};
  manual_seed_all(1);
  nn::Network<Whole, Cpu> one{Cpu{0}};
  TensorParallel<Divided, Ranks> model{devices};
  model.load_state_dict(nn::state_dict(one)); // each device takes its experts
  const Tensor x = rand<float, Shape<8, 16, 32>>(Dims(8, 16, 32));
  const Tensor y = rand<float, Shape<8, 16, 4>>(Dims(8, 16, 4));

  // region: training
  // the loss, and what balances the experts
  auto step = train_step(model, nn::with_auxiliary_losses(nn::mse), optim::Adam{{.rate = 0.001}});
  // end region
  auto step_of_one = train_step(one, nn::with_auxiliary_losses(nn::mse), optim::Adam{{.rate = 0.001}});
  double difference = 0;
  for (int i = 0; i < 20; ++i) {
    const double loss = step(x, y);
    difference = std::fmax(difference, std::fabs(loss - static_cast<double>(step_of_one(x, y).item())));
  }
  std::cout << "the losses agree: " << (difference < 1e-5 ? "yes" : "no") << "\n";
  std::cout << "experts on each device: " << model.network(0).parameter<"moe.experts.up_bias">().shape()[0] << " of "
            << one.parameter<"moe.experts.up_bias">().shape()[0] << "\n";
}
