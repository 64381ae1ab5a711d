// SPDX-License-Identifier: Apache-2.0
//
// Parts of a model in device slots, run in stages: results, gradients and steps are those of one device, and what is in
// different slots really runs at once. Planned steps: tests/training/slot_steps.test.cpp.

#include <twill/memory.hpp>
#include <twill/nn.hpp>
#include <twill/optim.hpp>
#include <twill/training.hpp>

#include "tests/support/late_device.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace twill;
using twill::test::Late;

namespace {

/// A model with branches, a weight that two slots use, random draws and a buffer; without slots it is the same on one device.
template <bool HasSlots> struct Branches {
  static constexpr graph::Value away(graph::Value x) { return HasSlots ? nn::to(x, nn::Slot{1}) : x; }
  static constexpr graph::Value back(graph::Value x) { return HasSlots ? nn::to(x, nn::Slot{0}) : x; }

  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    const auto tied = nn::parameter(x.graph(), "tied", {7, 7}, nn::initialise::fan_in_uniform(7));
    const auto left = tanh(nn::linear(x, 7, "left"));
    const auto right = nn::dropout(sigmoid(nn::linear(away(x), 7, "right")), 0.4);
    const auto made = nn::linear(left, tied); // and there the weight lies
    // Its vectors are updated before anybody says where they lie.
    const auto bounded = nn::spectral_norm(x.graph(), "bounded", {7, 7}, nn::initialise::fan_in_uniform(7));
    const auto both = away(made) * nn::linear(nn::linear(right, bounded), away(tied));
    return nn::linear(back(nn::batch_norm(both, "norm")) + left, 3, "last");
  }
};

template <std::int64_t Width> Tensor<double, Cpu, Shape<dyn, Width>> rows(std::int64_t count) {
  Tensor<double, Cpu, Shape<dyn, Width>> x(Cpu{0}, Dims(count, Width));
  for (std::int64_t i = 0; i < count * Width; ++i) x.data()[i] = std::sin(static_cast<double>(3 * i + 1));
  return x;
}

void append(std::vector<double>& found, const nn::StateDict& state) {
  for (const auto& [name, tensor] : state.entries())
    for (std::size_t i = 0; i < tensor.bytes.size() / sizeof(double); ++i) {
      double number = 0;
      std::memcpy(&number, tensor.bytes.data() + i * sizeof(double), sizeof(double));
      found.push_back(number);
    }
}

/// Losses, gradients and weights of some steps, and what the model then infers.
template <class M, class D> std::vector<double> trained(std::vector<D> devices) {
  manual_seed(devices[0], 5);
  nn::Network<M, D, double> model{devices};
  training::Optimiser optimiser{model, optim::MomentumSgd{{.rate = 0.1}}};
  const auto x = rows<5>(4).to(devices[0]);
  const auto y = rows<3>(4).to(devices[0]);
  std::vector<double> found;
  for (int i = 0; i < 3; ++i) {
    model.zero_grad();
    for (int part = 0; part < 2; ++part) { // gradients add up
      const auto loss = nn::mse(model.forward(x), y);
      loss.backward();
      found.push_back(loss.item());
    }
    optimiser.step();
  }
  const auto gradient = model.template gradient<"tied">().to(Cpu{0});
  const auto inferred = model.infer(x).to(Cpu{0});
  synchronize(Cpu{0});
  found.insert(found.end(), gradient.data(), gradient.data() + gradient.elements());
  found.insert(found.end(), inferred.data(), inferred.data() + inferred.elements());
  append(found, nn::state_dict(model));
  return found;
}

// Kernels that wait for each other: whoever runs them one after the other waits for ever.

struct Meeting {
  std::mutex mutex{};
  std::condition_variable changed{};
  int arrived = 0;
  int missed = 0;

  void arrive() {
    std::unique_lock lock{mutex};
    const int both = (arrived / 2 + 1) * 2;
    ++arrived;
    changed.notify_all();
    if (!changed.wait_for(lock, std::chrono::seconds{20}, [&] { return arrived >= both; })) ++missed;
  }
};
Meeting meeting{};

inline constexpr graph::Operation meet_operation{.name = "meet", .wants_dense = true};
constexpr graph::Value meet(graph::Value x) { return graph::add_operation(meet_operation, {x}, x.dtype(), x.shape()); }

struct Meets {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    const auto first = meet(nn::to(x, nn::Slot{1})); // until slot 0 has gone on
    const auto made = tanh(x);
    const auto copied = nn::to(made, nn::Slot{1}); // waits behind the first meeting, and nobody waits for it
    const auto here = meet(made);
    return first + copied + nn::to(here, nn::Slot{1});
  }
};

} // namespace

