// SPDX-License-Identifier: Apache-2.0
//
// The peak of each rank's device as it is counted, against what was known before, for every schedule and every way of
// checkpointing, on devices whose streams run late.
#include "tests/support/late_device.hpp"
#include "tests/training/models.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/clip.hpp>
#include <twill/parallel/pipeline/model/cut.hpp>
#include <twill/parallel/pipeline/run/memory.hpp>
#include <twill/parallel/pipeline/run/rank_step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using namespace twill;
using namespace twill::test;
using graph::Value;
using pipeline::Checkpointing;

/// Four stages: what the first makes is used by the third, the second draws, a weight is that of two stages.
struct Model {
  static constexpr Value forward(Input<Dim<"batch">, 5> x) {
    const Value shared = nn::parameter(x.graph(), "shared", {70, 70}, nn::initialise::fan_in_uniform(70));
    const Value low = nn::stage_boundary(tanh(nn::linear(tanh(nn::linear(x, 70, "lower")), shared)));
    const Value one = nn::stage_boundary(nn::dropout(tanh(nn::linear(low, 200, "one")), 0.25));
    const Value two = nn::stage_boundary(tanh(nn::linear(one, 70, "two")) * exp(low));
    return nn::linear(tanh(nn::linear(two, shared)), 3, "head");
  }
};
template <class S> using Stages = pipeline::BasicPipeline<S, float, Late, pipeline::Cut<Model>>;

template <class S> void check_peaks(int micro_batches, std::int64_t rows) {
  using P = Stages<S>;
  std::vector<Late> devices;
  for (int rank = 0; rank < P::ranks; ++rank) devices.push_back(Late{rank});
  const auto x = random_rows<float, 5>(Late{0}, rows);
  const auto labels = random_labels(Late{P::ranks - 1}, rows, 3);
  const auto rule = optim::clip_norm(optim::Adam{}, 1);
  std::vector<std::int64_t> before;
  for (const Late device : devices) before.push_back(memory_allocated(device));
  P pipe{devices};
  for (const Checkpointing mode : {Checkpointing::never, Checkpointing::except_last, Checkpointing::always}) {
    INFO(S::name << ", " << micro_batches << " micro-batches of " << rows << " rows, checkpointing "
                 << static_cast<int>(mode));
    const pipeline::StepOptions options{.micro_batches = micro_batches, .checkpointing = mode};
    const auto predicted = pipeline::memory(pipe, nn::cross_entropy, rule, options, x, labels);
    REQUIRE(predicted.size() == devices.size());
    auto step = train_step(pipe, nn::cross_entropy, rule, options);
    const auto check = [&](auto compare) {
      for (const Late device : devices) reset_peak_memory_stats(device);
      step(x, labels);
      for (std::size_t rank = 0; rank < devices.size(); ++rank) {
        INFO("rank " << rank);
        synchronize(devices[rank]);
        compare(max_memory_allocated(devices[rank]) - before[rank], predicted[rank].peak);
        CHECK(memory_allocated(devices[rank]) - before[rank] == predicted[rank].held);
      }
    };
    check([](std::int64_t counted, std::int64_t peak) { CHECK(counted <= peak); }); // states come at its end
    check([](std::int64_t counted, std::int64_t peak) { CHECK(counted == peak); });
  }
}

TEST_CASE("the peak of each device in a step is known to the byte", "[parallel][PAR-6]") {
  check_peaks<pipeline::GPipe>(4, 16);
  check_peaks<pipeline::GPipe>(3, 8); // 3, 3, 2
  check_peaks<pipeline::OneForwardOneBackward>(5, 23);
  check_peaks<pipeline::Interleaved<2>>(4, 19);
  check_peaks<pipeline::ZeroBubbleH1>(5, 23);
  check_peaks<pipeline::ZeroBubbleH2>(7, 20);
  check_peaks<pipeline::ZeroBubbleV>(4, 19);
}

