// SPDX-License-Identifier: Apache-2.0
//
// Lines of code of docs/reference/optimisers.md: tools/reference/lines.py says how they are found. They are compiled, not run.

#include <twill/all.hpp>

#include <vector>

using namespace twill;

// clang-format off

struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, 8> x) { return nn::linear(x, 3, "output"); }
};
using Network = nn::Network<Classifier, Cpu>;
using Step = decltype(train_step(std::declval<Network&>(), nn::cross_entropy, optim::loss_scaled(optim::clip_norm(optim::Sgd{{}}, 1))));

// Rules: a rule is a value that `train_step` or `training::Optimiser` is given; `.rate` is the learning rate, PyTorch's `lr`. Options may change
// between steps: `step.rule.options.rate = 0.001`.
void rules() {
  { const optim::Sgd rule{{.rate = 0.1}}; }
  // PyTorch: `SGD(momentum=0.9)`, where momentum is 0 unless told otherwise.
  { const optim::MomentumSgd rule{{.rate = 0.1, .momentum = 0.9}}; }
  { const optim::Adam rule{{.rate = 1e-3}}; }
  { const optim::AdamW rule{{.rate = 1e-3, .weight_decay = 0.1}}; }
  // PyTorch: `Adam(amsgrad=True)`. The options are those of `optim::Adam`.
  { const optim::AmsGrad rule{{.rate = 1e-3}}; }
  // PyTorch: `AdamW(amsgrad=True)`. The options are those of `optim::AdamW`.
  { const optim::AmsGradW rule{{.rate = 1e-3}}; }
  { const optim::RmsProp rule{{.rate = 1e-2}}; }
  // PyTorch: `RMSprop(centered=True)`. The options are those of `optim::RmsProp`.
  { const optim::CentredRmsProp rule{{.rate = 1e-2}}; }
  { const optim::Adagrad rule{{.rate = 1e-2}}; }
  { const optim::Lamb rule{{.rate = 1e-3}}; }
  { const optim::Adadelta rule{{.rate = 1}}; }
  { const optim::Adamax rule{{.rate = 2e-3}}; }
  { const optim::NAdam rule{{.rate = 2e-3}}; }
  { const optim::RAdam rule{{.rate = 1e-3}}; }
  { const optim::Lion rule{{.rate = 1e-4, .weight_decay = 0.1}}; }
  { const optim::Adafactor rule{{.rate = 1e-2}}; }
  // PyTorch: `Muon`, which iterates in bfloat16; here in the precision of the weights.
  { const auto rule = optim::groups(optim::Muon{{.rate = 1e-3}}, optim::vectors(optim::AdamW{{.rate = 1e-3}})); }
}

// Around rules: wrapped from the inside out, `optim::loss_scaled(optim::clip_norm(optim::AdamW{{.rate = 0.01}}, 1.0))`.
void around(Step& step, Step& scaled) {
  // PyTorch: `clip_grad_norm_`, inside the step.
  { const auto rule = optim::clip_norm(optim::AdamW{{.rate = 1e-3}}, 1.0); }
  // PyTorch: `clip_grad_value_`, inside the step.
  { const auto rule = optim::clip_value(optim::Sgd{{.rate = 0.1}}, 0.5); }
  // PyTorch: `GradScaler`, inside the step.
  { const auto rule = optim::loss_scaled(optim::Sgd{{.rate = 0.1}}); }
  // PyTorch: the option `maximize`.
  { const auto rule = optim::maximize(optim::Adam{{.rate = 1e-3}}); }
  // PyTorch: `torch.optim.swa_utils.AveragedModel` with `get_ema_multi_avg_fn`.
  { const auto rule = optim::averaged(optim::AdamW{{.rate = 1e-3}}, 0.999); }
  { const nn::StateDict weights = optim::averages(step.state_dict()); }
  { const std::string_view name = optim::average_state; }
  { const auto rule = optim::groups(optim::AdamW{{.rate = 1e-3}}, optim::group<"output*">(optim::Sgd{{.rate = 0.1}})); }
  { const auto rule = optim::groups(optim::Adam{{.rate = 1e-3}}, optim::group<"*.bias">(optim::Sgd{{.rate = 0.1}})); }
  { const auto rule = optim::groups(optim::AdamW{{}}, optim::vectors(optim::AdamW{{.weight_decay = 0}})); }
  { const auto rule = optim::decay_matrices_only(optim::AdamW{{.weight_decay = 0.1}}); }
  { const double norm = step.state(optim::gradient_norm_state); }
  { const double scale = scaled.state(optim::loss_scale_state); }
  { const double steps_since_a_change = scaled.state(optim::good_steps_state); }
  { const double skipped = scaled.state(optim::skipped_steps_state); }
  { const bool was_skipped = scaled.state(optim::was_skipped_state) != 0; }
}