template <> struct twill::KernelOf<&meet_operation> {
  template <class T> static void run(const Team&, const kernel::Launch& launch) {
    meeting.arrive();
    std::memcpy(launch.operands[1].data, launch.operands[0].data,
                static_cast<std::size_t>(launch.shapes[0].elements()) * sizeof(T));
  }
};

namespace {

TEST_CASE("a model whose parts lie in slots trains with the bits of one device", "[nn][PAR-5]") {
  using M = Branches<true>;
  const std::vector<double> one = trained<M, Cpu>({Cpu{0}, Cpu{0}});
  CHECK(trained<M, Cpu>({Cpu{0}, Cpu{1}}) == one);
  CHECK(trained<M, Cpu>({Cpu{1}, Cpu{0}}) == one);
  CHECK(trained<M, Late>({Late{0}, Late{1}}) == one);
  CHECK(trained<M, Late>({Late{1}, Late{1}}) == one);
  const std::vector<double> whole = trained<Branches<false>, Cpu>({Cpu{0}}); // other kernels
  REQUIRE(whole.size() == one.size());
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(whole[i] == Approx(one[i]).epsilon(1e-12).margin(1e-14));
}

TEMPLATE_TEST_CASE("branches in two slots run at once, and a copy beside both", "[nn][PAR-5]", Cpu, Late) {
  const nn::Network<Meets, TestType, double> model{std::vector{TestType{0}, TestType{1}}};
  const auto x = rows<5>(3).to(TestType{0});
  const int before = meeting.arrived;
  for (int i = 0; i < 3; ++i) {
    const auto result = model.infer(x).to(Cpu{0});
    synchronize(TestType{1});
    synchronize(Cpu{0});
    CHECK(result.data()[4] == std::sin(13.0) + 2 * std::tanh(std::sin(13.0)));
  }
  CHECK(meeting.arrived == before + 6);
  CHECK(meeting.missed == 0);
}

/// What a task returns, unless it takes longer than any does.
std::vector<double> result_of(Pending<std::vector<double>>& task) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{120};
  while (!task.is_complete() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  if (!task.is_complete()) FAIL("the task waits for ever");
  return task.wait();
}

TEST_CASE("a model in slots trains in tasks of its own devices, which use each other's, with the same bits",
          "[nn][PAR-5]") {
  using M = Branches<true>;
  const std::vector<double> one = trained<M, Cpu>({Cpu{0}, Cpu{0}});
  auto first = submit(Cpu{0}, [] { return trained<M, Cpu>({Cpu{0}, Cpu{1}}); });
  auto second = submit(Cpu{1}, [] { return trained<M, Cpu>({Cpu{1}, Cpu{0}}); });
  CHECK(result_of(first) == one);
  CHECK(result_of(second) == one);
}

TEST_CASE("weights lie in their slots and move with them", "[nn][PAR-5]") {
  using Network = nn::Network<Branches<true>, Late, double>;
  STATIC_REQUIRE(Network::slots == 2);
  STATIC_REQUIRE(nn::Network<Branches<false>>::slots == 1);
  Network model{std::vector{Late{0}, Late{2}}};
  for (const auto& view : model.parameters()) {
    if (view.name == "norm.num_batches_tracked") continue; // a count of its own, of no operand
    INFO(view.name);
    const bool is_away = !view.name.starts_with("left") && !view.name.starts_with("last") && view.name != "tied";
    CHECK((view.buffer.device() == (is_away ? Late{2} : Late{0})));
  }
  const nn::StateDict state = nn::state_dict(model);
  const auto x = rows<5>(4);
  const auto before = model.infer(x.to(Late{0})).to(Cpu{0});
  model.to(std::vector{Late{1}, Late{3}});
  CHECK(model.device() == Late{1});
  CHECK(model.devices()[1] == Late{3});
  const auto after = model.infer(x.to(Late{1})).to(Cpu{0});
  Network other{Late{0}};
  nn::load_state_dict(other, state);
  const auto loaded = other.infer(x.to(Late{0})).to(Cpu{0});
  synchronize(Cpu{0});
  for (std::int64_t i = 0; i < 12; ++i) {
    CHECK(after.data()[i] == before.data()[i]);
    CHECK(loaded.data()[i] == before.data()[i]);
  }
  CHECK_THROWS_WITH((Network{std::vector{Late{0}, Late{1}, Late{2}}}),
                    Catch::Contains("into 2 device slots, 3 devices were given"));
  CHECK_THROWS_WITH(model.infer(x.to(Late{3})), Catch::Contains("late:3"));
}

} // namespace
