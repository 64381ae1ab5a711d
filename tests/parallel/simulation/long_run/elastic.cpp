// SPDX-License-Identifier: Apache-2.0
//
// Long simulations of elastic training under `parallel::Reproducible`: groups of threads that lose ranks, and processes on a
// network that die, are cut off or throw, save what they hold and start again, as many as before or fewer. Every run ends in the
// weights and states of one that nothing disturbed.

#include "tests/parallel/data/elastic_training.hpp"
#include "tests/parallel/simulation/long_run/wrappers.hpp"
#include "tests/support/temporary_folder.hpp"

#include <twill/parallel/threads/elastic.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

namespace twill::test::long_run {
namespace {

using parallel::ElasticState;

/// Throws unless the weights, the rule's states and the random draws of two runs are equal.
void require_equal(const io::Checkpoint& found, const io::Checkpoint& wanted) {
  for (const char* part : {"model", "optimiser"}) {
    const nn::StateDict own = found.state(part);
    const nn::StateDict other = wanted.state(part);
    for (const auto& [name, tensor] : other.entries())
      if (own.find(name) == nullptr || !std::ranges::equal(own.find(name)->bytes, tensor.bytes))
        throw std::logic_error(join_text({"ends in other bits of ", part, ", ", name}));
  }
  for (const char* draw : {"random.device", "random.model"})
    if (!(io::draw_of(found, draw) == io::draw_of(wanted, draw)))
      throw std::logic_error(join_text({"ends with another draw, ", draw}));
}

const io::Checkpoint& undisturbed_end() {
  static const auto end = [] {
    manual_seed_all(7);
    ElasticState state{};
    auto one = parallel::thread_communicators(std::vector{Cpu{0}});
    elastic::train<0>(one[0], state, elastic::batch_of);
    return state.newest();
  }();
  return *end;
}

void require_end(const ElasticState& state) {
  if (state.step() != elastic::steps) throw std::logic_error(join_text({"ends after step ", state.step()}));
  require_equal(*state.newest(), undisturbed_end());
}

/// A fault of a device's rank before its batch of a step.
struct EarlyEnd {
  Wrong wrong = Wrong::nothing;
  std::int64_t step = 0;
};

/// Threads: up to three devices of four fail, each at a step of its own, by throwing or by coming too late.
template <int Stage> Course play_threads(std::uint64_t seed, Tally& tally) {
  static_cast<void>(undisturbed_end());
  Simulation simulation{seed};
  simulation.run([&] {
    std::mt19937_64 random{seed * 0x9E3779B97F4A7C15U + 2};
    std::array<EarlyEnd, 4> faults{}; // by device
    constexpr Wrong kinds[] = {Wrong::nothing, Wrong::is_late, Wrong::throws, Wrong::hangs};
    for (EarlyEnd& fault : faults) fault = {kinds[random() % 4], static_cast<std::int64_t>(random() % 7)};
    faults[random() % 4].wrong = Wrong::nothing; // one is left
    std::array<bool, 4> was_met{};
    manual_seed_all(7);
    ElasticState state{};
    const std::size_t ranks = 2 + random() % 2;
    const std::vector<Cpu> devices = first_devices(static_cast<int>(ranks));
    parallel::ElasticOptions<Cpu> options{.most_restarts = 8, .timeout_ms = 1000};
    for (std::size_t spare = ranks; spare < 4; ++spare) options.spares.push_back(Cpu{static_cast<int>(spare)});
    const auto batch = [&](const auto& rank, std::int64_t step, const parallel::Rows& own) {
      const auto device = static_cast<std::size_t>(rank.device().index);
      const EarlyEnd& fault = faults[device];
      if (fault.wrong != Wrong::nothing && fault.step == step && !std::exchange(was_met[device], true)) {
        ++tally.met[static_cast<std::size_t>(fault.wrong)];
        if (fault.wrong == Wrong::throws) throw std::runtime_error("the device is gone");
        pass(std::chrono::milliseconds(fault.wrong == Wrong::hangs ? 2500 : 200));
      }
      return elastic::batch_of(rank, step, own);
    };
    const auto report = parallel::run_elastic(
        devices, options, [&](auto& communicator) { elastic::train<Stage>(communicator, state, batch); });
    tally.starts += 1 + report.restarts;
    require_end(state);
    for (const parallel::RankFailure& failure : report.failures) {
      bool is_known = false;
      for (std::size_t device = 0; device < 4; ++device)
        is_known = is_known || (was_met[device] && failure.device == to_string(Cpu{static_cast<int>(device)}) &&
                                (faults[device].wrong == Wrong::throws || faults[device].wrong == Wrong::hangs));
      if (!is_known) throw std::logic_error(join_text({"gives up ", failure.device, ": ", failure.text}));
      ++tally.named;
    }
    if (report.longest_stop_s > 4) throw std::logic_error("stops for too long");
  });
  return {simulation.steps(), simulation.trace()};
}

/// Processes: each start has up to four ranks and one fault; those left save the newest commit, and a later start finds it.
template <int Stage> Course play_processes(std::uint64_t seed, Tally& tally) {
  static_cast<void>(undisturbed_end());
  const TemporaryFolder folder{};
  Simulation simulation{seed};
  simulation.run([&] {
    TroubleSource source{seed, Wrong::count};
    const std::uint64_t faults = source.below(4);
    std::int64_t reached = 0;
    for (std::uint64_t number = 0;; ++number) {
      const auto ranks = static_cast<int>(1 + source.below(4));
      Trouble trouble{};
      if (number < faults && ranks > 1) {
        const Turns calls{60, 0, 0, 0, 0};
        trouble = source.draw(std::vector<Turns>(static_cast<std::size_t>(ranks), calls));
      }
      Trial trial{TroubleSource::of_trial(trouble)};
      std::vector<std::optional<ElasticState>> states(static_cast<std::size_t>(ranks));
      for (auto& state : states) state.emplace(parallel::ElasticFiles{.folder = folder.path, .save_every = 4});
      if (states[0]->step() < reached)
        throw std::logic_error(join_text({"step ", reached, " was committed, and ", states[0]->step(), " is found"}));
      manual_seed_all(7);
      auto group = faulty_group<OnNetwork>(trial, ranks, trouble, source.below(1U << 20));
      const Moment begin = parallel::detail::now();
      const auto endings = play(trial, group, [&](Rank<OnNetwork>& communicator) {
        ElasticState& state = *states[static_cast<std::size_t>(communicator.rank())];
        state.set_process_rank(communicator.rank());
        try {
          elastic::train<Stage>(communicator, state, elastic::batch_of);
        } catch (...) { // as in `run_elastic`
          communicator.fail(std::current_exception());
          throw;
        }
      });
      ++tally.starts;
      const bool was_met = trial.was_met() || trouble.is_of_network();
      if (was_met || trouble.wrong == Wrong::nothing) ++tally.met[static_cast<std::size_t>(trouble.wrong)];
      const bool all_done = check_start(endings, trouble, was_met, ms_since(begin), tally);
      reached = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        ElasticState& state = *states[static_cast<std::size_t>(rank)];
        if (endings[static_cast<std::size_t>(rank)].is_done && rank == 0) require_end(state);
        if (trouble.wrong == Wrong::dies && was_met && rank == trouble.fault.rank) continue; // its memory is gone
        if (rank < 2) reached = std::max(reached, state.step());
        state.save();
      }
      if (all_done) break;
    }
    require_end(ElasticState{parallel::ElasticFiles{.folder = folder.path}});
  });
  return {simulation.steps(), simulation.trace()};
}

} // namespace

void add_elastic(std::vector<Wrapper>& all) {
  all.push_back({"elastic DDP, threads", &play_threads<0>});
  all.push_back({"elastic ZeRO-3, threads", &play_threads<3>});
  all.push_back({"elastic DDP, processes", &play_processes<0>});
  all.push_back({"elastic ZeRO-3, processes", &play_processes<3>});
}

} // namespace twill::test::long_run
