# SPDX-License-Identifier: Apache-2.0
"""Steps that evaluate gradients more than once: sharpness-aware ones, and L-BFGS on a function and on a network."""

import torch

STEPS = 6


class Sam:
    """Algorithm 1 of Foret et al., 2021; adaptive: of Kwon et al., 2021, without a least size of weights."""

    def __init__(self, parameters, rule, rho, adaptive=False):
        self.parameters, self.rule, self.rho, self.adaptive = list(parameters), rule, rho, adaptive

    def step(self, closure):
        loss = closure()
        with torch.no_grad():
            scales = [w.abs() if self.adaptive else torch.ones_like(w) for w in self.parameters]
            products = [s * w.grad for s, w in zip(scales, self.parameters)]
            norm = torch.stack([p.norm() for p in products]).norm() + 1e-12
            start = [w.clone() for w in self.parameters]
            for w, s in zip(self.parameters, scales):
                w += self.rho * s**2 * w.grad / norm
        closure()
        with torch.no_grad():
            for w, before in zip(self.parameters, start):
                w.copy_(before)
        self.rule.step()
        return loss


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def make(save):
    flat = lambda tensors: torch.cat([t.detach().reshape(-1) for t in tensors]).clone()
    x, y = torch.randn(9, 2), torch.randn(9, 1)
    start = [torch.randn(8, 2), torch.randn(8), torch.randn(1, 8), torch.randn(1)]
    save("x", x)
    save("y", y)
    save("start", flat(start))

    def train(name, make_rule):
        w = [s.clone().requires_grad_(True) for s in start]
        rule = make_rule(w)

        def closure():
            for p in w:
                p.grad = None
            loss = ((torch.tanh(x @ w[0].T + w[1]) @ w[2].T + w[3] - y) ** 2).mean()
            loss.backward()
            return loss

        losses, weights = [], []
        for _ in range(STEPS):
            losses.append(rule.step(closure).detach())
            weights.append(flat(w))
        save(f"{name}_losses", torch.stack(losses))
        save(f"{name}_weights", torch.stack(weights))

    momentum = lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.9)
    train("sam", lambda w: Sam(w, momentum(w), 0.3))
    train("asam", lambda w: Sam(w, momentum(w), 0.7, adaptive=True))
    train("lbfgs", lambda w: torch.optim.LBFGS(w, max_iter=4, line_search_fn="strong_wolfe"))

    # On a function: iterations and evaluations too.
    for name, steps, options in [
        ("valley", 10, dict(max_iter=4, line_search_fn="strong_wolfe")),
        ("short_history", 10, dict(max_iter=5, history_size=2, lr=0.5, line_search_fn="strong_wolfe")),
        ("few_evaluations", 10, dict(max_iter=8, max_eval=3, line_search_fn="strong_wolfe")),
        ("long_steps", 3, dict(max_iter=20, lr=20, line_search_fn="strong_wolfe")),
        ("fixed", 6, dict(max_iter=3, lr=0.01)),
        ("minimum", 1, dict(max_iter=200, line_search_fn="strong_wolfe")),
    ]:
        z = torch.tensor([-1.2, 1.0, 0.5, -0.7, 1.9], requires_grad=True)
        rule = torch.optim.LBFGS([z], **options)

        def closure():
            z.grad = None
            value = rosenbrock(z)
            value.backward()
            return value

        rows = []
        for _ in range(steps):
            value = rule.step(closure).detach()
            state = rule.state[z]
            rows.append(torch.cat([z.detach(), torch.tensor([value, state["n_iter"], state["func_evals"]])]))
        save(name, torch.stack(rows))
