// SPDX-License-Identifier: Apache-2.0
//
// A buffer has one next value.
//
// expect: buffer_is_updated_twice

#include <twill/nn/network.hpp>
#include <twill/nn/parameter.hpp>

using namespace twill;

struct Counter {
  static constexpr auto forward(Input<Dim<"batch">, 2> x) {
    const auto count = nn::buffer(x.graph(), DType::float32, "count", {}, nn::initialise::zeros());
    nn::update_buffer(count, count + 1);
#ifdef MISUSE
    nn::update_buffer(count, count + 2);
#endif
    return x * count;
  }
};

int main() {
  nn::Network<Counter, Cpu> model{};
  const auto x = ones<float, Shape<2, 2>>();
  static_cast<void>(model.forward(x));
  return model.parameter<"count">().item() == 1 ? 0 : 1;
}
