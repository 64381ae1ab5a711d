// SPDX-License-Identifier: Apache-2.0
//
// A step of every operation that asks for memory when it runs, on a team of three threads: convolutions and their gradients,
// pooling and interpolation of bfloat16, products of bfloat16 and of matrices that no library reads as they lie, sorts, scans,
// reductions of rows and columns. The last layer is so large that it is updated while the gradients of the others are still to
// be computed. And a step in two device slots, on two devices and on one, which may be traced. What oneDNN allocates by itself
// is no point: points.cpp.

#include <tests/faults/in_turn.hpp>
#include <tests/faults/points.hpp>
#include <tests/faults/steps.hpp>

#include <twill/core/run_recorder.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/nn/convolution.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses/regression.hpp>
#include <twill/nn/network.hpp>
#include <twill/nn/normalisation.hpp>
#include <twill/nn/slot.hpp>
#include <twill/ops/cumsum.hpp>
#include <twill/ops/interpolate.hpp>
#include <twill/ops/pooling.hpp>
#include <twill/ops/sort.hpp>
#include <twill/optim/adam.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace {

using namespace twill;
using namespace twill::test::faults;
using graph::Value;

constexpr std::int64_t rows = 8;

struct Mixed {
  static constexpr auto forward(Input<rows, 3, 12, 12> x) {
    const auto shaped = [](Value value, auto... extents) {
      return reshape(value, graph::extents_of(Dims(extents...)));
    };
    const Value seen = nn::conv2d(x, 8, "first", {.kernel = 3});
    const Value again = nn::conv2d(relu(seen), 8, "second", {.kernel = 3});
    const Value half_size = graph::max_pool2d(graph::cast<bfloat16>(again), {.window = 2});
    const Value resized = graph::interpolate(half_size, {.size = 5, .mode = graph::Interpolation::linear});
    const Value flat = shaped(graph::cast<float>(resized), rows, 200);
    const Value summed = graph::layer_norm(graph::cumsum(flat + graph::sort(flat, 1).values, 1));
    const Value narrow = graph::cast<bfloat16>(nn::linear(summed, 128, "middle"));
    const Value weight = nn::parameter(x.graph(), "narrow", {128, 128}, nn::initialise::normal(0.0, 0.1));
    const Value product = graph::matmul(narrow, graph::cast<bfloat16>(weight));
    const Value apart = graph::transpose(shaped(product, rows, 8, 16), {2, 0, 1}); // whose rows are no rows in memory
    const Value other = nn::parameter(x.graph(), "apart", {16, 8, 8}, nn::initialise::normal(0.0, 0.3));
    const Value mixed = graph::transpose(graph::matmul(apart, graph::cast<bfloat16>(other)), {1, 2, 0});
    return nn::linear(tanh(graph::cast<float>(shaped(mixed, rows, 128))), 128, "last");
  }
};
/// The last layers lie in another slot than the first, whose gradients come after their updates.
struct Apart {
  static constexpr auto forward(Input<rows, 3, 12, 12> x) {
    const Value seen = nn::conv2d(x, 8, "first", {.kernel = 3});
    const Value flat = reshape(tanh(seen), graph::extents_of(Dims(rows, 800)));
    return nn::linear(tanh(nn::linear(nn::to(flat, nn::Slot{1}), 96, "middle")), 128, "last");
  }
};

/// Numbers of no pattern that are the same in each process.
template <class T> void fill(T& tensor) {
  for (std::int64_t i = 0; i < tensor.elements(); ++i)
    tensor.data()[i] = static_cast<float>(i * 7919 % 1000) / 500.0F - 1.0F;
}

/// How many launches and copies were recorded of a whole run, and how many such runs, in one number.
[[nodiscard]] std::size_t recorded_runs(RunRecorder& recorder) {
  std::vector<std::size_t> sizes{};
  for (const auto& run : recorder.close()) sizes.push_back(run->take().times.size());
  return sizes.empty() ? 0 : sizes.back() * 31 + static_cast<std::size_t>(std::ranges::count(sizes, sizes.back()));
}

/// Two steps; the second one finds everything taken. Where they are traced, one that is not has come before them.
template <class Model> Outcome trained(std::vector<Cpu> devices, long failing, bool is_traced = false) {
  configure_host({.devices = 2, .threads_per_device = 3, .oversubscribe = true});
  points.failing = failing;
  Outcome outcome{};
  {
    manual_seed_all(7);
    nn::Network<Model, Cpu> network{devices};
    auto step = train_step(network, nn::mse, optim::Adam{{.rate = 0.1}});
    auto x = zeros<float, Shape<rows, 3, 12, 12>>(devices.front());
    auto y = zeros<float, Shape<rows, 128>>(devices.back());
    fill(x);
    fill(y);
    std::array<float, 2> losses{};
    if (is_traced) losses[0] = step(x, y);
    const auto recorder = std::make_shared<RunRecorder>();
    {
      std::optional<RecordingRuns> recording{};
      if (is_traced) recording.emplace(recorder);
      const Watch watch{};
      for (float& loss : losses)
        step_again_if_it_fails(
            outcome, network, step, [&] { loss = step(x, y); },
            [&] {
              for (const Cpu device : devices) synchronize(device);
            });
    }
    outcome.bits = hash_of(std::as_bytes(std::span{losses}), hash_of(nn::state_dict(network), 1));
    if (is_traced) outcome.bits = outcome.bits * 31 + recorded_runs(*recorder);
  }
  const Pause pause{};
  outcome.points = points.passed;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) outcome.of_kind[kind] = points.counts[kind];
  outcome.pool_bytes = memory_allocated(Cpu{0}) + memory_allocated(Cpu{1});
  return outcome;
}

} // namespace

namespace twill::test::faults {

Outcome training_with_operations(long failing);
Outcome training_in_slots(long failing);
Outcome training_traced(long failing);
Outcome training_traced_on_one_device(long failing);

Outcome training_with_operations(long failing) { return trained<Mixed>({Cpu{0}}, failing); }
Outcome training_in_slots(long failing) { return trained<Apart>({Cpu{0}, Cpu{1}}, failing); }
Outcome training_traced(long failing) { return trained<Apart>({Cpu{0}, Cpu{1}}, failing, true); }
Outcome training_traced_on_one_device(long failing) { return trained<Apart>({Cpu{0}, Cpu{0}}, failing, true); }

} // namespace twill::test::faults
