#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rounds the coefficients of x P(x^2) / Q(x^2) to float32 better than one by one.

A random search moves each coefficient by a few units in the last place and keeps what lowers the largest error of the whole
float32 evaluation (fused multiply-adds, one division), in units in the last place of the result.

remez.py calls it.
"""
import numpy as np


def fma(a, b, c):
    return (a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(np.float32)


def evaluate(x, p, q):
    t = x * x

    def horner(c):
        sum = np.full_like(t, c[-1])
        for k in c[-2::-1]:
            sum = fma(sum, t, np.full_like(t, k))
        return sum
    return (x * horner(p)) / horner(q)


def polish(function, limit, p, q, fixed, rounds, seed=1, points=(30000, 30000), hard_points=0):
    """The lists P and Q as floats; the first `fixed` coefficients of P stay, and the first of Q.

    `points` are drawn and laid evenly. With `hard_points`, moves are first tried where errors are largest, which is quicker.
    """
    random = np.random.default_rng(seed)
    p, q = (np.array([float(v) for v in c], dtype=np.float32) for c in (p, q))
    x = np.concatenate([random.uniform(1e-3, limit, points[0]), np.linspace(limit * 0.3, limit, points[1])]).astype(np.float32)
    exact = np.array([function(float(v)) for v in x])
    unit = np.ldexp(1.0, np.frexp(exact.astype(np.float32))[1] - 24)

    def errors(p, q, at=slice(None)):
        return np.abs(evaluate(x[at], p, q) - exact[at]) / unit[at]

    def hardest(p, q):
        """Where the errors are largest now: most moves are refused by a look there."""
        return np.argpartition(errors(p, q), -hard_points)[-hard_points:]

    best = float(errors(p, q).max())
    hard = hardest(p, q) if hard_points else None
    for _ in range(rounds):
        moved = [p.copy(), q.copy()]
        for _ in range(random.integers(1, 4)):
            side = int(random.integers(0, 2))
            k = int(random.integers(fixed if side == 0 else 1, len(moved[side])))
            steps = int(random.integers(-3, 4))
            moved[side][k:k + 1].view(np.int32)[0] += steps
        if hard_points and errors(*moved, hard).max() > best:
            continue
        now = float(errors(*moved).max())
        if now <= best:
            best, (p, q) = now, moved
        if hard_points:
            hard = np.union1d(hard[-2 * hard_points:], hardest(*moved))
    return list(p), list(q)


def saturation(p, q, low, high):
    """The smallest float in [low, high] where x P / Q is 1 to the bit, with fused multiply-adds and without."""
    p, q = (np.array([float(v) for v in c], dtype=np.float32) for c in (p, q))
    x = np.arange(np.float32(high).view(np.int32), np.float32(low).view(np.int32), -1, dtype=np.int32).view(np.float32)
    t = x * x

    def plain(c):
        sum = np.full_like(t, c[-1])
        for k in c[-2::-1]:
            sum = sum * t + k
        return sum
    ones = (evaluate(x, p, q) == 1) & ((x * plain(p)) / plain(q) == 1)
    return x[ones][-1]
