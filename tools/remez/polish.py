#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rounds the coefficients of x P(x^2) / Q(x^2) to float32 better than one by one.

A random search moves each coefficient by a few units in the last place and keeps what lowers the largest error of the whole
float32 evaluation (fused multiply-adds, one division), in units in the last place of the result.

    pip install mpmath numpy && tools/remez/polish.py
"""
import math

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


def polish(name, function, limit, p, q, fixed, rounds=3000, seed=1):
    random = np.random.default_rng(seed)
    p, q = (np.array(c, dtype=np.float32) for c in (p, q))
    x = np.concatenate([random.uniform(1e-3, limit, 30000), np.linspace(limit * 0.3, limit, 30000)]).astype(np.float32)
    exact = np.array([function(float(v)) for v in x])
    unit = np.ldexp(1.0, np.frexp(exact.astype(np.float32))[1] - 24)

    def worst(p, q):
        return float(np.max(np.abs(evaluate(x, p, q) - exact) / unit))

    best = worst(p, q)
    start = best
    for _ in range(rounds):
        moved = [p.copy(), q.copy()]
        for _ in range(random.integers(1, 4)):
            side = int(random.integers(0, 2))
            k = int(random.integers(fixed if side == 0 else 1, len(moved[side])))
            steps = int(random.integers(-3, 4))
            moved[side][k:k + 1].view(np.int32)[0] += steps
        now = worst(*moved)
        if now <= best:
            best, (p, q) = now, moved
    print(f"{name}: {start:.2f} -> {best:.2f} units in the last place")
    for letter, c in (("P", p), ("Q", q)):
        print(f"  {letter}:", ", ".join(float(v).hex() + "F" for v in c))


if __name__ == "__main__":
    h = float.fromhex
    polish("tanh", math.tanh, 9.02, [1, h("0x1.1213d2p-3"), h("0x1.ca6b32p-9"), h("0x1.5a362ap-16"), h("0x1.cbe16cp-27")],
           [1, h("0x1.de5f36p-2"), h("0x1.a816e0p-6"), h("0x1.58d374p-12"), h("0x1.a23c58p-21")], 1)
    polish("erf", math.erf, 3.93, [h("0x1.20dd74p+0"), h("0x1.86b9b4p-3"), h("0x1.b07546p-5"), h("0x1.ef66bep-9"),
                                   h("0x1.2aa4c4p-12"), h("0x1.12119ap-19")],
           [1, h("0x1.013bf4p-1"), h("0x1.d3ffb8p-4"), h("0x1.eb6facp-7"), h("0x1.317428p-10"), h("0x1.3ecd28p-15")], 1)
