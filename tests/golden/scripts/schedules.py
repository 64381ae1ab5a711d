# SPDX-License-Identifier: Apache-2.0
"""The rates of every schedule of torch.optim.lr_scheduler over 40 steps, and the momenta of those that cycle them."""

import torch
from torch.optim import lr_scheduler as s

STEPS = 40


def rates(make, metrics=None, of="lr"):
    weight = torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.SGD([weight], lr=0.3, momentum=0.9)
    schedule = make(optimiser)
    result = []
    for step in range(STEPS):
        if metrics is not None:
            schedule.step(metrics[step])
        result.append(optimiser.param_groups[0][of])
        if metrics is None and step + 1 < STEPS:
            optimiser.step()
            schedule.step()
    return result


def make(save):
    noise = torch.rand(STEPS)
    metrics = [float(1 / (1 + min(step, 12)) + 0.02 * noise[step]) for step in range(STEPS)]
    save("metrics", torch.tensor(metrics))
    table = [
        rates(lambda o: s.StepLR(o, 7, gamma=0.4)),
        rates(lambda o: s.MultiStepLR(o, [3, 11, 30], gamma=0.2)),
        rates(lambda o: s.ExponentialLR(o, 0.93)),
        rates(lambda o: s.CosineAnnealingLR(o, 40, eta_min=0.01)),
        rates(lambda o: s.LinearLR(o, start_factor=0.2, total_iters=9)),
        rates(lambda o: s.OneCycleLR(o, 0.3, total_steps=40)),
        rates(lambda o: s.OneCycleLR(o, 0.3, total_steps=41, pct_start=0.4, div_factor=10, final_div_factor=50,
                                     anneal_strategy="linear")),
        rates(lambda o: s.SequentialLR(o, [s.LinearLR(o, 0.1, total_iters=6), s.ExponentialLR(o, 0.9)], [6])),
        rates(lambda o: s.ReduceLROnPlateau(o, factor=0.5, patience=2, cooldown=3, min_lr=0.02), metrics),
        rates(lambda o: s.ReduceLROnPlateau(o, mode="max", factor=0.1, patience=4, threshold=0.01), metrics),
    ]
    table += [
        rates(lambda o: s.ConstantLR(o, factor=0.4, total_iters=7)),
        rates(lambda o: s.PolynomialLR(o, total_iters=30, power=2.5)),
        rates(lambda o: s.CosineAnnealingWarmRestarts(o, 7, eta_min=0.01)),
        rates(lambda o: s.CosineAnnealingWarmRestarts(o, 5, T_mult=2)),
        rates(lambda o: s.CyclicLR(o, 0.01, 0.3, step_size_up=6, cycle_momentum=False)),
        rates(lambda o: s.CyclicLR(o, 0.01, 0.3, step_size_up=4, step_size_down=9, mode="triangular2",
                                   cycle_momentum=False)),
        rates(lambda o: s.CyclicLR(o, 0.01, 0.3, step_size_up=5, mode="exp_range", gamma=0.96, cycle_momentum=False)),
    ]
    save("rates", torch.tensor(table))

    one = dict(total_steps=41, pct_start=0.4, anneal_strategy="linear", base_momentum=0.6, max_momentum=0.8)
    momenta = [
        rates(lambda o: s.OneCycleLR(o, 0.3, total_steps=40), of="momentum"),
        rates(lambda o: s.OneCycleLR(o, 0.3, **one), of="momentum"),
        rates(lambda o: s.CyclicLR(o, 0.01, 0.3, step_size_up=4, step_size_down=9, mode="triangular2"), of="momentum"),
        rates(lambda o: s.CyclicLR(o, 0.01, 0.3, step_size_up=5, mode="exp_range", gamma=0.96, base_momentum=0.5,
                                   max_momentum=0.95), of="momentum"),
    ]
    save("momenta", torch.tensor(momenta))
