# SPDX-License-Identifier: Apache-2.0
"""A mixture of experts token by token, after GShard's algorithm 1 (Lepikhin et al., 2020): results, losses and gradients.

Places are given out in loops over choices and tokens with a counter for each expert; PyTorch differentiates the rest.
"""

import math

import torch


def mixture(x, weights, top_k, capacity, normalises):
    router, up, up_bias, down, down_bias = weights
    groups, tokens, _ = x.shape
    experts = router.shape[0]
    y, dropped, balance, square = [], 0, 0, 0
    for group in range(groups):
        logits = x[group] @ router.T
        probabilities = torch.softmax(logits, -1)
        square = square + (torch.logsumexp(logits, -1) ** 2).mean()
        order = torch.argsort(probabilities, -1, descending=True)[:, :top_k]
        share = torch.bincount(order.flatten(), minlength=experts) / (top_k * tokens)
        balance = balance + experts * (share * probabilities.mean(0)).sum()
        taken = [0] * experts
        rows = [torch.zeros_like(x[group, 0]) for _ in range(tokens)]
        for choice in range(top_k):
            for token in range(tokens):
                expert = int(order[token, choice])
                taken[expert] += 1
                if taken[expert] > capacity:
                    dropped += 1
                    continue
                gate = probabilities[token, expert]
                if top_k > 1 and normalises:
                    gate = gate / probabilities[token, order[token]].sum()
                hidden = torch.relu(up[expert] @ x[group, token] + up_bias[expert])
                rows[token] = rows[token] + gate * (down[expert] @ hidden + down_bias[expert])
        y.append(torch.stack(rows))
    return torch.stack(y), balance / groups, square / groups, dropped


def make(save):
    groups, tokens, width, hidden, experts = 4, 6, 5, 7, 4
    shapes = {"router_weight": (experts, width), "up_weight": (experts, hidden, width), "up_bias": (experts, hidden),
              "down_weight": (experts, width, hidden), "down_bias": (experts, width)}
    x = torch.randn(groups, tokens, width).requires_grad_()
    weights = [torch.randn(shape).requires_grad_() for shape in shapes.values()]
    save("x", x)
    for name, weight in zip(shapes, weights):
        save(name, weight)
    for name, top_k, factor, normalises in [("switch", 1, 1.25, True), ("gshard", 2, 1.0, True), ("plain", 3, 0.5, False),
                                            ("roomy", 2, 8.0, True)]:
        capacity = min(tokens, math.ceil(top_k * tokens * factor / experts))
        y, balance, square, dropped = mixture(x, weights, top_k, capacity, normalises)
        save(f"{name}_y", y)
        save(f"{name}_counts", torch.tensor([capacity, dropped]))
        loss = (y**3).mean() + 0.01 * balance + 0.001 * square
        save(f"{name}_losses", torch.stack([balance, square, loss]))
        gradients = torch.autograd.grad(loss, [x, *weights])
        for own, gradient in zip(["x", *shapes], gradients):
            save(f"{name}_slope_{own}", gradient)
