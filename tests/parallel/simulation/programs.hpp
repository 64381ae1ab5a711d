#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random programs of ranks, drawn from a seed: collective calls, started ones, messages and sub-groups, whose results every rank
// computes by itself; and one fault, which ends the program on every rank with an error that names the rank at fault.

#include "tests/parallel/group/failures.suite.hpp"
#include "tests/support/simulation.hpp"

#include <twill/core/text.hpp>
#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace twill::test {

enum class Wrong : int {
  nothing,
  throws,
  hangs,
  leaves,
  differs, ///< calls another operation than the others
  dies,
  is_cut, ///< dies at some time, wherever it is
  loses,  ///< one of its packets
  count
};

/// A rank at fault, before the action of that number, or at the packet or the microsecond of that number.
struct Trouble {
  Wrong wrong = Wrong::nothing;
  int rank = 0;
  int action = 0;
  std::int64_t number = 0;
};

[[nodiscard]] inline std::string to_string(const Trouble& trouble) {
  constexpr const char* names[] = {"does nothing wrong", "throws",        "hangs", "leaves", "differs", "dies",
                                   "is cut off",         "loses a packet"};
  return join_text({"rank ", trouble.rank, " ", names[static_cast<int>(trouble.wrong)], " before action ",
                    trouble.action, ", number ", trouble.number});
}

/// What a simulation has come to on one rank.
struct RankEnd {
  bool is_done = false;
  std::string error{};  ///< of the group
  std::string thrown{}; ///< anything else
  double waited_s = 0;  ///< the longest action, in virtual seconds
};

/// A program of some ranks. Every action is one of all ranks.
class RandomProgram {
public:
  static constexpr std::int64_t timeout_ms = 1000;

  RandomProgram(std::uint64_t seed, int ranks) : ranks_{ranks} {
    std::mt19937_64 random{seed};
    const auto length = 3 + random() % 10;
    for (std::uint64_t i = 0; i < length; ++i) actions_.push_back(random());
    actions_.push_back(0); // the last one, of all ranks, hears of everything before
  }

  [[nodiscard]] int length() const { return static_cast<int>(actions_.size()); }

  /// What one rank does.
  template <class C, class Kill> void run(C& world, const Trouble& trouble, const Kill& kill, RankEnd& end) const {
    std::vector<typename C::Handle> started;
    std::vector<std::vector<double>> numbers(actions_.size());
    std::optional<C> own{std::move(world)};
    for (int i = 0; i < length(); ++i) {
      if (trouble.wrong != Wrong::nothing && trouble.rank == own->rank() && trouble.action == i) {
        if (trouble.wrong == Wrong::throws) {
          const std::runtime_error error{"the disk is full"};
          if (trouble.action % 2 == 0)
            own->fail(std::make_exception_ptr(error)); // else its group hears by the unwinding
          throw error;
        }
        if (trouble.wrong == Wrong::hangs) pass(std::chrono::milliseconds(3 * timeout_ms));
        if (trouble.wrong == Wrong::dies) kill(trouble.rank);
        if (trouble.wrong == Wrong::leaves) {
          started.clear();
          return own.reset();
        }
      }
      const Moment before = parallel::detail::now();
      const auto note = [&] {
        end.waited_s = std::max(end.waited_s, std::chrono::duration<double>(parallel::detail::now() - before).count());
      };
      try {
        const bool differs = trouble.wrong == Wrong::differs && trouble.rank == own->rank() && trouble.action == i;
        act(*own, actions_[static_cast<std::size_t>(i)] + (differs ? 1 : 0), numbers[static_cast<std::size_t>(i)],
            started);
      } catch (const parallel::CommunicatorError& error) {
        note();
        end.error = error.what();
        bool is_again = false;
        try {
          parallel::barrier(*own);
        } catch (const parallel::CommunicatorError& again) {
          is_again = true;
        }
        const bool is_of_part = actions_[static_cast<std::size_t>(i)] % 9 == 6; // which leaves the group alone
        if (!is_again && !is_of_part) end.thrown = "a group that has failed goes on";
        throw;
      }
      note();
    }
    end.is_done = true;
  }

private:
  static void require_all(const std::vector<double>& found, double wanted, const char* what) {
    for (const double each : found)
      if (each != wanted)
        throw std::logic_error(std::string(what) + " gave " + std::to_string(each) + " for " + std::to_string(wanted));
  }

