// SPDX-License-Identifier: Apache-2.0
//
// Schedules carried out by threads whose channels hold nothing, in random orders: gradients have the bits that one thread
// computes, nothing hangs, and a rank that throws is named on all of them.
#include "tests/support/simulation.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/parallel/pipeline/run/gather.hpp>
#include <twill/parallel/pipeline/run/run.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/pipeline/schedule/verify.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <cmath>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace twill;
using namespace twill::pipeline;

constexpr std::size_t width = 3;
using Row = std::vector<double>;

/// A stage y = tanh(w x), element by element, whose gradients add up over micro-batches.
struct Stage {
  Row weight;
  Row gradient = Row(width, 0);
  std::map<int, Row> inputs{}, outputs{}, cotangents{}, input_gradients{};
};

std::vector<Stage> make_stages(int count) {
  std::vector<Stage> stages;
  for (int s = 0; s < count; ++s) {
    Stage stage;
    for (std::size_t k = 0; k < width; ++k) stage.weight.push_back(0.7 + 0.1 * s + 0.01 * static_cast<double>(k));
    stages.push_back(stage);
  }
  return stages;
}
Row input_of_batch(int micro_batch) { return Row{0.1 + micro_batch, 0.5 - 0.1 * micro_batch, 0.3}; }

/// Computes the stages of one rank. The gradient of the last output is the output itself: half its square is the loss.
class Runner {
public:
  Runner(const Schedule& schedule, std::vector<Stage>& stages, std::uint64_t seed, int fail_at = -1)
      : schedule_{schedule}, stages_{stages}, random_{seed}, fail_at_{fail_at} {}

  void run_forward(int s, int m) {
    delay();
    Stage& stage = stages_[static_cast<std::size_t>(s)];
    if (s == 0)
      stage.inputs[m] = input_of_batch(m);
    else if (is_own(s - 1))
      stage.inputs[m] = stages_[static_cast<std::size_t>(s - 1)].outputs.at(m);
    Row y;
    for (std::size_t k = 0; k < width; ++k) y.push_back(std::tanh(stage.weight[k] * stage.inputs.at(m)[k]));
    stage.outputs[m] = y;
  }
  void run_input_gradient(int s, int m) {
    delay();
    Stage& stage = stages_[static_cast<std::size_t>(s)];
    if (s + 1 == schedule_.stages)
      stage.cotangents[m] = stage.outputs.at(m);
    else if (is_own(s + 1))
      stage.cotangents[m] = stages_[static_cast<std::size_t>(s + 1)].input_gradients.at(m);
    Row dx;
    for (std::size_t k = 0; k < width; ++k) dx.push_back(slope(stage, m, k) * stage.weight[k]);
    stage.input_gradients[m] = dx;
  }
  void run_weight_gradient(int s, int m) {
    delay();
    Stage& stage = stages_[static_cast<std::size_t>(s)];
    for (std::size_t k = 0; k < width; ++k) stage.gradient[k] += slope(stage, m, k) * stage.inputs.at(m)[k];
    stage.inputs.erase(m);
    stage.cotangents.erase(m);
  }
  void run_backward(int s, int m) {
    run_input_gradient(s, m);
    run_weight_gradient(s, m);
  }

  Message input(int s, int m) { return room(stages_[static_cast<std::size_t>(s)].inputs[m]); }
  Message output(int s, int m) { return room(sent_[{s, m}] = stages_[static_cast<std::size_t>(s)].outputs.at(m)); }
  Message output_gradient(int s, int m) { return room(stages_[static_cast<std::size_t>(s)].cotangents[m]); }
  Message input_gradient(int s, int m) { return room(stages_[static_cast<std::size_t>(s)].input_gradients.at(m)); }
  void output_is_sent(int s, int m) { sent_.erase({s, m}); }
  void input_gradient_is_sent(int, int) {}

