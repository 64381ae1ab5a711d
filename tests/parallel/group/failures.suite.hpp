#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What every communicator does when a rank throws, leaves, hangs or calls out of order. `run(timeout_ms, f)` has to call
// `f(communicator)` on every rank of a fresh group of at least two and rethrow what it throws. Whoever hangs does so until the
// others have told that they are through; where ranks are processes of their own nobody can tell, and it takes its time.

#include "tests/parallel/group/collectives.suite.hpp"
#include "tests/support/simulation.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace twill::test {

/// The text of the CommunicatorError that `f` has to end in.
template <class F> [[nodiscard]] std::string error_of(const std::string& what, F f) {
  try {
    f();
  } catch (const CommunicatorError& error) {
    return error.what();
  }
  throw std::logic_error(what + ": expected an error");
}

inline void require_in(const std::string& part, const std::string& text) {
  require(text.find(part) != std::string::npos, "expected '" + part + "' in '" + text + "'");
}

[[nodiscard]] inline std::string rank_text(int rank) { return "rank " + std::to_string(rank); }

struct FailureOptions {
  bool are_threads = true; ///< the ranks; else processes, whose time is real: one time-out shows that it comes
};

/// What ranks that are threads tell each other beside their communicators.
class Gate {
public:
  explicit Gate(FailureOptions options) : options_{options} {}

  /// Counts the rank as one that is through, at the end of a scope that an exception may end.
  class Through {
  public:
    explicit Through(Gate& gate) : gate_{&gate} {}
    Through(const Through&) = delete;
    Through& operator=(const Through&) = delete;
    ~Through() { ++gate_->through_; }

  private:
    Gate* gate_;
  };

  /// Waits until so many are through, for two minutes at most; for so long where they cannot tell.
  void wait_for(int others, std::int64_t or_ms) const {
    const Moment end = parallel::detail::after_ms(options_.are_threads ? 120'000 : or_ms);
    while (!(options_.are_threads && through_ >= others) && parallel::detail::now() < end)
      pass(std::chrono::milliseconds(Simulation::current() == nullptr ? 1 : 20));
  }

private:
  FailureOptions options_;
  std::atomic<int> through_{0};
};

/// A sub-group's failure reaches all of its ranks and leaves the group alone.
template <class Run> void check_rank_that_throws(Run run) {
  run(60'000, [](auto& world) {
    const int size = world.size();
    for (const int culprit : {0, size - 1}) {
      auto group = world.split(0, world.rank());
      barrier(group);
      barrier(world); // nobody fails while another is still in the first call
      if (group.rank() == culprit) group.fail(std::make_exception_ptr(std::runtime_error("the disk is full")));
      const auto wait = [&] {
        for (int turn = 0; turn < 3; ++turn) barrier(group);
      };
      const std::string text = error_of("a rank that throws", wait);
      require_in(rank_text(culprit), text);
      require_in("failed: the disk is full", text);
      require(error_of("a group that has failed", wait) == text, "a group failed twice");
      try {
        barrier(group);
      } catch (const CommunicatorError& error) {
        require(error.rank() == culprit, "an error names another rank in its text than in its number");
      }
      int ranks = 1;
      all_reduce(world, &ranks, 1);
      require(ranks == size, "a sub-group's failure has reached its parent");
    }
  });
}

