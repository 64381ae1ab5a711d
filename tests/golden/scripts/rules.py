# SPDX-License-Identifier: Apache-2.0
"""Six steps of every update rule on a matrix, a bias and a scale, from given gradients."""

import torch

SHAPES = [(3, 4), (3,), (2,)]
STEPS = 6


class Lamb(torch.optim.Optimizer):
    """Algorithm 2 of You et al., 2020, with phi the identity and bias-corrected moments."""

    def __init__(self, params, lr, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for w in group["params"]:
                s = self.state[w]
                t = s["t"] = s.get("t", 0) + 1
                s["m"] = b1 * s.get("m", 0) + (1 - b1) * w.grad
                s["v"] = b2 * s.get("v", 0) + (1 - b2) * w.grad**2
                r = s["m"] / (1 - b1**t) / ((s["v"] / (1 - b2**t)).sqrt() + group["eps"])
                u = r + group["weight_decay"] * w
                ratio = w.norm() / u.norm() if w.norm() > 0 and u.norm() > 0 else 1.0
                w -= group["lr"] * ratio * u


class Lion(torch.optim.Optimizer):
    """Algorithm 2 of Chen et al., 2023."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for w in group["params"]:
                m = self.state[w].get("m", torch.zeros_like(w))
                c = b1 * m + (1 - b1) * w.grad
                w -= group["lr"] * (c.sign() + group["weight_decay"] * w)
                self.state[w]["m"] = b2 * m + (1 - b2) * w.grad


def in_float64(rule):
    """PyTorch's Muon iterates in bfloat16; here without rounding, where a test can tell formulas apart."""

    def step():
        narrow = torch.bfloat16
        torch.bfloat16 = torch.float64
        try:
            type(rule).step(rule)
        finally:
            torch.bfloat16 = narrow

    rule.step = step
    return rule


class Both:
    """Two optimisers that share the weights."""

    def __init__(self, *rules):
        self.rules = rules

    def step(self):
        for rule in self.rules:
            rule.step()


def make(save):
    start = [torch.randn(shape) for shape in SHAPES]
    gradients = [[torch.randn(shape) for shape in SHAPES] for _ in range(STEPS)]
    flat = lambda tensors: torch.cat([t.reshape(-1) for t in tensors])
    save("start", flat(start))
    save("gradients", torch.stack([flat(g) for g in gradients]))
    o = torch.optim
    every = lambda make: (lambda w: make(w))
    biases = lambda make, **other: (lambda w: make([{"params": [w[0], w[2]]}, {"params": [w[1]], **other}]))
    rules = [
        every(lambda w: o.SGD(w, lr=0.1, weight_decay=0.01)),
        every(lambda w: o.SGD(w, lr=0.1, momentum=0.9, dampening=0.3)),
        every(lambda w: o.SGD(w, lr=0.1, momentum=0.9, weight_decay=0.1, nesterov=True)),
        every(lambda w: o.Adam(w, lr=0.01, weight_decay=0.1)),
        every(lambda w: o.AdamW(w, lr=0.01, weight_decay=0.1)),
        every(lambda w: o.Adam(w, lr=0.01, betas=(0.5, 0.6), amsgrad=True)),
        every(lambda w: o.AdamW(w, lr=0.01, betas=(0.5, 0.6), amsgrad=True)),
        every(lambda w: o.RMSprop(w)),
        every(lambda w: o.RMSprop(w, lr=0.02, alpha=0.8, eps=1e-3, weight_decay=0.1, momentum=0.7)),
        every(lambda w: o.RMSprop(w, lr=0.02, alpha=0.8, centered=True)),
        every(lambda w: o.Adagrad(w)),
        every(lambda w: o.Adagrad(w, lr=0.1, lr_decay=0.2, weight_decay=0.1, initial_accumulator_value=0.5)),
        every(lambda w: Lamb(w, lr=0.02, weight_decay=0.1)),
        biases(lambda w: o.AdamW(w, lr=0.01, weight_decay=0.1), weight_decay=0.0, lr=0.05),
        every(lambda w: o.SGD(w, lr=0.1)),  # clipped to norm 1.5
        every(lambda w: o.SGD(w, lr=0.1)),  # clipped to value 0.5
    ]
    clipped_by_norm, clipped_by_value = len(rules) - 2, len(rules) - 1
    rules += [
        every(lambda w: o.Adadelta(w)),
        every(lambda w: o.Adadelta(w, lr=0.5, rho=0.8, eps=1e-3, weight_decay=0.1)),
        every(lambda w: o.Adamax(w)),
        every(lambda w: o.Adamax(w, lr=0.02, betas=(0.6, 0.7), weight_decay=0.1)),
        every(lambda w: o.NAdam(w)),
        every(lambda w: o.NAdam(w, lr=0.02, betas=(0.6, 0.7), weight_decay=0.1, momentum_decay=0.2)),
        every(lambda w: o.RAdam(w)),
        every(lambda w: o.RAdam(w, lr=0.02, betas=(0.6, 0.9), weight_decay=0.1)),
        every(lambda w: Lion(w)),
        every(lambda w: Lion(w, lr=0.02, betas=(0.6, 0.7), weight_decay=0.1)),
        every(lambda w: o.Adam(w, lr=0.01, weight_decay=0.1, maximize=True)),
    ]
    muon = lambda w, **options: Both(in_float64(o.Muon(w[:1], **options)), o.AdamW(w[1:], lr=0.01, weight_decay=0.1))
    rules += [
        every(lambda w: o.Adafactor(w)),
        every(lambda w: o.Adafactor(w, lr=0.5, beta2_decay=-0.5, eps=(1e-2, 0.3), d=1.05, weight_decay=0.1)),
        every(lambda w: muon(w)),
        every(lambda w: muon(w, lr=0.05, momentum=0.7, weight_decay=0.2, nesterov=False)),
        every(lambda w: muon(w, lr=0.05, adjust_lr_fn="match_rms_adamw", ns_coefficients=(2, -1.5, 0.5))),
    ]
    trajectories = []
    for k, rule in enumerate(rules):
        weights = [w.clone().requires_grad_(True) for w in start]
        optimiser = rule(weights)
        trajectory = []
        norms = []
        for step in range(STEPS):
            for w, g in zip(weights, gradients[step]):
                w.grad = g.clone()
            if k == clipped_by_norm:
                norms.append(torch.nn.utils.clip_grad_norm_(weights, 1.5))
            if k == clipped_by_value:
                torch.nn.utils.clip_grad_value_(weights, 0.5)
            optimiser.step()
            trajectory.append(flat(weights).detach().clone())
        trajectories.append(torch.stack(trajectory))
        if norms:
            save("norms", torch.stack(norms))
    save("weights", torch.stack(trajectories))

    # A tall matrix, and a weight of three axes.
    start = [torch.randn(shape) for shape in [(5, 2), (2, 3, 4)]]
    gradients = [[torch.randn_like(w) for w in start] for _ in range(STEPS)]
    save("other_start", flat(start))
    save("other_gradients", torch.stack([flat(g) for g in gradients]))
    trajectories = []
    for rule in [lambda w: o.Adafactor(w, lr=0.05), muon]:
        weights = [w.clone().requires_grad_(True) for w in start]
        optimiser = rule(weights)
        trajectory = []
        for step in range(STEPS):
            for w, g in zip(weights, gradients[step]):
                w.grad = g.clone()
            optimiser.step()
            trajectory.append(flat(weights).detach().clone())
        trajectories.append(torch.stack(trajectory))
    save("other_weights", torch.stack(trajectories))
