// SPDX-License-Identifier: Apache-2.0
//
// One statement and two training steps, for a debugger that counts the calls between a user's line and the kernels.

#include <twill/twill.hpp>

using namespace twill;

namespace {

struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    return nn::linear(relu(nn::linear(x, 7, "first")), 3, "second");
  }
};

[[gnu::noinline]] float statement() {
  const auto a = full<float, Shape<dyn>>(Dims(1000), 0.5F);
  const auto b = full<float, Shape<dyn>>(Dims(1000), 0.25F);
  const Tensor<float, Cpu, Shape<dyn>> c = tanh(a * b); // statement
  return c[0].item();
}

[[gnu::noinline]] float steps() {
  nn::Network<Model, Cpu> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  const auto x = ones<float, Shape<dyn, 5>>(Dims(400, 5));
  const auto label = zeros<std::int64_t, Shape<dyn>>(Dims(400)); // launches of a few elements take a shorter way
  step(x, label);
  return step(x, label); // step
}

} // namespace

int main() { return statement() > 0 && steps() > 0 ? 0 : 1; }
