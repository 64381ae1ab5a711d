// SPDX-License-Identifier: Apache-2.0
//
// A network whose layers are divided among two devices: each holds half of the weights, and the two halves of a block meet in
// one sum. It starts from the same weights as the undivided network beside it and takes the same steps.
//
// prints: the losses agree: yes
// prints: elements of "wide.weight" on each device: 4096 of 8192

#include <twill/parallel.hpp>
#include <twill/twill.hpp>

#include <cmath>
#include <iostream>
#include <vector>

using namespace twill;

using Ranks = RankAxis<"tensor", 2>;

struct Whole {
  static constexpr auto forward(Input<Dim<"batch">, 32> x) {
    return nn::linear(relu(nn::linear(x, 256, "wide")), 4, "narrow");
  }
};

// region: divided
struct Divided {
  static constexpr auto forward(Input<Dim<"batch">, 32> x) {
    return nn::row_linear<Ranks>(relu(nn::column_linear<Ranks>(x, 256, "wide")), 4, "narrow");
  }
};
// end region

int main() {
  const std::vector<Cpu> devices{Cpu{0}, Cpu{1 % Cpu::count()}};
  manual_seed_all(1);
  TensorParallel<Divided, Ranks> model{devices};
  nn::Network<Whole, Cpu> one{Cpu{0}};
  nn::load_state_dict(one, model.state_dict()); // the whole weights, under the same names

  auto step = train_step(model, nn::mse, optim::Adam{{.rate = 0.001}});
  auto step_of_one = train_step(one, nn::mse, optim::Adam{{.rate = 0.001}});
  const Tensor x = rand<float, Shape<dyn, 32>>(Dims(64, 32));
  const Tensor y = rand<float, Shape<dyn, 4>>(Dims(64, 4));
  double difference = 0;
  for (int i = 0; i < 20; ++i) {
    const double loss = step(x, y);
    difference = std::fmax(difference, std::fabs(loss - static_cast<double>(step_of_one(x, y).item())));
  }
  std::cout << "the losses agree: " << (difference < 1e-4 ? "yes" : "no") << "\n";
  std::cout << "elements of \"wide.weight\" on each device: " << model.network(0).parameter<"wide.weight">().elements()
            << " of " << one.parameter<"wide.weight">().elements() << "\n";
}
