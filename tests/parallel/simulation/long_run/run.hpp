#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Long simulations of training wrappers: a seed draws the order of all steps, and for each start of a run one fault, a rank that
// is late, throws, hangs, dies or is cut off its network, or a packet that is lost. A start ends in the right bits or in errors
// that name the rank at fault on every rank, in time; the next one goes on from the newest weights that all ranks have, and the
// last one, which nothing disturbs, ends in the bits of a run without faults. Read next: main.cpp.

#include "tests/parallel/group/fake_endpoint.hpp"
#include "tests/parallel/group/faults.hpp"
#include "tests/support/four_devices.hpp"

#include <twill/core/text.hpp>
#include <twill/parallel/threads/communicator.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace twill::test::long_run {

enum class Wrong : int {
  nothing,
  is_late, ///< hangs for less than the time-out
  throws,
  hangs,
  dies,   ///< throws, and none of its packets arrives from then on
  is_cut, ///< none of its packets arrives from some packet on
  loses,  ///< one of its packets
  count
};
inline constexpr std::array<const char*, static_cast<std::size_t>(Wrong::count)> names_of_wrong{
    "nothing", "late", "throws", "hangs", "dies", "cut off", "lost packet"};

/// Counts over many seeds.
struct Tally {
  std::array<std::int64_t, static_cast<std::size_t>(Wrong::count)> met{}; ///< starts in which each kind took place
  std::int64_t starts = 0;
  std::int64_t named = 0; ///< ranks that ended in an error naming another rank
};

/// A simulated run's identity: equal for equal seeds.
struct Course {
  std::int64_t steps = 0;
  std::uint64_t trace = 0;
  friend bool operator==(const Course&, const Course&) = default;
};

/// A wrapper under test, and its simulation of a seed. throws: what is wrong
struct Wrapper {
  const char* name;
  Course (*play)(std::uint64_t seed, Tally& tally);
};

inline constexpr std::int64_t short_timeout_ms = 3000; ///< of groups in which a rank will not come
inline constexpr std::int64_t long_timeout_ms = 60'000;

/// One fault of one start.
struct Trouble {
  Wrong wrong = Wrong::nothing;
  Fault fault{};           ///< of the kinds that begin at a place in the program
  std::int64_t packet = 0; ///< number from which on, or which, is lost, of those that the rank sends

  [[nodiscard]] bool is_of_network() const { return wrong == Wrong::is_cut || wrong == Wrong::loses; }
  [[nodiscard]] std::int64_t timeout_ms() const {
    return wrong == Wrong::nothing || wrong == Wrong::throws ? long_timeout_ms : short_timeout_ms;
  }
};

[[nodiscard]] inline std::int64_t ms_since(Moment begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(parallel::detail::now() - begin).count();
}

[[nodiscard]] inline std::string to_string(const Trouble& trouble) {
  if (trouble.is_of_network())
    return join_text({"rank ", trouble.fault.rank, ": ", names_of_wrong[static_cast<std::size_t>(trouble.wrong)],
                      " at packet ", trouble.packet});
  return join_text({names_of_wrong[static_cast<std::size_t>(trouble.wrong)], ": ", test::described(trouble.fault)});
}

/// Draws faults of kinds that come before `end`, at turns up to those that a whole run takes.
class TroubleSource {
public:
  TroubleSource(std::uint64_t seed, Wrong end) : random_{seed * 0x9E3779B97F4A7C15U + 1}, end_{end} {}

  [[nodiscard]] std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  [[nodiscard]] Trouble draw(const std::vector<Turns>& turns) {
    Trouble trouble{};
    trouble.wrong = static_cast<Wrong>(1 + below(static_cast<std::uint64_t>(end_) - 1));
    trouble.fault.rank = static_cast<int>(below(turns.size()));
    trouble.packet = static_cast<std::int64_t>(below(1U << below(11)));
    const Turns& own = turns[static_cast<std::size_t>(trouble.fault.rank)];
    std::size_t place = 0;
    do place = below(own.size());
    while (own[place] == 0);
    trouble.fault.place = static_cast<Place>(place);
    trouble.fault.turn = 1 + static_cast<int>(below(static_cast<std::uint64_t>(own[place])));
    if (trouble.wrong == Wrong::is_late) trouble.fault.hang_ms = 1 + static_cast<std::int64_t>(below(1000));
    if (trouble.wrong == Wrong::is_late || trouble.wrong == Wrong::hangs) trouble.fault.kind = Kind::hangs;
    return trouble;
  }
  /// What a trial has to do for it: nothing for a fault of the network.
  [[nodiscard]] static Fault of_trial(const Trouble& trouble) {
    return trouble.wrong == Wrong::nothing || trouble.is_of_network() ? Fault{} : trouble.fault;
  }

private:
  std::mt19937_64 random_;
  Wrong end_;
};