template <class Run> void check_ranks_out_of_order(Run run) {
  run(60'000, [](auto& world) {
    {
      auto group = world.split(0, world.rank());
      float value = 1;
      const std::string text = error_of("ranks out of order", [&] {
        if (group.rank() == 1)
          broadcast(group, &value, 1, 0);
        else
          all_reduce(group, &value, 1);
      });
      require_in("ranks have lost step in call 1: rank 0", text);
      require_in("calls all_reduce(sum) of 1 float32, rank 1", text);
      require_in("calls broadcast of 1 float32 from rank 0", text);
    }
    {
      auto group = world.split(0, world.rank());
      double values[3] = {};
      const std::string text =
          error_of("sizes that differ", [&] { all_reduce(group, values, group.rank() == 0 ? 2 : 3, Reduction::max); });
      require_in("all_reduce(max) of 2 float64", text);
      require_in("all_reduce(max) of 3 float64", text);
    }
    {
      auto group = world.split(0, world.rank());
      float values[5] = {};
      const std::string text = error_of("a message of two sizes", [&] {
        if (group.rank() == 0) send(group, values, 5, 1);
        if (group.rank() == 1) receive(group, values, 4, 0);
        while (true) barrier(group); // the others hear of it here
      });
      require_in("a message differs on its two sides: ", text);
      require_in("calls send of 5 float32 to rank 1", text);
      require_in("calls receive of 4 float32 from rank 0", text);
    }
    barrier(world);
  });
}

template <class Run> void check_rank_that_leaves(Run run) {
  run(60'000, [](auto& world) {
    const int last = world.size() - 1;
    {
      auto group = world.split(0, world.rank());
      barrier(group);
      barrier(world);
      if (group.rank() != last) {
        const std::string text = error_of("a rank that leaves", [&] { barrier(group); });
        require_in(rank_text(last), text);
        require_in("left the group after 1 collective call, the last: barrier", text);
      }
    }
    try {
      auto group = world.split(0, world.rank());
      barrier(group);
      barrier(world);
      if (group.rank() == last) throw std::runtime_error("broken");
      const std::string text = error_of("a rank that leaves with an exception", [&] { barrier(group); });
      require_in(rank_text(last), text);
      require_in("left the group with an exception after 1 collective call, the last: barrier", text);
    } catch (const std::runtime_error& error) {
      require(error.what() == std::string("broken"), error.what());
    }
    { // whatever was begun is finished first
      auto group = world.split(0, world.rank());
      float value = 1;
      auto handle = group.start(Call::all_reduce(elements(&value, 1)));
      group = decltype(world.split(0, 0))();
      handle.wait();
      require(value == static_cast<float>(world.size()), "a call that was begun was dropped");
    }
    barrier(world);
  });
}

/// One rank really hangs, for longer than the others wait.
template <class Run> void check_rank_that_hangs(Run run, FailureOptions options = {}) {
  constexpr std::int64_t timeout_ms = 2000;
  constexpr std::int64_t hang_ms = 3 * timeout_ms;
  Gate first(options);
  run(timeout_ms, [&](auto& world) {
    const int last = world.size() - 1;
    float value = 1;
    if (world.rank() == last) first.wait_for(last, hang_ms);
    const Gate::Through through(first);
    const std::string text = error_of("a rank that hangs", [&] { all_reduce(world, &value, 1); });
    require_in("all_reduce(sum) of 1 float32: missing after 2000 ms: ", text);
    require_in(rank_text(last), text);
    require_in("before its first collective call", text);
    require(error_of("a group that has failed", [&] { barrier(world); }) == text, "a group failed twice");
  });
  if (!options.are_threads) return;
  Gate second(options);
  run(timeout_ms, [&](auto& world) {
    float value = 1;
    if (world.rank() == 1) second.wait_for(world.size() - 1, hang_ms);
    const Gate::Through through(second);
    const std::string text = error_of("a sender that hangs", [&] {
      if (world.rank() == 0) receive(world, &value, 1, 1, 3);
      barrier(world);
    });
    require_in(rank_text(1), text);
  });
  Gate third(options);
  run(timeout_ms, [&](auto& world) { // a handle tells once
    if (world.rank() == 0) third.wait_for(world.size() - 1, hang_ms);
    const Gate::Through through(third);
    float value = 1;
    std::optional<typename std::remove_cvref_t<decltype(world)>::Handle> handle;
    static_cast<void>(error_of("a started call", [&] {
      handle.emplace(world.start(Call::all_reduce(elements(&value, 1)))); // the late rank may be told already here
      handle->wait();
    }));
    if (handle) handle->wait();
  });
}