  [[nodiscard]] std::size_t unsent() const { return sent_.size(); }

private:
  static Message room(Row& row) {
    row.resize(width);
    return {{row.data(), static_cast<std::int64_t>(width), DType::float64}};
  }
  [[nodiscard]] bool is_own(int other) const { return schedule_.rank(other) == schedule_.rank(other_of_); }
  static double slope(const Stage& stage, int m, std::size_t k) {
    const double y = stage.outputs.at(m)[k];
    return stage.cotangents.at(m)[k] * (1 - y * y);
  }
  void delay() {
    if (fail_at_ == 0) throw std::runtime_error("out of luck");
    --fail_at_;
    if (random_() % 4 == 0) twill::test::pass(std::chrono::microseconds(random_() % 300));
  }

public:
  int other_of_ = 0; ///< some stage of this rank

private:
  const Schedule& schedule_;
  std::vector<Stage>& stages_;
  std::mt19937_64 random_;
  std::map<std::pair<int, int>, Row> sent_{};
  int fail_at_;
};

std::vector<Row> gradients_of(const std::vector<Stage>& stages) {
  std::vector<Row> all;
  for (const Stage& stage : stages) all.push_back(stage.gradient);
  return all;
}

std::vector<Row> gradients_of_one_thread(int count, int micro_batches) {
  auto stages = make_stages(count);
  const Schedule schedule = read_schedule({""}, count, micro_batches);
  Schedule alone = schedule;
  for (int& rank : alone.rank_of) rank = 0;
  Runner runner{alone, stages, 1};
  for (int m = 0; m < micro_batches; ++m) {
    for (int s = 0; s < count; ++s) runner.run_forward(s, m);
    for (int s = count; s-- > 0;) runner.run_backward(s, m);
  }
  return gradients_of(stages);
}

template <class S> void check_runs(int ranks, int micro_batches, int runs, std::uint64_t seed) {
  INFO(S::name << ", " << ranks << " ranks, " << micro_batches << " micro-batches, seed " << seed);
  const Schedule schedule = pipeline::schedule<S>(ranks, micro_batches);
  const auto expected = gradients_of_one_thread(schedule.stages, micro_batches);
  for (int run_number = 0; run_number < runs; ++run_number) {
    twill::test::Simulation simulation{seed + static_cast<std::uint64_t>(run_number)};
    auto stages = make_stages(schedule.stages);
    std::vector<std::size_t> actions(static_cast<std::size_t>(ranks));
    const auto play = [&](auto& communicator) {
      const int rank = communicator.rank();
      Runner runner{schedule, stages, seed + static_cast<std::uint64_t>(100 * run_number + rank)};
      for (int s = 0; s < schedule.stages; ++s)
        if (schedule.rank(s) == rank) runner.other_of_ = s;
      const auto events = pipeline::run(schedule, communicator, runner).computed;
      actions[static_cast<std::size_t>(rank)] = events.size();
      if (runner.unsent() != 0) throw std::runtime_error("an output was not given back");
    };
    simulation.run([&] {
      auto communicators = parallel::thread_communicators(std::vector<Cpu>(static_cast<std::size_t>(ranks), Cpu{0}),
                                                          {.timeout_ms = 60000});
      parallel::run_ranks(communicators, play);
    });
    CHECK(gradients_of(stages) == expected);
    for (int rank = 0; rank < ranks; ++rank) {
      std::size_t computed = 0;
      for (const Action& action : schedule.order(rank)) computed += is_computed(action.work) ? 1 : 0;
      CHECK(actions[static_cast<std::size_t>(rank)] == computed);
    }
  }
}

TEST_CASE("a thousand runs in random orders, with delays, end, with the bits of one thread", "[parallel][PAR-6]") {
  const std::uint64_t seed = twill::test::test_seed();
  for (const int ranks : {1, 2, 3, 4}) {
    check_runs<GPipe>(ranks, 5, 42, seed);
    check_runs<OneForwardOneBackward>(ranks, 5, 42, seed);
    check_runs<Interleaved<2>>(ranks, 2 * ranks, 42, seed);
    check_runs<ZeroBubbleH1>(ranks, ranks + 1, 42, seed);
    check_runs<ZeroBubbleH2>(ranks, 2 * ranks, 42, seed);
    check_runs<ZeroBubbleV>(ranks, 5, 42, seed);
  }
}