struct OnThreads {
  using Communicator = parallel::ThreadCommunicator<Cpu>;
  static constexpr Wrong end = Wrong::dies;
  static std::vector<Communicator> group(const std::vector<Cpu>& devices, std::int64_t timeout_ms, std::uint64_t,
                                         const std::function<bool(int, int)>&) {
    return parallel::thread_communicators(devices, {.timeout_ms = timeout_ms});
  }
};

/// Packets take up to two milliseconds and overtake each other.
struct OnNetwork {
  using Communicator = FakeCommunicator<>;
  static constexpr Wrong end = Wrong::count;
  static std::vector<Communicator> group(const std::vector<Cpu>& devices, std::int64_t timeout_ms, std::uint64_t number,
                                         const std::function<bool(int, int)>& is_lost) {
    return fake_communicators(devices, timeout_ms, 1 << (number % 12), static_cast<unsigned>(number), is_lost);
  }
};

/// Where a rank begins: its weights after so many steps. Without weights it begins with those of its program.
struct Start {
  int step = 0;
  std::vector<double> weights{};
};

/// A rank's weights after each step, as it notes them.
using History = std::vector<std::vector<double>>;

/// The weights of all ranks of a run without faults, and how often each came to each place.
struct Undisturbed {
  std::vector<History> weights{};
  std::vector<Turns> turns{};
};

/// The kind of group in which a job's ranks are played.
template <class Transport> using Rank = Faulty<typename Transport::Communicator>;

template <class Transport>
[[nodiscard]] std::vector<Rank<Transport>> faulty_group(Trial& trial, int ranks, const Trouble& trouble,
                                                        std::uint64_t number) {
  const auto is_lost = [&trial, trouble, packet = std::int64_t{0}](int from, int to) mutable {
    const int rank = trouble.fault.rank;
    if (trouble.wrong == Wrong::loses) return from == rank && packet++ == trouble.packet;
    if (from != rank && to != rank) return false;
    if (trouble.wrong == Wrong::dies) return trial.was_met();
    return trouble.wrong == Wrong::is_cut && (from == rank ? packet++ : packet) >= trouble.packet;
  };
  std::vector<Cpu> devices{};
  for (int rank = 0; rank < ranks; ++rank) devices.push_back(Cpu{rank});
  std::vector<Rank<Transport>> group{};
  for (auto& each : Transport::group(devices, trouble.timeout_ms(), number, is_lost))
    group.emplace_back(std::move(each), trial);
  return group;
}

/// One start of all ranks of a job. `history` is what each has noted, from its start on.
template <class Job, class Transport>
std::vector<Ending> start(Trial& trial, const Trouble& trouble, std::uint64_t number, const std::vector<Start>& from,
                          std::vector<History>& history) {
  auto group = faulty_group<Transport>(trial, Job::ranks, trouble, number);
  history.assign(static_cast<std::size_t>(Job::ranks), {});
  return play(trial, group, [&](Rank<Transport>& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    Job::train(communicator, from[rank], [&](std::vector<double> weights) { history[rank].push_back(weights); });
  });
}

template <class Job> [[nodiscard]] const Undisturbed& undisturbed() {
  static const Undisturbed known = [] {
    Undisturbed run{};
    Trial none{{}};
    const auto endings = start<Job, OnThreads>(none, {}, 0, std::vector<Start>(Job::ranks), run.weights);
    for (const Ending& ending : endings)
      if (!ending.is_done) throw std::logic_error(join_text({"a run without faults: ", ending.text}));
    for (int rank = 0; rank < Job::ranks; ++rank) {
      Turns turns{};
      for (std::size_t place = 0; place < turns.size(); ++place)
        turns[place] = none.count(rank, static_cast<Place>(place));
      run.turns.push_back(turns);
    }
    return run;
  }();
  return known;
}