/// Everybody waits for somebody who waits for rank 0, which hangs: all name it. Of three ranks each waits for the one before; of
/// four, rank 3 waits for 1 in one sub-group, 1 for 0 in another, and 2 for 0 in a third. All begin at about the same time.
template <class Run> void check_chain_of_ranks(Run run, FailureOptions options = {}) {
  constexpr std::int64_t timeout_ms = 6000; // ranks begin to wait within much less
  Gate gate(options);
  run(timeout_ms, [&](auto& world) {
    const int rank = world.rank();
    if (world.size() < 3) return;
    const std::string text = error_of("a chain of ranks", [&] {
      float value = 1;
      auto columns = world.split(rank % 2, rank);
      auto lines = world.split(rank / 2, rank);
      if (rank == 0) gate.wait_for(world.size() - 1, timeout_ms * 5 / 3);
      const Gate::Through through(gate);
      if (world.size() == 3) {
        if (rank > 0) receive(world, &value, 1, rank - 1);
        while (true) barrier(world);
      }
      while (true) { // rank 0 may find what the others sent for the first round
        barrier(lines);
        barrier(columns);
      }
    });
    if (rank > 0) require_in("rank 0 on ", text); // as the group of all counts
    if (rank == 3) require_in("rank 1 on ", text);
  });
}

/// Rank 1 has waited for rank 0 in vain and then takes a message that was through before; rank 2, whose time-out is later, still
/// hears of rank 0.
template <class Run> void check_blame_that_lasts(Run run, FailureOptions options = {}) {
  constexpr std::int64_t timeout_ms = 4000;
  Gate first(options);  // rank 1 has taken its message
  Gate second(options); // rank 2 has heard
  run(timeout_ms, [&](auto& world) {
    const int rank = world.rank();
    if (world.size() < 3) return;
    auto upper = world.split(rank < 2 ? 0 : 1, rank);
    auto lower = world.split(rank == 1 || rank == 2 ? 1 : 0, rank);
    float value = 1;
    if (rank == 0) {
      receive(upper, &value, 1, 1);
      second.wait_for(1, 4 * timeout_ms);
    }
    if (rank == 1) {
      {
        const Gate::Through through(first);
        auto handle = upper.start(Call::send(elements(&value, 1), 0));
        while (!handle.is_done()) pass(std::chrono::microseconds(20));
        const std::string text = error_of("a rank that hangs", [&] { barrier(upper); });
        require_in("rank 0 on ", text);
        handle.wait();
      }
      second.wait_for(1, 2 * timeout_ms);
    }
    if (rank == 2) {
      const Gate::Through through(second);
      first.wait_for(1, timeout_ms / 2);
      const std::string text = error_of("a rank behind one that hangs", [&] { barrier(lower); });
      require_in("rank 0 on ", text);
    }
  });
}

/// The group takes its sub-groups with it, and a new one is whole.
template <class Run> void check_group_that_fails(Run run) {
  run(60'000, [](auto& world) {
    const int last = world.size() - 1;
    const std::string text = error_of("a parent that fails", [&] {
      auto group = world.split(world.rank() == last ? 1 : 0, 0);
      if (world.rank() == last) world.fail(std::make_exception_ptr(std::runtime_error("no power")));
      while (true) {
        barrier(group);
        pass(std::chrono::microseconds(1));
      }
    });
    require_in(rank_text(last), text);
    require_in("failed: no power", text);
  });
  run(60'000, [](auto& world) {
    int ranks = 1;
    all_reduce(world, &ranks, 1);
    require(ranks == world.size(), "the next group is not whole");
  });
}

template <class Run> void check_failures(Run run, FailureOptions options = {}) {
  check_rank_that_throws(run);
  check_ranks_out_of_order(run);
  check_rank_that_leaves(run);
  check_group_that_fails(run);
  check_rank_that_hangs(run, options);
  if (!options.are_threads) return;
  check_chain_of_ranks(run, options);
  check_blame_that_lasts(run, options);
}

} // namespace twill::test