// Schedules: the rate of each step, from the number of steps so far. PyTorch's schedulers change it at each `scheduler.step()`, mostly once an
// epoch; here `schedule.update()` comes before each step, and numbers are steps.
void schedules(Step& step, double validation_loss) {
  { auto schedule = optim::scheduled(step, optim::Cosine{.rate = 0.1, .steps = 100}); }
  // PyTorch: `ConstantLR(factor, total_iters)`.
  { const optim::Constant schedule{.rate = 0.1, .steps = 5}; }
  // PyTorch: `PolynomialLR(total_iters, power)`.
  { const optim::Polynomial schedule{.rate = 0.1, .steps = 1000, .power = 2}; }
  // PyTorch: `CosineAnnealingWarmRestarts(T_0, T_mult, eta_min)`.
  { const optim::CosineWarmRestarts schedule{.rate = 0.1, .steps = 100, .growth = 2}; }
  // PyTorch: `CyclicLR(base_lr, max_lr, step_size_up)`; the momentum of a step is `schedule.momentum(t)`, set by hand.
  { const optim::Cyclic schedule{.least = 0.001, .most = 0.1, .rising = 500}; }
  // PyTorch: `StepLR(step_size, gamma)`.
  { const optim::StepDecay schedule{.rate = 0.1, .every = 1000, .factor = 0.5}; }
  // PyTorch: `MultiStepLR(milestones, gamma)`.
  { const optim::MultiStep<2> schedule{.rate = 0.1, .milestones = {3000, 6000}}; }
  // PyTorch: `ExponentialLR(gamma)`.
  { const optim::Exponential schedule{.rate = 0.1, .factor = 0.999}; }
  // PyTorch: `CosineAnnealingLR(T_max, eta_min)`.
  { const optim::Cosine schedule{.rate = 0.1, .steps = 10'000, .least = 1e-4}; }
  // PyTorch: `LinearLR(start_factor, end_factor, total_iters)`.
  { const optim::Linear schedule{.rate = 0.1, .steps = 1000, .start_factor = 1, .end_factor = 0}; }
  // PyTorch: `OneCycleLR(max_lr, total_steps, pct_start, div_factor, final_div_factor)`.
  { const optim::OneCycle schedule{.max_rate = 0.1, .steps = 10'000}; }
  { const auto schedule = optim::warm_up(500, optim::Cosine{.rate = 0.1, .steps = 10'000}); }
  // PyTorch: `SequentialLR`.
  { const auto schedule = optim::then(optim::Linear{.rate = 0.1, .steps = 500}, 500, optim::Exponential{.rate = 0.1}); }
  // PyTorch: `ReduceLROnPlateau(mode, factor, patience, threshold, cooldown, min_lr, eps)`.
  { optim::Plateau plateau{{.rate = 0.1, .patience = 5}}; }
}

// Functions of many numbers: minimised from their values and gradients, on the host.
void functions(std::vector<double>& x, const optim::Lbfgs::Function& function) {
  // PyTorch: `LBFGS(line_search_fn="strong_wolfe")`, where no line search is the default.
  { optim::Lbfgs method{{.iterations = 20}}; }
  { const optim::LbfgsOptions options{.rate = 0.1, .line_search = optim::LineSearch::none}; }
}
