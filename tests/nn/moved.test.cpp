// SPDX-License-Identifier: Apache-2.0
//
// Parts of a model on devices of their own, of two kinds: results, gradients and steps have the bits of one device.

#include <twill/memory.hpp>
#include <twill/nn.hpp>
#include <twill/optim.hpp>
#include <twill/training.hpp>

#include "tests/support/late_device.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

using namespace twill;
using twill::test::Late;

namespace {

struct First {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) { return tanh(nn::linear(x, 7, "first")); }
};
struct Second {
  static constexpr auto forward(Input<Dim<"batch">, 7> x) { return nn::linear(x, 3, "second"); }
};

/// The parts of a model, on two devices or on one.
template <class A, class B> struct Parts {
  nn::Network<First, A> first;
  nn::Network<Second, B> second;

  auto forward(const Tensor<float, A, Shape<dyn, 5>>& x) const {
    return second.forward(nn::to(first.forward(x), second.device()));
  }
};

template <std::int64_t Width> Tensor<float, Cpu, Shape<dyn, Width>> rows() {
  Tensor<float, Cpu, Shape<dyn, Width>> x(Cpu{0}, Dims(4, Width));
  for (std::int64_t i = 0; i < 4 * Width; ++i) x.data()[i] = std::sin(static_cast<float>(i));
  return x;
}

/// The losses of three steps, and the last gradient of the first part.
template <class A, class B> std::vector<float> trained(A a, B b) {
  const auto make = [](auto device, std::uint64_t seed, auto build) {
    manual_seed(device, seed);
    return build(device);
  };
  Parts<A, B> parts{make(a, 5, [](A device) { return nn::Network<First, A>{device}; }),
                    make(b, 6, [](B device) { return nn::Network<Second, B>{device}; })};
  training::Optimiser first{parts.first, optim::MomentumSgd{{.rate = 0.1}}};
  training::Optimiser second{parts.second, optim::MomentumSgd{{.rate = 0.1}}};
  const auto x = rows<5>().to(a);
  const auto y = rows<3>().to(b);
  std::vector<float> found;
  for (int i = 0; i < 3; ++i) {
    parts.first.zero_grad();
    parts.second.zero_grad();
    const auto loss = nn::mse(parts.forward(x), y);
    loss.backward();
    found.push_back(loss.item());
    first.step();
    second.step();
  }
  const auto gradient = parts.first.template gradient<"first.weight">().to(Cpu{0});
  synchronize(Cpu{0});
  found.insert(found.end(), gradient.data(), gradient.data() + gradient.elements());
  return found;
}

} // namespace

TEST_CASE("a model whose parts lie on devices of two kinds trains with the bits of one device", "[nn][PAR-5]") {
  const std::vector<float> one = trained(Cpu{0}, Cpu{0});
  CHECK(one[2] < one[0]);
  CHECK(trained(Cpu{0}, Late{1}) == one);
  CHECK(trained(Late{0}, Late{1}) == one);
}
