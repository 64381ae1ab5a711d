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
  const Tensor chosen = take<0>(x, labels) * 2;
  const Tensor joined = concat<0>(x, x);
  const Tensor padded = pad(x, {{1, 1}, {0, 2}});
  const Tensor running = cumsum<0>(x);
  const Tensor middle = median<0>(x);
  const Tensor normal = layer_norm(x) + softmax(x);
  const Tensor traced = einsum<"ij,kj->ik">(x, x);
  const auto [means, spreads] = eval(mean<1>(x), var<1>(x));
  const Tensor drawn = uniform<float, Shape<3>>(0, 1);
  out(y) = exp(x);
  const float more = sum(chosen).item() + sum(joined).item() + sum(padded).item() + sum(running).item() +
                     sum(middle).item() + sum(normal).item() + sum(traced).item() + sum(means + spreads).item() +
                     sum(drawn).item() + allclose(x, y).item() + static_cast<float>(plan(exp(x) + 1).kernels);
  nn::Network<Model, Cpu> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  const float loss = step(x, labels).item();
  return loss + more + sum(y).item() + eval(kept)(0, 0).item() + sum(rows).item() + sum(sums).item() +
         sum(best).item() + sum(product).item() + sum(copy).item() + sum(filled).item() + sum(counted).item();
}
