#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Minimax coefficients for twill's vector math.

Finds rational (or polynomial) approximations of smallest relative error by Remez's second algorithm: Newton's method solves
for coefficients and levelled error at a reference of alternation points, then the reference moves to the extrema of the
error. Printed as C++ literals rounded to float; kernel/math/*.hpp holds them. Run it to see them again:

    pip install mpmath numpy && tools/remez/remez.py
"""
import mpmath as mp
import numpy as np

mp.mp.dps = 50


def remez(name, function, interval, degree, denominator=0, constant=None):
    """function(t) ~ P(t) / Q(t), Q(0) = 1; `constant` fixes P(0)."""
    low, high = map(mp.mpf, interval)
    first = 0 if constant is None else 1
    unknowns = degree + 1 - first + denominator
    nodes = 2000
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / nodes) for i in range(nodes + 1)]
    values = [function(t) for t in grid]
    t64 = np.array([float(t) for t in grid])
    base = mp.mpf(0) if constant is None else mp.mpf(constant)

    def powers(t):
        return [t**k for k in range(first, degree + 1)], [t**k for k in range(1, denominator + 1)]

    # start: least squares on a coarse grid, the error weighted by the last denominator
    coarse = range(0, nodes + 1, nodes // (8 * (unknowns + 1)))
    solution, q_last = None, {i: mp.mpf(1) for i in coarse}
    for _ in range(6):
        rows, right = [], []
        for i in coarse:
            top, bottom = powers(grid[i])
            weight = 1 / (values[i] * q_last[i])
            rows.append([weight * v for v in top] + [-weight * values[i] * v for v in bottom])
            right.append(weight * (values[i] - base))
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix(right))
        for i in coarse:
            q_last[i] = 1 + sum(solution[degree + 1 - first + k - 1] * grid[i]**k for k in range(1, denominator + 1))

    def error(coefficients):
        errors = []
        for t, f in zip(grid, values):
            top, bottom = powers(t)
            p = base + sum(c * v for c, v in zip(coefficients, top))
            q = 1 + sum(c * v for c, v in zip(coefficients[len(top):], bottom))
            errors.append(p / q / f - 1)
        return errors

    level = mp.mpf(0)
    for _ in range(12):
        errors = error(list(solution)[:unknowns])
        e64 = np.array([float(e) for e in errors])
        extrema = []
        for i in range(nodes + 1):
            if extrema and (e64[i] > 0) == (e64[extrema[-1]] > 0):
                if abs(e64[i]) > abs(e64[extrema[-1]]):
                    extrema[-1] = i
            elif e64[i] != 0:
                extrema.append(i)
        while len(extrema) > unknowns + 1:
            extrema.pop(0 if abs(e64[extrema[0]]) < abs(e64[extrema[-1]]) else -1)
        if len(extrema) < unknowns + 1:
            break
        worst = max(abs(e64))
        if worst < 1.001 * min(abs(e64[i]) for i in extrema):
            break
        signs = [1 if errors[i] > 0 else -1 for i in extrema]
        level = sum(abs(errors[i]) for i in extrema) / len(extrema)
        x = list(solution)[:unknowns] + [level]
        for _ in range(30):
            rows, right = [], []
            for i, sign in zip(extrema, signs):
                top, bottom = powers(grid[i])
                p = base + sum(c * v for c, v in zip(x, top))
                q = 1 + sum(c * v for c, v in zip(x[len(top):-1], bottom))
                scale = values[i] * (1 + sign * x[-1])
                rows.append(top + [-scale * v for v in bottom] + [-values[i] * q * sign])
                right.append(-(p - scale * q))
            step = mp.lu_solve(mp.matrix(rows), mp.matrix(right))
            x = [a + b for a, b in zip(x, step)]
            if max(abs(s) for s in step) < mp.mpf(10)**-30:
                break
        solution = x[:-1]

    solution = list(solution)[:unknowns]
    numerator = ([base] if first else []) + solution[:degree + 1 - first]
    below = [mp.mpf(1)] + solution[degree + 1 - first:]
    print(f"{name}: relative error {float(max(abs(e) for e in error(solution))):.2e} on [{low}, {high}]")
    show = lambda values: ", ".join(float(np.float32(float(v))).hex() + "F" for v in values)
    print("  P:", show(numerator))
    if denominator:
        print("  Q:", show(below))


def quotient(function, at_zero, series):
    """function(x) / x as a function of t = x * x."""
    def g(t):
        return at_zero if t == 0 else function(mp.sqrt(t)) / mp.sqrt(t)
    return g


def ratio(function, power, subtract, limit):
    """(function(x) - subtract(x)) / x^power with its limit at 0."""
    return lambda x: limit if abs(x) < mp.mpf(10)**-12 else (function(x) - subtract(x)) / x**power


if __name__ == "__main__":
    ln2 = mp.log(2)
    remez("exp: (e^r - 1 - r) / r^2", ratio(mp.exp, 2, lambda r: 1 + r, mp.mpf(1) / 2), (-ln2 / 2, ln2 / 2), 4)
    remez("log: (log(1 + f) - f + f^2 / 2) / f^3", ratio(mp.log1p, 3, lambda f: f - f * f / 2, mp.mpf(1) / 3),
          (mp.sqrt(mp.mpf(1) / 2) - 1, mp.sqrt(mp.mpf(2)) - 1), 7)
    for p, q in ((4, 4), (5, 3), (4, 5)):
        remez(f"tanh {p}/{q}: tanh(x) / x in t = x^2", quotient(mp.tanh, mp.mpf(1), None), (0, mp.mpf("9.02")**2), p, q, 1)
    for p, q in ((4, 5), (5, 5), (6, 4)):
        remez(f"erf {p}/{q}: erf(x) / x in t = x^2", quotient(mp.erf, 2 / mp.sqrt(mp.pi), None), (0, mp.mpf("3.93")**2), p, q)
    quarter = (mp.pi / 4)**2 * mp.mpf("1.01")
    remez("sin: (sin(r) / r - 1) / t in t = r^2", lambda t: -mp.mpf(1) / 6 if t < mp.mpf(10)**-12 else
          (mp.sin(mp.sqrt(t)) / mp.sqrt(t) - 1) / t, (0, quarter), 2)
    remez("cos: (cos(r) - 1 + t / 2) / t^2 in t = r^2", lambda t: mp.mpf(1) / 24 if t < mp.mpf(10)**-8 else
          (mp.cos(mp.sqrt(t)) - 1 + t / 2) / t**2, (0, quarter), 2)