TEST_CASE("a rank that throws at any action ends all ranks with its error", "[parallel][PAR-9]") {
  const Schedule schedule = pipeline::schedule<OneForwardOneBackward>(3, 4);
  for (int failing = 0; failing < 3; ++failing)
    for (int action = 0; action < 8; ++action) {
      auto stages = make_stages(3);
      auto communicators = parallel::thread_communicators(std::vector<Cpu>(3, Cpu{0}), {.timeout_ms = 60000});
      std::vector<std::string> told(3);
      CHECK_THROWS_WITH(parallel::run_ranks(communicators,
                                            [&](auto& communicator) {
                                              const int rank = communicator.rank();
                                              Runner runner{schedule, stages, 1, rank == failing ? action : -1};
                                              runner.other_of_ = rank;
                                              try {
                                                pipeline::run(schedule, communicator, runner);
                                                communicator.run(parallel::Call::barrier());
                                              } catch (const std::exception& error) {
                                                told[static_cast<std::size_t>(rank)] = error.what();
                                                throw;
                                              }
                                            }),
                        "out of luck");
      for (int rank = 0; rank < 3; ++rank) {
        INFO("rank " << rank << " while " << failing << " fails at " << action);
        if (rank != failing)
          CHECK_THAT(told[static_cast<std::size_t>(rank)], Catch::Contains("rank " + std::to_string(failing)));
      }
    }
}

// In real time, whose clocks are compared; nothing waits for any time to pass.
TEST_CASE("what passes between ranks is told by both, on one clock for all", "[parallel][PAR-6]") {
  const Schedule schedule = pipeline::schedule<OneForwardOneBackward>(3, 4);
  auto stages = make_stages(3);
  auto communicators = parallel::thread_communicators(std::vector<Cpu>(3, Cpu{0}), {.timeout_ms = 60000});
  std::vector<parallel::ClockOffset> offsets(3);
  std::vector<Timeline> timelines(3);
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const int rank = communicator.rank();
    const auto clock = [&] { return steady_seconds() + 1000.0 * rank; }; // as on another machine
    Runner runner{schedule, stages, 1};
    runner.other_of_ = rank;
    const double begin = steady_seconds();
    const RankTimeline own = pipeline::run(schedule, communicator, runner, begin);
    const auto at = static_cast<std::size_t>(rank);
    offsets[at] = parallel::clock_offset(communicator, clock);
    timelines[at] = gather_timeline(communicator, own, begin + 1000.0 * rank, offsets[at]);
    if (parallel::clock_offset(communicator).offset_s != 0) throw std::runtime_error("threads have one clock");
  });
  double error = 1e-6;
  for (int rank = 0; rank < 3; ++rank) {
    const parallel::ClockOffset& offset = offsets[static_cast<std::size_t>(rank)];
    CHECK(std::fabs(offset.offset_s + 1000 * rank) <= offset.error_s + 1e-6);
    error = std::fmax(error, offset.error_s + 1e-6);
  }
  const Timeline& timeline = timelines[1];
  CHECK(timeline.makespan() == timelines[2].makespan());
  const auto computed = [&](int rank, const Action& action) {
    for (const TimedAction& event : timeline.ranks[static_cast<std::size_t>(rank)])
      if (event.action == action) return event;
    throw std::runtime_error("an action is missing: " + to_string(action));
  };
  const List<TimedMessage> messages = messages_of(timeline);
  CHECK(messages.size() == 2 * 2 * 4);
  for (const TimedMessage& message : messages) {
    INFO(to_string(message.send) << " from " << message.from << " to " << message.to);
    const bool is_forward = message.send.work == Work::send_forward;
    CHECK(message.to == message.from + (is_forward ? 1 : -1));
    CHECK(message.bytes == 3 * 8);
    CHECK(message.sent <= message.delivered + 2 * error);
    const Work work = is_forward ? Work::forward : Work::backward;
    CHECK(message.sent >= computed(message.from, {work, message.send.stage, message.send.micro_batch}).end);
    const int stage = counterpart(message.send).stage;
    CHECK(message.delivered <= computed(message.to, {work, stage, message.send.micro_batch}).start);
  }
}

TEST_CASE("a group of another size is refused", "[parallel][PAR-6]") {
  const Schedule schedule = pipeline::schedule<GPipe>(3, 2);
  auto stages = make_stages(3);
  auto communicators = parallel::thread_communicators(std::vector<Cpu>(2, Cpu{0}));
  Runner runner{schedule, stages, 1};
  CHECK_THROWS_WITH(pipeline::run(schedule, communicators[0], runner),
                    "pipeline::run: the schedule has 3 ranks, the communicator 2");
}

} // namespace
