// SPDX-License-Identifier: Apache-2.0
//
// Distributed steps over the late kind of device, whose memory traps and whose stream runs late: gradients shared out, sums
// over ranks in the middle of the program, a norm of all gradients, a rank without rows. The bits are those of host devices.

#include <twill/nn/batch_norm.hpp>
#include <twill/nn/linear.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/distributed_step.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>
#include <twill/tensor/access.hpp>

#include "tests/support/four_devices.hpp"
#include "tests/support/late_device.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <random>
#include <vector>

using namespace twill;
using twill::test::Late;

namespace {

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 6> x) {
    const auto hidden = nn::batch_norm(nn::linear(x, 21, "hidden"), "norm", {.is_synchronised = true});
    return nn::linear(tanh(hidden), 3, "output");
  }
};

template <class D> std::vector<float> weights_after_steps() {
  auto communicators = parallel::thread_communicators(std::vector<D>{D{0}, D{1}, D{2}}, {.timeout_ms = 60'000});
  std::vector<nn::Network<Mlp, D>> networks{};
  for (int rank = 0; rank < 3; ++rank) {
    manual_seed_all(7);
    networks.emplace_back(D{rank});
  }
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const int rank = communicator.rank();
    const std::int64_t rows = 2 * rank; // 0, 2 and 4
    std::mt19937 engine{static_cast<unsigned>(rank)};
    std::normal_distribution<float> normal{};
    Tensor<float, Cpu, Shape<dyn, 6>> x(Cpu{rank}, Dims(rows, 6));
    Tensor<std::int64_t, Cpu, Shape<dyn>> label(Cpu{rank}, Dims(rows));
    for (std::int64_t i = 0; i < x.elements(); ++i) x.data()[i] = normal(engine);
    for (std::int64_t i = 0; i < rows; ++i) label.data()[i] = i % 3;
    DistributedDataParallel model{networks[static_cast<std::size_t>(rank)], communicator, {.buckets = {64, 300}}};
    auto step = train_step(model, nn::cross_entropy, optim::clip_norm(optim::MomentumSgd{{.rate = 0.1}}, 0.5),
                           parallel::zero<3>);
    for (int i = 0; i < 3; ++i) static_cast<void>(step(x.to(D{rank}), label.to(D{rank})));
    step.gather_weights();
  });
  std::vector<float> result{};
  for (const auto& network : networks)
    for (const auto& part : {to_vector(network.template parameter<"hidden.weight">()),
                             to_vector(network.template parameter<"norm.running_var">()),
                             to_vector(network.template parameter<"output.weight">())})
      result.insert(result.end(), part.begin(), part.end());
  return result;
}

} // namespace

TEST_CASE("distributed steps give the same bits on a kind of device that runs late", "[parallel][PAR-6][DEV-4]") {
  REQUIRE(weights_after_steps<Late>() == weights_after_steps<Cpu>());
}
