// SPDX-License-Identifier: Apache-2.0
//
// Lines of code of docs/reference/training.md: tools/reference/lines.py says how they are found. They are compiled, not run.

#include <twill/training/early_stopping.hpp>
#include <twill/training/lbfgs_step.hpp>
#include <twill/training/rate_finder.hpp>
#include <twill/training/sam_step.hpp>
#include <twill/twill.hpp>

#include <iostream>
#include <string>

using namespace twill;

// clang-format off

struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, 8> x) { return nn::linear(x, 3, "output"); }
};
using Model = Classifier;
using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;
using Matrix = Tensor<float, Cpu, Shape<dyn, 8>>;

// Steps: `model` is a network, `x` a batch of inputs and `label` the targets of a loss.
void steps(nn::Network<Model, Cpu>& model, const Matrix& x, const Labels& label) {
  { auto step = train_step(model, nn::cross_entropy, optim::AdamW{{.rate = 1e-3}}); }
  { auto step = accumulated_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}}); }
  { training::Optimiser optimiser{model, optim::Sgd{{.rate = 0.1}}}; }
  { auto step = sam_step(model, nn::cross_entropy, optim::MomentumSgd{{.rate = 0.1}}, {.rho = 0.05}); }
  // PyTorch: `LBFGS(line_search_fn="strong_wolfe")`, where no line search is the default.
  { auto step = lbfgs_step(model, nn::cross_entropy, {.iterations = 20}); }
}

// Rates and stopping: `step` is a training step on a network `model`.
void around(nn::Network<Model, Cpu>& model, const Matrix& x, const Labels& label, double validation_loss) {
  auto step = train_step(model, nn::cross_entropy, optim::AdamW{{.rate = 1e-3}});
  { const training::RateSweep sweep = training::sweep_rates(model, step, [&] { return step(x, label).item(); }); }
  { const auto sweep = training::sweep_rates(model, step, [&] { return step(x, label).item(); }, {.least = 1e-5, .most = 0.1}); }
  // PyTorch: none; the options are those of Keras and Lightning.
  { training::EarlyStopping stop{{.patience = 5, .min_delta = 1e-4}}; }
}

// Summaries and plans: what a model is before it runs; `Model` is a struct with a `forward`, `Labels` the type of the targets.
void plans() {
  { const training::Summary layers = summary<Model>({{"batch", 64}}); }
  { std::cout << to_string(summary<Model>({{"batch", 64}})); }
  { constexpr compile::Report forward = plan<Model>(); }
  { static_assert(plan<Model, nn::cross_entropy, optim::Adam, Labels>().launches < 20); }
  { std::cout << dump<Model>({{"batch", 64}}); }
  { std::cout << graphviz<Model>(); }
  { constexpr compile::FitReport report = fit_report<nn::Fit<Model, 2'097'152, nn::Size<"batch", 64>>, nn::cross_entropy, optim::Adam, Labels>(); }
}
