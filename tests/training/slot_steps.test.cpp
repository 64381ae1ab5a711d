// SPDX-License-Identifier: Apache-2.0
//
// Planned steps and accumulated ones of models whose parts lie in device slots: the bits of one device, with a loss scale and
// clipping over all slots, and in each slot the bytes that were predicted.

#include <twill/memory.hpp>
#include <twill/nn.hpp>
#include <twill/optim.hpp>
#include <twill/training.hpp>

#include "tests/support/late_device.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

using namespace twill;
using twill::test::Late;

namespace {

struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    const auto hidden = tanh(nn::linear(x, 40, "hidden"));
    const auto away = relu(nn::linear(nn::dropout(nn::to(hidden, nn::Slot{1}), 0.3), 24, "away"));
    const auto more = nn::to(nn::linear(nn::tap(hidden, "hidden"), 24, "more"), nn::Slot{1});
    return nn::linear(away + more, 3, "last");
  }
};

template <class T, class D, std::int64_t Width>
Tensor<T, D, Shape<dyn, Width>> rows(std::int64_t count, const D& device) {
  Tensor<T, Cpu, Shape<dyn, Width>> x(Cpu{0}, Dims(count, Width));
  for (std::int64_t i = 0; i < count * Width; ++i)
    x.data()[i] = static_cast<T>(std::sin(static_cast<double>(3 * i + 1)));
  return x.to(device);
}

template <class Network> void append(std::vector<float>& found, const Network& model) {
  const nn::StateDict state = nn::state_dict(model);
  for (const auto& [name, tensor] : state.entries())
    for (std::size_t i = 0; i < tensor.bytes.size() / sizeof(float); ++i) {
      float number = 0;
      std::memcpy(&number, tensor.bytes.data() + i * sizeof(float), sizeof(float));
      found.push_back(number);
    }
}

auto rule() { return optim::loss_scaled(optim::clip_norm(optim::Adam{{.rate = 0.01}}, 0.5)); }

template <class D> std::vector<float> trained(std::vector<D> devices) {
  manual_seed(devices[0], 5);
  nn::Network<Model, D> model{devices};
  const auto x = rows<float, D, 5>(6, devices[0]);
  const auto y = rows<float, D, 3>(6, devices[1]);
  std::vector<float> found;
  std::string where;
  auto step = train_step(model, nn::mse, rule());
  {
    const auto hook = model.on_tap("hidden", [&](const compile::Observation& seen) {
      where = seen.device;
      found.push_back(static_cast<float>(seen.values[7]));
    });
    found.push_back(step(x, y).item());
  }
  CHECK(where == to_string(devices[0]));
  for (int i = 0; i < 2; ++i) found.push_back(step(x, y).item());
  found.push_back(static_cast<float>(step.state(optim::gradient_norm_state)));
  auto accumulated = accumulated_step(model, nn::mse, rule());
  for (int i = 0; i < 2; ++i) {
    accumulated.add(x, y);
    accumulated.add(x, y);
    found.push_back(accumulated.finish().item());
  }
  append(found, model);
  return found;
}

/// What the pool of a device holds, and has held at most, since a moment.
template <class D> class Counted {
public:
  explicit Counted(const D& device) : device_{device}, before_{memory_allocated(device)} {
    reset_peak_memory_stats(device);
  }
  [[nodiscard]] std::int64_t peak() const { return max_memory_allocated(device_) - before_; }

private:
  D device_;
  std::int64_t before_;
};

} // namespace

TEST_CASE("planned and accumulated steps of a model in slots have the bits of one device", "[training][PAR-5]") {
  const std::vector<float> one = trained<Cpu>({Cpu{0}, Cpu{0}});
  CHECK(one[5] != one[4]);
  CHECK(trained<Cpu>({Cpu{0}, Cpu{1}}) == one);
  CHECK(trained<Late>({Late{2}, Late{0}}) == one);
}

TEMPLATE_TEST_CASE("the peak of each slot is what was predicted, to the byte", "[training][PAR-5][MEM-8]", Cpu, Late,
                   Meta) {
  const std::vector<TestType> devices{TestType{0}, TestType{1}};
  const auto x = rows<float, TestType, 5>(101, devices[0]);
  const auto y = rows<float, TestType, 3>(101, devices[1]);
  synchronize(devices[0]);
  synchronize(devices[1]);
  const Counted<TestType> first{devices[0]};
  const Counted<TestType> second{devices[1]};
  nn::Network<Model, TestType> model{devices};
  auto step = train_step(model, nn::mse, rule());
  using Source =
      typename decltype(step)::template source<std::remove_const_t<decltype(x)>, std::remove_const_t<decltype(y)>>;
  constexpr compile::TableView table = compile::Compiled<Source>::view();
  const graph::SymbolValues symbols = compile::resolve_symbols(table, std::array{x.shape(), y.shape()});
  for (int i = 0; i < 3; ++i) static_cast<void>(step(x, y));
  synchronize(devices[0]);
  synchronize(devices[1]);
  CHECK(first.peak() == compile::memory_use(table, symbols, 0).total());
  CHECK(second.peak() == compile::memory_use(table, symbols, 1).total());
  CHECK(compile::memory_use(table, symbols, 1).arena ==
        compile::pool_bytes(static_cast<std::int64_t>(step.arena_bytes(nn::Slot{1}, x, y))));
  if constexpr (TestType::has_memory)
    CHECK_THROWS_WITH(step(x, rows<float, TestType, 3>(101, devices[0])),
                      Catch::Contains("target 1 belongs into slot 1") && Catch::Contains(to_string(devices[1])));
}
