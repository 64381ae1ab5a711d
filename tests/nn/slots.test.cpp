// SPDX-License-Identifier: Apache-2.0
//
// Parts of a model in device slots.

#include <twill/memory.hpp>
#include <twill/nn.hpp>
#include <twill/optim.hpp>
#include <twill/train.hpp>

#include "tests/support/late_device.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using twill::test::Late;

namespace {

struct Two {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    auto left = tanh(nn::linear(x, 7, "left"));
    auto right = nn::dropout(sigmoid(nn::linear(nn::to(x, nn::Slot{1}), 7, "right")), 0.4);
    auto both = nn::to(left, nn::Slot{1}) * right + nn::to(nn::linear(left, 7, "more"), nn::Slot{1});
    return nn::linear(both, 3, "last");
  }
};

template <class T, std::int64_t Width> Tensor<T, Cpu, Shape<dyn, Width>> rows(std::int64_t count) {
  Tensor<T, Cpu, Shape<dyn, Width>> x(Cpu{0}, Dims(count, Width));
  for (std::int64_t i = 0; i < count * Width; ++i)
    x.data()[i] = static_cast<T>(std::sin(static_cast<double>(3 * i + 1)));
  return x;
}

template <class D> std::vector<double> trained(std::vector<D> devices) {
  manual_seed(devices[0], 5);
  nn::Network<Two, D, double> model{devices};
  train::Optimiser optimiser{model, optim::MomentumSgd{{.rate = 0.1}}};
  const auto x = rows<double, 5>(4).to(devices[0]);
  const auto y = rows<double, 3>(4).to(devices[1]);
  std::vector<double> found;
  for (int i = 0; i < 3; ++i) {
    model.zero_grad();
    const auto loss = nn::mse(model.forward(x), y);
    loss.backward();
    found.push_back(loss.item());
    optimiser.step();
  }
  auto step = train_step(model, nn::mse, optim::Adam{{.rate = 0.01}});
  for (int i = 0; i < 3; ++i) found.push_back(step(x, y).item());
  const nn::StateDict state = nn::state_dict(model);
  for (const auto& [name, tensor] : state.entries())
    for (std::size_t i = 0; i < tensor.bytes.size() / sizeof(double); ++i)
      found.push_back(reinterpret_cast<const double*>(tensor.bytes.data())[i]);
  return found;
}

} // namespace

TEST_CASE("a model whose parts lie in slots trains with the bits of one device", "[nn][PAR-5]") {
  const std::vector<double> one = trained<Cpu>({Cpu{0}, Cpu{0}});
  CHECK(one[2] < one[0]);
  CHECK(trained<Cpu>({Cpu{0}, Cpu{1}}) == one);
  CHECK(trained<Late>({Late{0}, Late{1}}) == one);
}
