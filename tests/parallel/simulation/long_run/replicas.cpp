// SPDX-License-Identifier: Apache-2.0
//
// Long simulations of steps of one caller, whose ranks are threads of the library: DataParallel, and a pipeline of three stages.
// A step ends with the exception of a rank or with its name, and the next start goes on from the newest weights.

#include "tests/parallel/simulation/long_run/jobs.hpp"
#include "tests/parallel/simulation/long_run/wrappers.hpp"

#include <twill/parallel/data/data_parallel_step.hpp>
#include <twill/parallel/pipeline/run/step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>

#include <string>

namespace twill::test::long_run {
namespace {

constexpr int steps = 5;

struct Replicas {
  static constexpr int ranks = 3;

  template <class Note> static void train(std::int64_t timeout_ms, const Start& from, const Note& note) {
    nn::Network<Plain, Cpu, double> module{Cpu{0}};
    begin_at(module, from);
    DataParallel parallel{module, {.devices = {Cpu{0}, Cpu{1}, Cpu{2}}, .timeout_ms = timeout_ms}};
    auto step = train_step(parallel, faulty_loss, FaultySgd{});
    for (int i = from.step; i < steps; ++i) {
      static_cast<void>(step(batch_of<inputs>(Cpu{0}, i, 0, 8), batch_of<outputs>(Cpu{0}, i, 0, 8)));
      note(weights_of(module));
    }
  }
};

struct StagesOfOneStep {
  static constexpr int ranks = 3;

  template <class Note> static void train(std::int64_t timeout_ms, const Start& from, const Note& note) {
    pipeline::BasicPipeline<pipeline::OneForwardOneBackward, double, Cpu, Middle, Middle, Head> pipe{
        {Cpu{0}, Cpu{1}, Cpu{2}}};
    begin_stages_at(pipe, from);
    auto step = train_step(pipe, faulty_loss, FaultySgd{}, {.micro_batches = 4, .timeout_ms = timeout_ms});
    for (int i = from.step; i < steps; ++i) {
      static_cast<void>(step(batch_of<inputs>(Cpu{0}, i, 0, 7), batch_of<outputs>(Cpu{0}, i, 0, 7)));
      note(weights_of_stages(pipe));
    }
  }
};

/// Plays a job whose caller hears of the fault. A rank that hangs returns in the end: no thread can be ended.
template <class Job> Course play_caller(std::uint64_t seed, Tally& tally) {
  static const Undisturbed right = [] {
    Undisturbed run{{History{}}, {}};
    Trial none{{}};
    Job::train(long_timeout_ms, {}, [&](std::vector<double> weights) { run.weights[0].push_back(weights); });
    for (int rank = 0; rank < Job::ranks; ++rank) {
      Turns turns{};
      for (std::size_t place = 0; place < turns.size(); ++place)
        turns[place] = none.count(rank, static_cast<Place>(place));
      run.turns.push_back(turns);
    }
    return run;
  }();
  const std::vector<std::int64_t> before = bytes_in_use(Job::ranks);
  Simulation simulation{seed};
  simulation.run([&] {
    TroubleSource source{seed, OnThreads::end};
    Start from{};
    const std::uint64_t faults = source.below(4);
    for (std::uint64_t number = 0;; ++number) {
      Trouble trouble = number < faults ? source.draw(right.turns) : Trouble{};
      if (trouble.wrong == Wrong::hangs) trouble.fault.hang_ms = 2 * short_timeout_ms;
      Trial trial{TroubleSource::of_trial(trouble)};
      History history{};
      std::string text{};
      int named = -1;
      bool is_done = false;
      const Moment begin = parallel::detail::now();
      try {
        Job::train(trouble.timeout_ms(), from, [&](std::vector<double> weights) { history.push_back(weights); });
        is_done = true;
      } catch (const Injected& error) {
        named = error.rank;
      } catch (const parallel::CommunicatorError& error) {
        text = error.what();
        named = error.rank();
      }
      ++tally.starts;
      if (trial.was_met() || number >= faults) ++tally.met[static_cast<std::size_t>(trouble.wrong)];
      if (!is_done) ++tally.named;
      const auto fail = [&](const char* what) {
        throw std::logic_error(join_text({to_string(trouble), ": the step ", what, ", after ", ms_since(begin),
                                          " ms; it says of rank ", named, ": ", text}));
      };
      const bool is_harmless = trouble.wrong == Wrong::nothing || trouble.wrong == Wrong::is_late || !trial.was_met();
      if (is_harmless && !is_done) fail("has not come to its end");
      if (!is_harmless && !is_done && named != trouble.fault.rank) fail("names another one");
      if (trouble.wrong == Wrong::throws && trial.was_met() && is_done) fail("has not heard of it");
      for (std::size_t i = 0; i < history.size(); ++i)
        if (history[i] != right.weights[0][static_cast<std::size_t>(from.step) + i]) fail("has wrong bits");
      if (is_done && from.step + static_cast<int>(history.size()) != steps) fail("has left out steps");
      if (is_done) break;
      if (!history.empty()) from = {from.step + static_cast<int>(history.size()), history.back()};
    }
  });
  if (bytes_in_use(Job::ranks) != before) throw std::logic_error("memory is not given back");
  return {simulation.steps(), simulation.trace()};
}

} // namespace

void add_replicas(std::vector<Wrapper>& all) {
  all.push_back({"DataParallel", &play_caller<Replicas>});
  all.push_back({"pipeline of one step", &play_caller<StagesOfOneStep>});
}

} // namespace twill::test::long_run