TEST_CASE("a step is measured before there is a device for it", "[parallel][PAR-6]") {
  using P = Stages<pipeline::OneForwardOneBackward>;
  const Tensor<float, Meta, Shape<dyn, 5>> x(Meta{0}, Dims(4096, 5));
  const Tensor<std::int64_t, Meta, Shape<dyn>> labels(Meta{3}, Dims(4096));
  const auto peaks = [&](pipeline::StageCheckpointing modes) {
    return pipeline::memory<P>(nn::cross_entropy, optim::Adam{}, {.micro_batches = 8, .checkpointing = modes}, x,
                               labels);
  };
  const auto kept = peaks({});
  CHECK(kept[0].weights == 1536 + 512 + 19968); // 70 x 5, 70, 70 x 70
  const auto mixed = peaks({Checkpointing::never, Checkpointing::always, Checkpointing::never, Checkpointing::never});
  CHECK(mixed[1].peak < kept[1].peak);
  for (const std::size_t other : {0u, 2u, 3u}) CHECK(mixed[other].peak == kept[other].peak);
  CHECK_THROWS_WITH(peaks({Checkpointing::never, Checkpointing::always}),
                    "train_step: checkpointing is given for 2 stages, the pipeline has 4");
}

TEST_CASE("a rank that steps alone needs what was known of it", "[parallel][PAR-6]") {
  using P = Stages<pipeline::OneForwardOneBackward>;
  const auto x = random_rows<float, 5>(Late{0}, 23);
  const auto labels = random_labels(Late{3}, 23, 3);
  const pipeline::StepOptions options{.micro_batches = 5};
  const auto rule = optim::clip_norm(optim::Adam{}, 1);
  const auto predicted =
      pipeline::memory<P>(nn::cross_entropy, rule, options, Tensor<float, Meta, Shape<dyn, 5>>(Meta{0}, Dims(23, 5)),
                          Tensor<std::int64_t, Meta, Shape<dyn>>(Meta{3}, Dims(23)));
  std::vector<std::int64_t> peaks(4, 0);
  std::vector<std::int64_t> held(4, 0);
  auto world = parallel::thread_communicators(std::vector<Late>{Late{0}, Late{1}, Late{2}, Late{3}});
  parallel::run_ranks(world, [&](auto& member) {
    const Late device = member.device();
    const auto rank = static_cast<std::size_t>(member.rank());
    const std::int64_t before = memory_allocated(device);
    P pipe{device, member.rank(), RandomDraw{}};
    auto step = train_step(pipe, member, nn::cross_entropy, rule, options);
    step(x, labels);
    reset_peak_memory_stats(device);
    step(x, labels);
    synchronize(device);
    peaks[rank] = max_memory_allocated(device) - before;
    held[rank] = memory_allocated(device) - before;
  });
  for (std::size_t rank = 0; rank < peaks.size(); ++rank) {
    INFO("rank " << rank);
    CHECK(peaks[rank] == predicted[rank].peak);
    CHECK(held[rank] == predicted[rank].held);
  }
}

TEST_CASE("ranks that share a device need at most the sum of theirs", "[parallel][PAR-6]") {
  const auto x = random_rows<float, 5>(Late{0}, 23);
  const auto labels = random_labels(Late{1}, 23, 3);
  const std::int64_t before = memory_allocated(Late{0});
  Stages<pipeline::OneForwardOneBackward> pipe{{Late{0}, Late{1}, Late{0}, Late{1}}};
  const pipeline::StepOptions options{.micro_batches = 5};
  const auto predicted = pipeline::memory(pipe, nn::cross_entropy, optim::Adam{}, options, x, labels);
  auto step = train_step(pipe, nn::cross_entropy, optim::Adam{}, options);
  step(x, labels);
  reset_peak_memory_stats(Late{0});
  step(x, labels);
  synchronize(Late{0});
  CHECK(memory_allocated(Late{0}) - before == predicted[0].held + predicted[2].held);
  CHECK(max_memory_allocated(Late{0}) - before <= predicted[0].peak + predicted[2].peak);
}

} // namespace
