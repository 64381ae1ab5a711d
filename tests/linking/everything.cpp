// SPDX-License-Identifier: Apache-2.0
//
// A little of everything that leads to kernels. Compiled for two instruction sets, to see what two such files would share.

#include <twill/twill.hpp>

namespace {

struct Model {
  static constexpr auto forward(twill::Input<twill::Dim<"batch">, 4> x) {
    return twill::nn::linear(tanh(twill::nn::linear(x, 8, "hidden")), 3, "output");
  }
};

} // namespace

float everything(const twill::Tensor<float, twill::Cpu, twill::Shape<twill::dyn, 4>>& x,
                 const twill::Tensor<std::int64_t, twill::Cpu, twill::Shape<twill::dyn>>& labels) {
  using namespace twill;
  Tensor y = tanh(x * 2 + 1) - exp(x);
  y += 1;
  y[0] = x[1];
  y[1] = 3.0F;
  const auto kept = lazy(y * x);
  const Tensor rows = eval(exp(x - max<1>(x, keepdims)) / sum<1>(exp(x - max<1>(x, keepdims)), keepdims));
  const Tensor sums = sum<0>(y) + mean<0>(x);
  const Tensor best = argmax<1>(y);
  const Tensor product = matmul(y, x.transpose());
  const Tensor copy = y.clone().to<double>().to<float>().transpose().contiguous();
  const Tensor filled = full<float, Shape<3, 3>>(2) + rand<float, Shape<3, 3>>() + randn<float, Shape<3, 3>>();
  const Tensor counted = arange<float>(3) + linspace<float>(0, 1, 3);
  nn::Network<Model, Cpu> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  const float loss = step(x, labels).item();
  return loss + sum(y).item() + eval(kept)(0, 0).item() + sum(rows).item() + sum(sums).item() + sum(best).item() +
         sum(product).item() + sum(copy).item() + sum(filled).item() + sum(counted).item();
}
