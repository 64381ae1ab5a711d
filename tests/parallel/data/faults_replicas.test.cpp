// SPDX-License-Identifier: Apache-2.0
//
// Replicas and ranks of one process that throw or hang inside of forward pass, loss, backward pass and update: the caller gets
// the exception that was thrown, or the name of who hangs; a step that has failed refuses to go on with the same words, nothing is
// leaked, and a fresh one trains to the bits of a run in which nothing went wrong. Each run is a simulation of another seed.

#include "tests/parallel/group/faults.hpp"
#include "tests/support/four_devices.hpp"
#include "tests/training/models.hpp"

#include <twill/nn/linear.hpp>
#include <twill/nn/tensor_parallel.hpp>
#include <twill/parallel/data/data_parallel_step.hpp>
#include <twill/parallel/model/tensor_parallel.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

using Ranks = RankAxis<"tensor", 2>;
struct Plain {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
    return nn::linear(fault_point<Place::forward>(tanh(nn::linear(x, 6, "hidden"))), 3, "output");
  }
};
struct Divided {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
    const auto hidden = fault_point<Place::forward>(tanh(nn::column_linear<Ranks>(x, 6, "hidden")));
    return nn::row_linear<Ranks>(hidden, 3, "output");
  }
};

constexpr int steps = 2;
constexpr int rows = 5;

std::vector<double> numbers_of(const nn::StateDict& state) {
  std::vector<double> numbers;
  for (const auto& [name, tensor] : state.entries())
    for (std::size_t i = 0; i < tensor.bytes.size() / sizeof(double); ++i)
      numbers.push_back(nn::detail::element_of(tensor.dtype, tensor.bytes.data(), i));
  return numbers;
}

/// `f(step, weights)` with a fresh step of two replicas, and of two ranks.
struct OnReplicas {
  static constexpr const char* name = "replicas";
  template <class F> static void play(std::int64_t timeout_ms, const F& f) {
    manual_seed_all(7);
    nn::Network<Plain, Cpu, double> module{Cpu{0}};
    DataParallel parallel{module, {.devices = {Cpu{0}, Cpu{1}}, .timeout_ms = timeout_ms}};
    auto step = train_step(parallel, faulty_loss, FaultySgd{});
    const auto x = waves<4>(Cpu{0}, rows);
    const auto y = waves<3>(Cpu{0}, rows);
    f([&] { return static_cast<double>(step(x, y).item()); }, [&] { return weights_of(module); });
  }
};
struct OnRanks {
  static constexpr const char* name = "ranks";
  template <class F> static void play(std::int64_t timeout_ms, const F& f) {
    manual_seed_all(7);
    TensorParallel<Divided, Ranks, Cpu, double> model{{Cpu{0}, Cpu{1}}, {.timeout_ms = timeout_ms}};
    auto step = train_step(model, faulty_loss, FaultySgd{});
    const auto x = waves<4>(Cpu{0}, rows);
    const auto y = waves<3>(Cpu{0}, rows);
    f([&] { return step(x, y); }, [&] { return numbers_of(model.state_dict()); });
  }
};

template <class Wrapper> void check_faults() {
  std::vector<double> expected;
  Turns turns{};
  const auto undisturbed = [&] {
    std::vector<double> weights;
    Trial none{{}};
    Wrapper::play(60'000, [&](const auto& step, const auto& weights_now) {
      for (int i = 0; i < steps; ++i) static_cast<void>(step());
      weights = weights_now();
    });
    turns = turns_of(none, 2);
    return weights;
  };
  expected = undisturbed();
  const std::vector<std::int64_t> before = bytes_in_use(2);
  std::uint64_t seed = 0;
  int late = 0;
  const auto check = [&](const Fault& fault) {
    Simulation simulation{++seed};
    INFO(Wrapper::name << ": " << described(fault) << ", seed " << seed);
    const std::string culprit = "rank " + std::to_string(fault.rank) + " on cpu:" + std::to_string(fault.rank);
    Trial trial{fault};
    const auto play = [&](const auto& step, const auto& weights_now) {
      int named = -1;
      std::string text;
      try {
        for (int i = 0; i < steps; ++i) static_cast<void>(step());
      } catch (const Injected& error) {
        named = error.rank;
      } catch (const parallel::TimeoutError& error) {
        named = error.rank();
        text = error.what();
        CHECK(text.find(culprit) != std::string::npos);
      }
      if (named < 0 && fault.kind == Kind::hangs) { // nobody waited for it: it was late
        CHECK(weights_now() == expected);
        ++late;
        return;
      }
      CHECK(named == fault.rank);
      std::string again;
      try {
        static_cast<void>(step());
      } catch (const parallel::CommunicatorError& error) {
        again = error.what();
      }
      INFO(text << " | " << again);
      CHECK(again.find(culprit) != std::string::npos);
      CHECK((text.empty() || again == text));
    };
    simulation.run([&] { Wrapper::play(timeout_ms_for(fault), play); });
    CHECK(trial.was_met());
    CHECK(bytes_in_use(2) == before);
  };
  for (const Place place : {Place::forward, Place::loss, Place::backward, Place::update})
    for (int turn = 1; turn <= turns[static_cast<std::size_t>(place)]; ++turn)
      for (int rank = 0; rank < 2; ++rank) {
        check({rank, place, turn, Kind::throws});
        check({rank, place, turn, Kind::hangs, long_enough_ms}); // nobody knows here when the other has ended
      }
  CHECK(late < static_cast<int>(seed) / 2); // of the hanging ones
  CHECK(undisturbed() == expected);
}

} // namespace

TEST_CASE("a replica that throws or hangs anywhere in a step ends it, by its own type or by its name",
          "[parallel][PAR-9][PAR-2]") {
  check_faults<OnReplicas>();
}
TEST_CASE("so does a rank of a divided model", "[parallel][PAR-9]") { check_faults<OnRanks>(); }

TEST_CASE("a staged pass in which a replica throws leaves nothing, and the next one is as if it had not been",
          "[parallel][PAR-9][PAR-2]") {
  manual_seed_all(7);
  nn::Network<Plain, Cpu, double> module{Cpu{0}};
  const DataParallel parallel{module, {.devices = {Cpu{0}, Cpu{1}, Cpu{2}}}};
  const auto x = waves<4>(Cpu{0}, rows);
  const auto y = waves<3>(Cpu{0}, rows);
  const auto pass = [&] {
    module.zero_grad();
    const auto loss = faulty_loss(parallel.forward(x), y);
    loss.backward();
    return gradients_of(module);
  };
  const std::vector<double> expected = pass();
  module.zero_grad();
  const std::vector<double> weights = weights_of(module);
  const std::vector<std::int64_t> before = bytes_in_use(3);
  for (const Place place : {Place::forward, Place::loss, Place::backward})
    for (int rank = 0; rank < (place == Place::loss ? 1 : 3); ++rank) { // the loss is the first device's
      INFO(described(Fault{rank, place}));
      Trial trial{{.rank = rank, .place = place}};
      CHECK_THROWS_AS(pass(), Injected);
      CHECK(trial.was_met());
      module.zero_grad();
      CHECK(bytes_in_use(3) == before);
      CHECK(weights_of(module) == weights);
      CHECK(pass() == expected);
      module.zero_grad();
    }
}
