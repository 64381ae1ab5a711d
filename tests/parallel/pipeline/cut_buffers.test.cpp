// SPDX-License-Identifier: Apache-2.0
//
// Stages of a cut model that keep running statistics: as one network does where there is one micro-batch, once for each where
// forward passes are computed again.
#include "tests/support/test_seed.hpp"
#include "tests/training/models.hpp"

#include <twill/nn/batch_norm.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/pipeline/model/cut.hpp>
#include <twill/parallel/pipeline/model/state.hpp>
#include <twill/parallel/pipeline/run/step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/training/optimiser.hpp>

#include <catch2/catch.hpp>

#include <cmath>

namespace {

using namespace twill;
using namespace twill::test;
using graph::Value;

struct Normed {
  static constexpr Value forward(Input<Dim<"batch">, 5> x) {
    const Value low =
        nn::stage_boundary(tanh(nn::batch_norm(nn::linear(x, 6, "lower"), "norm", {.is_deferred = true})));
    return nn::linear(tanh(nn::batch_norm(nn::linear(low, 6, "middle"), "second")), 3, "head");
  }
};

double element(const nn::StoredTensor& tensor, std::size_t i) {
  return nn::detail::element_of(tensor.dtype, tensor.bytes.data(), i);
}

TEST_CASE("stages update running statistics as one network does, once a micro-batch", "[parallel][PAR-6]") {
  INFO("seed " << test_seed());
  const auto x = random_rows<double, 5>(Cpu{0}, 9);
  const auto labels = random_labels(Cpu{0}, 9, 3);
  const optim::MomentumSgd rule{{.rate = 0.1}};
  nn::Network<Normed, Cpu, double> whole{Cpu{0}};
  pipeline::BasicPipeline<pipeline::OneForwardOneBackward, double, Cpu, pipeline::Cut<Normed>> pipe{{Cpu{0}, Cpu{1}}};
  pipeline::load_state_dict(pipe, nn::state_dict(whole));
  auto step = train_step(pipe, nn::cross_entropy, rule, {.checkpointing = pipeline::Checkpointing::always});
  training::Optimiser optimiser{whole, rule};
  for (int i = 0; i < 3; ++i) {
    whole.zero_grad();
    const auto loss = nn::cross_entropy(whole.forward(x), labels);
    loss.backward();
    CHECK(step(x, labels) == Approx(loss.item()).epsilon(1e-12));
    optimiser.step();
  }
  const nn::StateDict expected = nn::state_dict(whole);
  const nn::StateDict found = pipeline::state_dict(pipe);
  REQUIRE(found.size() == expected.size());
  for (const auto& [name, tensor] : expected.entries()) {
    INFO(name);
    REQUIRE(found.find(name) != nullptr);
    for (std::size_t i = 0; i < tensor.bytes.size() / size_of(tensor.dtype); ++i)
      CHECK(std::fabs(element(*found.find(name), i) - element(tensor, i)) < 1e-12);
  }
}

TEST_CASE("deferred running statistics are those of the whole batch, however many micro-batches it has",
          "[parallel][PAR-6]") {
  INFO("seed " << test_seed());
  const auto x = random_rows<double, 5>(Cpu{0}, 8);
  const auto labels = random_labels(Cpu{0}, 8, 3);
  nn::Network<Normed, Cpu, double> whole{Cpu{0}};
  pipeline::BasicPipeline<pipeline::OneForwardOneBackward, double, Cpu, pipeline::Cut<Normed>> pipe{{Cpu{0}, Cpu{1}}};
  pipeline::load_state_dict(pipe, nn::state_dict(whole));
  auto step = train_step(pipe, nn::cross_entropy, optim::MomentumSgd{{.rate = 0.1}},
                         {.micro_batches = 3, .checkpointing = pipeline::Checkpointing::except_last}); // 3, 3, 2
  step.gradients(x, labels);
  static_cast<void>(whole.forward(x));
  const nn::StateDict expected = nn::state_dict(whole);
  const nn::StateDict found = pipeline::state_dict(pipe);
  for (const char* const name : {"norm.running_mean", "norm.running_var", "norm.num_batches_tracked"}) {
    INFO(name);
    const nn::StoredTensor& tensor = *expected.find(name);
    for (std::size_t i = 0; i < tensor.bytes.size() / size_of(tensor.dtype); ++i)
      CHECK(element(*found.find(name), i) == Approx(element(tensor, i)).epsilon(1e-12));
  }
}

} // namespace
