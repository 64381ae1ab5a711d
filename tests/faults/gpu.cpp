// SPDX-License-Identifier: Apache-2.0
//
// Steps on one emulated GPU or on two, in which every call of the driver fails once in turn: those that make the device, copies,
// launches, captures, timers of traces and waits; and every allocation on the host outside of the driver. The blocks that are counted are the
// driver's.

#include <tests/faults/in_turn.hpp>
#include <tests/faults/points.hpp>
#include <tests/faults/steps.hpp>
#include <tests/support/tested_emulated.hpp>

#include <twill/core/run_recorder.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/nn/dropout.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses/regression.hpp>
#include <twill/nn/network.hpp>
#include <twill/nn/slot.hpp>
#include <twill/optim/adam.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace twill;
using namespace twill::test::faults;

struct Small {
  static constexpr auto forward(Input<Dim<"batch">, 2> x) {
    return nn::linear(nn::dropout(tanh(nn::linear(x, 8, "first")), 0.5), 1, "output");
  }
};
/// The later layers lie in another slot than the first, whose gradients come after their updates.
struct Apart {
  static constexpr auto forward(Input<Dim<"batch">, 2> x) {
    const auto seen = nn::dropout(tanh(nn::linear(x, 8, "first")), 0.5);
    return nn::linear(tanh(nn::linear(nn::to(seen, nn::Slot{1}), 8, "middle")), 1, "output");
  }
};

/// How many launches were recorded of the last run.
[[nodiscard]] std::size_t launches_of_last_run(RunRecorder& recorder) {
  const auto runs = recorder.close();
  return runs.empty() ? 0 : runs.back()->take().times.size();
}

/// A step, in which no timer may be missing behind the first update: they are made before.
template <class Step, class X, class Y> auto made(Outcome& outcome, Step& step, const X& x, const Y& y) {
  try {
    return step(x, y);
  } catch (const PartialUpdateError& error) {
    if (std::string_view{error.what()}.find("create_timer") != std::string_view::npos) outcome.is_half = true;
    throw;
  }
}

/// Where they are traced, graphs are not captured.
template <class Model> Outcome trained(const std::vector<Emulated>& devices, long failing, bool is_traced = false) {
  using Network = nn::Network<Model, Emulated>;
  using Step = decltype(train_step(std::declval<Network&>(), nn::mse, optim::Adam{}));
  points.failing = failing;
  auto& machine = emulation::Machine::get();
  machine.refuses = [] { return fails(Kind::driver); };
  points.is_exempt = [] { return emulation::calls_under_way > 0; };
  Outcome outcome{};
  {
    const auto wait = [&] {
      for (const Emulated device : devices) synchronize(device);
    };
    std::optional<Network> network{};
    std::optional<Step> step{};
    std::optional<Tensor<float, Emulated, Shape<4, 2>>> x{};
    std::optional<Tensor<float, Emulated, Shape<4, 1>>> y{};
    std::array<float, 4> losses{};
    std::shared_ptr<RunRecorder> recorder{};
    std::optional<RecordingRuns> recording{};
    if (is_traced) recording.emplace(recorder = std::make_shared<RunRecorder>());
    {
      const Watch watch{};
      again_if_it_fails(outcome, [&] {
        manual_seed_all(7);
        network.emplace(devices);
      });
      again_if_it_fails(outcome, [&] { step.emplace(train_step(*network, nn::mse, optim::Adam{{.rate = 0.1}})); });
      again_if_it_fails(outcome, [&] {
        x = tensor<Shape<4, 2>>({1.0F, 2.0F, 3.0F, -1.0F, 0.5F, 0.0F, -2.0F, 1.0F}).to(devices.front());
        y = tensor<Shape<4, 1>>({1.0F, 0.0F, -1.0F, 0.5F}).to(devices.back());
      });
      for (float& number :
           std::span{losses}.first(is_traced ? 2 : losses.size())) { // on one GPU the later ones are captured graphs
        const auto loss = step_again_if_it_fails(
            outcome, *network, *step, [&] { return made(outcome, *step, *x, *y); }, wait);
        again_if_it_fails(outcome, wait); // the step has been made, whoever waits for it
        again_if_it_fails(outcome, [&] { number = loss; });
      }
    }
    recording.reset();
    if (is_traced) outcome.bits += launches_of_last_run(*recorder);
    outcome.bits = hash_of(nn::state_dict(*network), outcome.bits + 1);
    for (const float number : losses) outcome.bits = outcome.bits * 31 + std::bit_cast<unsigned>(number);
  }
  outcome.points = points.passed;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) outcome.of_kind[kind] = points.counts[kind];
  outcome.pool_bytes = memory_allocated(Cpu{0});
  outcome.blocks_in_use = static_cast<long>(machine.live_graphs);
  for (const Emulated device : devices) {
    outcome.pool_bytes += memory_allocated(device);
    outcome.blocks_in_use +=
        static_cast<long>(machine.devices[static_cast<std::size_t>(device.index)].memory.live_blocks());
  }
  return outcome;
}

} // namespace

namespace twill::test::faults {

Outcome training_on_a_gpu(long failing);
Outcome training_on_gpus(long failing);
Outcome training_traced_on_a_gpu(long failing);

Outcome training_on_a_gpu(long failing) { return trained<Small>({Emulated{0}}, failing); }
Outcome training_on_gpus(long failing) { return trained<Apart>({Emulated{0}, Emulated{1}}, failing); }
Outcome training_traced_on_a_gpu(long failing) { return trained<Small>({Emulated{0}}, failing, true); }

} // namespace twill::test::faults
