// SPDX-License-Identifier: Apache-2.0
//
// Hooks of a network inside DataParallel: once a replica and pass, in the replica's own task, with the replica's rows, and
// without a trace in the results.

#include <twill/nn/dropout.hpp>
#include <twill/nn/linear.hpp>
#include <twill/parallel/data/data_parallel.hpp>
#include <twill/tensor/access.hpp>

#include "tests/support/four_devices.hpp"
#include "tests/support/late_device.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace twill;
using twill::test::Late;

namespace {

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 6> x) {
    return nn::linear(nn::dropout(relu(nn::linear(x, 8, "hidden")), 0.4), 3, "output");
  }
};

template <class D> using Rows = Tensor<double, D, Shape<dyn, 6>>;

/// Row r is full of r + 1.
template <class D> Rows<D> numbered_rows(std::int64_t rows, D device) {
  Rows<Cpu> x(Cpu{0}, Dims(rows, 6));
  for (std::int64_t i = 0; i < x.elements(); ++i) x.data()[i] = static_cast<double>(i / 6 + 1);
  return x.to(device);
}

template <class D> std::vector<D> first_devices(int count) {
  std::vector<D> devices{};
  for (int i = 0; i < count; ++i) devices.push_back(D{i});
  return devices;
}

template <class D> nn::Network<Mlp, D, double> seeded_network(const D& device) {
  manual_seed_all(7);
  return nn::Network<Mlp, D, double>{device};
}

/// What the hooks of all replicas noted.
template <class D> struct Notes {
  struct Call {
    D device{};
    std::thread::id thread{};
    Dims shape{};
    double first = 0;
  };
  std::mutex mutex{};
  std::vector<Call> calls{};

  /// Notes a tensor that lies on the replica's own device, which alone may read it here.
  template <class T, class S> void note(const Tensor<T, D, S>& tensor) {
    const double first = tensor(0, 0).item();
    const std::lock_guard lock{mutex};
    calls.push_back({tensor.device(), std::this_thread::get_id(), tensor.shape(), first});
  }
  /// In the order of the devices.
  std::vector<Call> sorted() {
    const std::lock_guard lock{mutex};
    std::sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) { return a.device.index < b.device.index; });
    return calls;
  }
};

struct Interrupted {};

/// A user's own kind of an error of the library.
struct TooWide : ShapeError {
  int width;
  explicit TooWide(int found) : ShapeError("too wide"), width{found} {}
};

} // namespace

TEMPLATE_TEST_CASE("hooks run once a replica, in its own task and on its own rows", "[parallel][PAR-2]", Cpu, Late) {
  auto module = seeded_network(TestType{0});
  const DataParallel parallel{module, {.devices = first_devices<TestType>(3)}};
  Notes<TestType> begin{};
  Notes<TestType> forward{};
  Notes<TestType> backward{};
  std::atomic<bool> rows_agree{true};
  module.on_forward_begin([&](const auto& x) { begin.note(x); });
  module.on_forward([&](const auto& x, const auto& y) {
    rows_agree = rows_agree && x.shape()[0] == y.shape()[0];
    forward.note(x);
  });
  module.on_backward([&](const auto& gradient) { backward.note(gradient); });

  const auto output = parallel.forward(numbered_rows(7, TestType{0}));
  sum(output).backward();
  CHECK(rows_agree);
  const std::int64_t rows[] = {3, 3, 1};
  for (auto* notes : {&begin, &forward}) {
    const auto calls = notes->sorted();
    REQUIRE(calls.size() == 3);
    for (int i = 0; i < 3; ++i) {
      const auto& call = calls[static_cast<std::size_t>(i)];
      CHECK(call.device == TestType{i});
      CHECK(call.shape == Dims(rows[i], 6));
      CHECK(call.first == 3 * i + 1);
      CHECK(call.thread != std::this_thread::get_id());
    }
    CHECK(calls[0].thread != calls[1].thread);
    CHECK(calls[1].thread != calls[2].thread);
  }
  const auto calls = backward.sorted();
  REQUIRE(calls.size() == 3);
  for (int i = 0; i < 3; ++i) {
    CHECK(calls[static_cast<std::size_t>(i)].shape == Dims(rows[i], 3));
    CHECK(calls[static_cast<std::size_t>(i)].first == 1);
    CHECK(calls[static_cast<std::size_t>(i)].thread == begin.sorted()[static_cast<std::size_t>(i)].thread);
  }
}

TEMPLATE_TEST_CASE("hooks of replicas change no bit", "[parallel][PAR-2]", Cpu, Late) {
  const auto run = [](bool watched) {
    auto module = seeded_network(TestType{0});
    Notes<TestType> notes{};
    const auto look = [&](const auto&... tensor) { (notes.note(tensor), ...); };
    if (watched) {
      module.on_forward_begin(look);
      module.on_forward(look);
      module.on_backward(look);
    }
    const DataParallel parallel{module, {.devices = first_devices<TestType>(2)}};
    manual_seed_all(5);
    const auto output = parallel.forward(numbered_rows(13, TestType{0}));
    mean(output).backward();
    std::vector<double> numbers = to_vector(output.value());
    for (const auto& part :
         {to_vector(module.template gradient<"hidden.weight">()), to_vector(module.template gradient<"output.bias">())})
      numbers.insert(numbers.end(), part.begin(), part.end());
    CHECK(notes.calls.size() == (watched ? 8U : 0U));
    return numbers;
  };
  CHECK(run(true) == run(false));
}

TEST_CASE("what a hook throws in a replica reaches the caller as it is", "[parallel][PAR-2]") {
  auto module = seeded_network(Cpu{0});
  const DataParallel parallel{module, {.devices = first_devices<Cpu>(2)}};
  const auto x = numbered_rows(4, Cpu{0});
  nn::HookHandle handle = module.on_forward([](const auto& input, const auto&) {
    if (input.device() == Cpu{1}) throw Interrupted{};
  });
  CHECK_THROWS_AS(parallel.forward(x), Interrupted);
  handle.remove();
  handle = module.on_forward([](const auto& input, const auto&) {
    if (input.device() == Cpu{1}) throw std::invalid_argument("not here");
  });
  CHECK_THROWS_AS(parallel.forward(x), std::invalid_argument);
  handle.remove();
  module.on_forward([](const auto& input, const auto&) {
    if (input.device() == Cpu{1}) throw TooWide{static_cast<int>(input.shape()[1])};
  });
  try {
    static_cast<void>(parallel.forward(x));
    FAIL("nothing was thrown");
  } catch (const TooWide& error) {
    CHECK(error.width == 6);
    CHECK(std::string(error.what()) == "too wide");
  }
}

TEST_CASE("a backward pass that a replica's hook ended leaves nothing for the next one", "[parallel][PAR-2]") {
  auto module = seeded_network(Cpu{0});
  const DataParallel parallel{module, {.devices = first_devices<Cpu>(2)}};
  const auto loss = sum(parallel.forward(numbered_rows(4, Cpu{0})));
  loss.backward();
  const auto expected = to_vector(module.gradient<"hidden.weight">());
  module.zero_grad();
  nn::HookHandle handle = module.on_backward([](const auto& gradient) {
    if (gradient.device() == Cpu{1}) throw Interrupted{};
  });
  CHECK_THROWS_AS(loss.backward(), Interrupted);
  handle.remove();
  module.zero_grad();
  loss.backward();
  CHECK(to_vector(module.gradient<"hidden.weight">()) == expected);
}
