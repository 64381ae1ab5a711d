// SPDX-License-Identifier: Apache-2.0
//
// The suites of communicators over NCCL's, on a table of NCCL's functions on the host. Reductions are equal within tolerance.
// Left out is what NCCL has not: tags, messages that wait for a receive while others pass, `any` and `all` of numbers, names
// of ranks that are missing or out of step.

#include "tests/parallel/group/collectives.suite.hpp"
#include "tests/parallel/group/failures.suite.hpp"
#include "tests/parallel/group/mesh.suite.hpp"
#include "tests/parallel/nccl/fake_nccl.hpp"

#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

using namespace twill;
using namespace twill::parallel;

namespace {

/// A rank of NCCL's whose calls end when they return, as the suites expect of elements on the host.
class Finished {
public:
  using Device = test::FakeGpu;

  class Handle {
  public:
    Handle(test::FakeCommunicator& rank, test::FakeCommunicator::Handle handle)
        : rank_{&rank}, handle_{std::move(handle)} {}
    Handle(Handle&& other) noexcept : rank_{std::exchange(other.rank_, nullptr)}, handle_{std::move(other.handle_)} {}
    Handle& operator=(Handle&& other) noexcept {
      std::swap(rank_, other.rank_);
      std::swap(handle_, other.handle_);
      return *this;
    }
    ~Handle() {
      try {
        wait();
      } catch (const CommunicatorError&) { // later calls say so
      }
    }
    void wait() {
      test::FakeCommunicator* const rank = std::exchange(rank_, nullptr);
      if (rank == nullptr) return;
      handle_.wait();
      rank->finish();
    }
    [[nodiscard]] bool is_done() const { return rank_ == nullptr || handle_.is_done(); }

  private:
    test::FakeCommunicator* rank_;
    test::FakeCommunicator::Handle handle_;
  };

  Finished() = default;
  explicit Finished(test::FakeCommunicator rank) : rank_{std::make_unique<test::FakeCommunicator>(std::move(rank))} {}

  [[nodiscard]] int rank() const { return rank_ ? rank_->rank() : 0; }
  [[nodiscard]] int size() const { return rank_ ? rank_->size() : 0; }
  [[nodiscard]] Device device() const { return rank_->device(); }
  [[nodiscard]] std::int64_t timeout_ms() const { return rank_->timeout_ms(); }
  [[nodiscard]] const OperationTraffic& traffic() const { return rank_->traffic(); }
  void run(const Call& call) {
    rank_->run(call);
    rank_->finish();
  }
  [[nodiscard]] Handle start(const Call& call) { return {*rank_, rank_->start(call)}; }
  [[nodiscard]] Finished split(int color, int key) { return Finished(rank_->split(color, key)); }
  void fail(const std::exception_ptr& cause) { rank_->fail(cause); }

private:
  std::unique_ptr<test::FakeCommunicator> rank_{}; // handles know where it is
};

std::vector<Finished> group_of(int ranks, std::int64_t timeout_ms = 60'000) {
  std::vector<Finished> group;
  for (auto& each : test::fake_communicators(ranks, {.timeout_ms = timeout_ms})) group.emplace_back(std::move(each));
  return group;
}

} // namespace

template <> struct twill::test::Abilities<Finished> {
  static constexpr bool reduces_in_rank_order = false;
  static constexpr bool reduces(Reduction reduction, DType dtype) {
    return dtype == DType::boolean || (reduction != Reduction::any && reduction != Reduction::all);
  }
};

TEST_CASE("ranks of NCCL do what every communicator does, within tolerance", "[parallel][PAR-4]") {
  for (const int ranks : {1, 2, 3, 4}) {
    test::FakeNetwork::get().reset();
    auto group = group_of(ranks);
    run_ranks(group, [](Finished& rank) {
      test::check_collectives(rank);
      test::check_handles(rank);
      test::check_sub_groups(rank);
      test::check_traffic(rank);
      test::check_mesh(rank);
    });
  }
}

TEST_CASE("ranks of NCCL in a ring may start a receive before they send", "[parallel][PAR-4]") {
  test::FakeNetwork::get().reset();
  auto group = group_of(3);
  run_ranks(group, [](Finished& rank) {
    const int next = (rank.rank() + 1) % 3;
    const int previous = (rank.rank() + 2) % 3;
    for (int turn = 0; turn < 3; ++turn) {
      int mine = 10 * rank.rank() + turn;
      int other = -1;
      auto receiving = rank.start(Call::receive(elements(&other, 1), previous));
      send(rank, &mine, 1, next);
      receiving.wait();
      test::require(other == 10 * previous + turn, "a started receive is wrong");
    }
  });
}

TEST_CASE("ranks of NCCL tell every rank who threw, and groups take their sub-groups with them", "[parallel][PAR-9]") {
  for (const int ranks : {2, 4}) {
    const auto run = [&](std::int64_t timeout_ms, auto f) {
      test::FakeNetwork::get().reset();
      auto group = group_of(ranks, timeout_ms);
      run_ranks(group, f);
    };
    test::check_rank_that_throws(run);
    test::check_group_that_fails(run);
  }
}