/// Checks the ends of a start's ranks. Returns whether all are done. throws: std::logic_error
[[nodiscard]] inline bool check_start(const std::vector<Ending>& endings, const Trouble& trouble, bool was_met,
                                      std::int64_t took_ms, Tally& tally) {
  const auto fail = [&](std::size_t rank, const char* what) {
    std::string all = join_text({to_string(trouble), ": rank ", rank, " ", what, ", after ", took_ms, " ms"});
    for (std::size_t other = 0; other < endings.size(); ++other)
      all = join_text({all, "\n  rank ", other, ": ", endings[other].is_done ? "done" : endings[other].text, " | ",
                       endings[other].again});
    throw std::logic_error(all);
  };
  const bool is_harmless = trouble.wrong == Wrong::nothing || trouble.wrong == Wrong::is_late || !was_met;
  bool all_done = true;
  for (std::size_t rank = 0; rank < endings.size(); ++rank) {
    const Ending& ending = endings[rank];
    all_done = all_done && ending.is_done;
    if (ending.is_done) continue;
    if (is_harmless) fail(rank, "has not come to its end");
    if (ending.again.empty()) fail(rank, "goes on in a group that has failed");
    const bool is_culprit = static_cast<int>(rank) == trouble.fault.rank;
    if (is_culprit && (trouble.wrong == Wrong::throws || trouble.wrong == Wrong::dies)) {
      if (!ending.is_injected) fail(rank, "has not thrown its own exception");
      continue;
    }
    if (ending.origin < 0) fail(rank, "names no rank");
    ++tally.named;
    if (trouble.wrong == Wrong::loses || (is_culprit && trouble.wrong == Wrong::is_cut)) continue; // none is at fault
    if (ending.origin != trouble.fault.rank) fail(rank, "names another one");
  }
  const std::int64_t limit_ms = trouble.wrong == Wrong::throws ? long_timeout_ms / 2 : 3 * short_timeout_ms;
  if (!is_harmless && took_ms > limit_ms) fail(0, "has heard of it too late");
  return all_done;
}

/// The simulation of a seed. throws: std::logic_error for wrong bits, a wrong culprit or a rank that hears of it too late
template <class Job, class Transport> Course play_seed(std::uint64_t seed, Tally& tally) {
  const Undisturbed& right = undisturbed<Job>();
  const std::vector<std::int64_t> before = bytes_in_use(Job::ranks);
  Simulation simulation{seed};
  simulation.run([&] {
    TroubleSource source{seed, Transport::end};
    std::vector<Start> from(Job::ranks);
    const std::uint64_t faults = source.below(4);
    for (std::uint64_t number = 0;; ++number) {
      const Trouble trouble = number < faults ? source.draw(right.turns) : Trouble{};
      Trial trial{TroubleSource::of_trial(trouble)};
      std::vector<History> history{};
      const Moment begin = parallel::detail::now();
      const auto endings = start<Job, Transport>(trial, trouble, source.below(1U << 20), from, history);
      ++tally.starts;
      const bool was_met = trial.was_met() || trouble.is_of_network();
      if (was_met || number >= faults) ++tally.met[static_cast<std::size_t>(trouble.wrong)];
      const bool all_done = check_start(endings, trouble, was_met, ms_since(begin), tally);
      std::size_t fewest = history[0].size();
      for (std::size_t rank = 0; rank < history.size(); ++rank) {
        fewest = std::min(fewest, history[rank].size());
        for (std::size_t i = 0; i < history[rank].size(); ++i)
          if (history[rank][i] != right.weights[rank][static_cast<std::size_t>(from[0].step) + i])
            throw std::logic_error(join_text({to_string(trouble), ": rank ", rank, " has wrong bits after step ",
                                              from[0].step + static_cast<int>(i) + 1}));
        if (endings[rank].is_done && from[0].step + static_cast<int>(history[rank].size()) != Job::steps)
          throw std::logic_error(join_text({to_string(trouble), ": rank ", rank, " has left out steps"}));
      }
      if (all_done) break;
      if (fewest == 0) continue;
      for (std::size_t rank = 0; rank < from.size(); ++rank)
        from[rank] = {from[rank].step + static_cast<int>(fewest), history[rank][fewest - 1]};
    }
  });
  if (bytes_in_use(Job::ranks) != before) throw std::logic_error("memory is not given back");
  return {simulation.steps(), simulation.trace()};
}

} // namespace twill::test::long_run