  template <class C>
  void act(C& world, std::uint64_t action, std::vector<double>& own, std::vector<typename C::Handle>& started) const {
    using parallel::Call;
    const int rank = world.rank();
    const auto count = static_cast<std::size_t>(1 + action / 16 % 70);
    const int root = static_cast<int>(action / 5000 % static_cast<std::uint64_t>(ranks_));
    own.assign(count, rank + 1);
    const auto n = static_cast<std::int64_t>(count);
    const double sum = ranks_ * (ranks_ + 1) / 2.0;
    switch (action % 9) {
    case 0:
      for (auto& handle : std::exchange(started, {})) handle.wait();
      return parallel::barrier(world);
    case 1:
      parallel::all_reduce(world, own.data(), n);
      return require_all(own, sum, "all_reduce");
    case 2:
      parallel::broadcast(world, own.data(), n, root);
      return require_all(own, root + 1, "broadcast");
    case 3: { // reduced while the next actions run, and waited for at some barrier
      started.push_back(world.start(Call::all_reduce(parallel::elements(own.data(), n))));
      return;
    }
    case 4: { // around a ring
      if (ranks_ == 1) return;
      std::vector<double> taken(count, -1);
      auto sending = world.start(Call::send(parallel::elements(own.data(), n), (rank + 1) % ranks_, root));
      parallel::receive(world, taken.data(), n, (rank + ranks_ - 1) % ranks_, root);
      sending.wait();
      return require_all(taken, (rank + ranks_ - 1) % ranks_ + 1, "a message");
    }
    case 5: { // from the root to all others, one after the other
      for (int other = 0; other < ranks_; ++other) {
        if (other == root) continue;
        if (rank == root) parallel::send(world, own.data(), n, other);
        if (rank == other) parallel::receive(world, own.data(), n, root);
      }
      return require_all(own, root + 1, "a message of the root");
    }
    case 6: {
      for (auto& handle : std::exchange(started, {})) handle.wait();
      auto part = world.split(rank % 2, -rank);
      double ranks = 1;
      parallel::all_reduce(part, &ranks, 1);
      return require_all({ranks}, part.size(), "all_reduce of a sub-group");
    }
    case 7: {
      std::vector<double> all(count * static_cast<std::size_t>(ranks_), -1);
      parallel::all_gather(world, own.data(), all.data(), n);
      for (int other = 0; other < ranks_; ++other)
        require_all({all.begin() + other * n, all.begin() + (other + 1) * n}, other + 1, "all_gather");
      return;
    }
    default: { // a part of each rank for each
      std::vector<double> in(count * static_cast<std::size_t>(ranks_), rank + 1);
      std::vector<double> out(in.size(), -1);
      parallel::all_to_all(world, in.data(), out.data(), n);
      for (int other = 0; other < ranks_; ++other)
        require_all({out.begin() + other * n, out.begin() + (other + 1) * n}, other + 1, "all_to_all");
    }
    }
  }

  int ranks_;
  std::vector<std::uint64_t> actions_;
};

/// Runs a program on a group, each rank with the fault if it is its own. `kill(rank)` takes a rank off its network.
template <class C, class Kill>
std::vector<RankEnd> run_program(const RandomProgram& program, std::vector<C>& group, const Trouble& trouble,
                                 const Kill& kill) {
  std::vector<RankEnd> ends(group.size());
  parallel::run_ranks(group, [&](C& world) {
    RankEnd& end = ends[static_cast<std::size_t>(world.rank())];
    try {
      program.run(world, trouble, kill, end);
    } catch (const parallel::CommunicatorError& error) {
      end.error = error.what();
    } catch (const std::exception& error) {
      end.thrown = error.what();
    }
  });
  return ends;
}

/// Whether the ranks have ended as they should have. throws: what is wrong
inline void check_ends(const std::vector<RankEnd>& ends, const Trouble& trouble) {
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    const RankEnd& end = ends[rank];
    const auto fail = [&](const char* what) {
      std::string all = join_text({to_string(trouble), ": rank ", rank, " ", what});
      for (std::size_t other = 0; other < ends.size(); ++other)
        all = join_text({all, "\n  rank ", other, ": ", ends[other].is_done ? "done" : "", ends[other].error, " ",
                         ends[other].thrown});
      throw std::logic_error(all);
    };
    if (trouble.wrong == Wrong::nothing) {
      if (!end.is_done) fail("has not come to its end");
      continue;
    }
    if (!end.is_done && end.error.empty() && end.thrown.empty() && trouble.wrong != Wrong::leaves) fail("has no end");
    const bool is_told = trouble.wrong == Wrong::throws || trouble.wrong == Wrong::leaves;
    if (is_told && end.waited_s > 0.5e-3 * RandomProgram::timeout_ms) fail("has heard of it by a time-out");
    if (end.waited_s > 1.5e-3 * RandomProgram::timeout_ms) fail("has waited for longer than the time-out");
    if (static_cast<int>(rank) == trouble.rank && trouble.wrong != Wrong::hangs && trouble.wrong != Wrong::loses)
      continue;
    if (!end.thrown.empty()) fail("has thrown something else");
    if (trouble.wrong == Wrong::loses || trouble.wrong == Wrong::differs) continue; // by itself no rank is at fault
    if (trouble.wrong == Wrong::is_cut && end.is_done) continue;                    // it had what it needed
    if (end.is_done) fail("has not heard of it");
    if (end.error.find(join_text({"rank ", trouble.rank, " on "})) == std::string::npos) fail("names another one");
  }
}

} // namespace twill::test
