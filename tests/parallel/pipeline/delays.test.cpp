// SPDX-License-Identifier: Apache-2.0
//
// A thousand steps of a real model in stages whose actions and messages are held up at random, in the time and the order of a
// simulation, over channels that hold nothing: a send ends when it is received. Nothing hangs, and the gradients have the bits of a step in which nothing was held up.
#include "tests/support/four_devices.hpp"
#include "tests/support/simulation.hpp"
#include "tests/support/test_seed.hpp"
#include "tests/training/models.hpp"

#include <twill/nn/linear.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/parallel/pipeline/model/cut.hpp>
#include <twill/parallel/pipeline/model/pipeline.hpp>
#include <twill/parallel/pipeline/run/run.hpp>
#include <twill/parallel/pipeline/run/runner.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/pipeline/schedule/verify.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace twill;
using namespace twill::test;
using graph::Value;

/// Four stages, of which the first makes what the last uses.
struct Model {
  static constexpr Value forward(Input<Dim<"batch">, 5> x) {
    const Value low = nn::stage_boundary(tanh(nn::linear(x, 6, "lower")));
    const Value one = nn::stage_boundary(tanh(nn::linear(low, 6, "one")));
    const Value two = nn::stage_boundary(tanh(nn::linear(one, 6, "two")));
    return nn::linear(two + low, 3, "head");
  }
};
template <class S> using Stages = pipeline::BasicPipeline<S, float, Cpu, pipeline::Cut<Model>>;

/// Some microseconds, now and then.
class Delays {
public:
  explicit Delays(std::uint64_t seed) : random_{seed} {}
  void wait() {
    if (random_() % 4 == 0) pass(std::chrono::microseconds(random_() % 100));
  }

private:
  std::mt19937_64 random_;
};

/// A communicator that is slow to begin.
template <class C> class Slow {
public:
  using Device = typename C::Device;
  Slow() = default;
  Slow(C& rank, std::uint64_t seed) : rank_{&rank}, delays_{seed} {}

  [[nodiscard]] int rank() const { return rank_->rank(); }
  [[nodiscard]] int size() const { return rank_->size(); }
  [[nodiscard]] auto device() const { return rank_->device(); }
  [[nodiscard]] std::int64_t timeout_ms() const { return rank_->timeout_ms(); }
  [[nodiscard]] const auto& traffic() const { return rank_->traffic(); }
  void run(const parallel::Call& call) { rank_->run(call); }
  [[nodiscard]] auto start(const parallel::Call& call) {
    delays_.wait();
    return rank_->start(call);
  }
  [[nodiscard]] Slow split(int, int) { return {}; }
  void fail(const std::exception_ptr& cause) { rank_->fail(cause); }

private:
  C* rank_ = nullptr;
  Delays delays_{0};
};

/// A runner that is slow before and behind each action.
template <class Runner> class SlowRunner : public Runner {
public:
  template <class... Arguments>
  explicit SlowRunner(std::uint64_t seed, Arguments&&... arguments)
      : Runner(std::forward<Arguments>(arguments)...), delays_{seed} {}
  void run_forward(int stage, int m) {
    slowly([&] { Runner::run_forward(stage, m); });
  }
  void run_backward(int stage, int m) {
    slowly([&] { Runner::run_backward(stage, m); });
  }
  void run_input_gradient(int stage, int m) {
    slowly([&] { Runner::run_input_gradient(stage, m); });
  }
  void run_weight_gradient(int stage, int m) {
    slowly([&] { Runner::run_weight_gradient(stage, m); });
  }

private:
  template <class F> void slowly(F f) {
    delays_.wait();
    f();
    delays_.wait();
  }
  Delays delays_;
};

template <class P> std::vector<float> gradients_of(P& pipe) {
  std::vector<float> all;
  pipe.for_each_stage([&](auto& network) {
    for (const auto& view : network.parameters()) {
      const auto* const first = static_cast<const float*>(view.gradient.data());
      all.insert(all.end(), first, first + view.shape.elements());
    }
  });
  return all;
}

template <class S> void check_runs(int micro_batches, std::int64_t rows, int runs) {
  using P = Stages<S>;
  INFO(S::name << ", " << micro_batches << " micro-batches of " << rows << " rows, seed " << test_seed());
  std::vector<Cpu> devices;
  for (int rank = 0; rank < P::ranks; ++rank) devices.push_back(Cpu{rank % 2});
  P pipe{devices};
  const auto x = random_rows<float, 5>(Cpu{0}, rows);
  const auto labels = random_labels(Cpu{0}, rows, 3);
  const std::tuple<decltype(x)&> inputs{x};
  const auto schedule = pipeline::schedule<S>(P::ranks, micro_batches);
  const auto pieces = pipeline::detail::micro_batches_of(rows, micro_batches);
  const pipeline::StageCheckpointing checkpointing{pipeline::Checkpointing::except_last};
  const auto loss = nn::cross_entropy;
  using Runner = pipeline::detail::ModelRunner<P, decltype(loss), std::tuple<decltype(x)&>, decltype(labels)>;
  using C = Slow<parallel::ThreadCommunicator<Cpu>>;
  std::vector<float> expected;
  int different = 0;
  for (int run = 0; run <= runs; ++run) {
    Simulation simulation{test_seed() + static_cast<std::uint64_t>(run)};
    pipeline::detail::begin_step(pipe);
    const auto play = [&](auto& member) {
      const auto seed = test_seed() + static_cast<std::uint64_t>(100 * run + 2 * member.rank());
      if (run == 0) {
        Runner runner{pipe, schedule, loss, pieces, inputs, labels, member.rank(), checkpointing};
        pipeline::run(schedule, member, runner);
      } else {
        C slow{member, seed};
        SlowRunner<Runner> runner{seed + 1, pipe, schedule, loss, pieces, inputs, labels, member.rank(), checkpointing};
        pipeline::run(schedule, slow, runner);
      }
    };
    simulation.run([&] {
      auto communicators = parallel::thread_communicators(devices, {.timeout_ms = 60000});
      parallel::run_ranks(communicators, play);
    });
    if (run == 0) expected = gradients_of(pipe);
    different += gradients_of(pipe) == expected ? 0 : 1;
  }
  CHECK(expected.size() == 5 * 6 + 6 + 2 * (6 * 6 + 6) + 6 * 3 + 3);
  CHECK(different == 0);
}

TEST_CASE("a thousand steps that are held up at random end, with the same bits", "[parallel][PAR-6]") {
  check_runs<pipeline::GPipe>(4, 7, 170); // 2, 2, 2, 1
  check_runs<pipeline::OneForwardOneBackward>(5, 9, 170);
  check_runs<pipeline::Interleaved<2>>(4, 7, 170);
  check_runs<pipeline::ZeroBubbleH1>(4, 7, 170);
  check_runs<pipeline::ZeroBubbleH2>(7, 13, 150);
  check_runs<pipeline::ZeroBubbleV>(4, 7, 170);
}

} // namespace
