// SPDX-License-Identifier: Apache-2.0
//
// A model over a mesh of eight ranks, here threads: two replicas of a pipeline of two stages, whose wide layers two ranks
// share. Another mesh is another type and nothing else. The steps are those of one device that sees all rows; the weights are
// gathered into it at the end.
//
// prints: the losses agree: yes
// prints: the weights agree: yes

#include <twill/twill.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <vector>

using namespace twill;

/// Two blocks, each of which N ranks divide by its hidden width, and a mark between them.
template <int N> struct Mixer {
  using Ranks = RankAxis<"tensor", N>;
  static constexpr auto forward(Input<Dim<"batch">, 16> x) {
    auto y = x + nn::row_linear<Ranks>(relu(nn::column_linear<Ranks>(x, 64, "wide1")), 16, "narrow1");
    y = nn::stage_boundary(nn::dropout(y, 0.1));
    y = y + nn::row_linear<Ranks>(relu(nn::column_linear<Ranks>(y, 64, "wide2")), 16, "narrow2");
    return nn::linear(y, 4, "head");
  }
};

// region: mesh
using Grid = parallel::Mesh<parallel::Axis<"data", 2>, parallel::Axis<"pipe", 2>, parallel::Axis<"tensor", 2>>;
template <class C> using Model = ParallelModel<Grid, pipeline::OneForwardOneBackward, C, Mixer<2>>;
// end region

int main() {
  configure_host({.devices = 8, .threads_per_device = 1, .oversubscribe = true});
  constexpr std::int64_t rows = 22; // 11 for each replica, in micro-batches of 4, 4 and 3
  constexpr int steps = 20;
  const optim::ClipNorm rule = optim::clip_norm(optim::Adam{{.rate = 0.003}}, 1.0);
  manual_seed_all(1);
  const Tensor x = rand<float, Shape<dyn, 16>>(Dims(rows, 16));
  const Tensor y = rand<float, Shape<dyn, 4>>(Dims(rows, 4));

  const Draw draw{.seed = 1, .step = 0};
  std::vector<double> losses(steps);
  nn::StateDict gathered{};
  std::vector<Cpu> devices{};
  for (int i = 0; i < 8; ++i) devices.push_back(Cpu{i});
  auto world = parallel::thread_communicators(devices);
  parallel::run_ranks(world, [&]<class C>(C& member) {
    Model<C> model{member, draw};
    auto step = train_step(model, nn::mse, rule, {.micro_batches = 3});
    const parallel::Rows own{model.groups().template coordinate<"data">() * rows / 2, rows / 2};
    for (int i = 0; i < steps; ++i) {
      const double loss = step(parallel::rows_of<0>(x, own), parallel::rows_of<0>(y, own));
      if (member.rank() == 0) losses[static_cast<std::size_t>(i)] = loss;
    }
    nn::StateDict state = state_dict(model); // whole weights under the names of one network, on every rank
    if (member.rank() == 0) gathered = std::move(state);
  });

  manual_seed(Cpu{0}, 1);
  nn::Network<Mixer<1>> one{Cpu{0}};
  auto step = train_step(one, nn::mse, rule);
  double difference = 0;
  for (int i = 0; i < steps; ++i) {
    const double own = losses[static_cast<std::size_t>(i)];
    difference = std::fmax(difference, std::fabs(own - static_cast<double>(step(x, y).item())));
    if (i % 5 == 0) std::cout << "step " << i << ": loss " << own << "\n";
  }
  std::cout << "the losses agree: " << (difference < 1e-4 ? "yes" : "no") << "\n";

  const Tensor found = one.infer(x);
  nn::load_state_dict(one, gathered);
  const bool same = max(abs(one.infer(x) - found)).item() < 1e-3F;
  std::cout << "the weights agree: " << (same ? "yes" : "no") << "\n";
  return same ? 0 : 1;
}
