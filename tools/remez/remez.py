#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Minimax coefficients for twill's vector math: one command makes all of include/twill/kernel/math/coefficients.hpp.

Finds rational (or polynomial) approximations of smallest error by Remez's second algorithm: Newton's method solves for
coefficients and levelled error at a reference of alternation points, then the reference moves to the extrema of the error.
functions.py beside it says what is approximated where; polish.py rounds two of them better than one coefficient at a time.

    pip install mpmath numpy
    tools/remez/remez.py --write      # writes the header
    tools/remez/remez.py --check      # says how the header differs from what is computed; ends with 1 if it does, 4 without mpmath
"""
import sys
from pathlib import Path

try:
    import mpmath as mp
    import numpy as np
except ImportError as missing:
    print(f"remez: {missing}; pip install mpmath numpy")
    sys.exit(4)

mp.mp.dps = 50
HEADER = Path(__file__).resolve().parents[2] / "include/twill/kernel/math/coefficients.hpp"

OPENING = """#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Coefficients of the vector functions, lowest first. Written by `tools/remez/remez.py --write`, with the function, the
// interval and the error before rounding of each list; do not edit. Read next: kernel/math/polynomial.hpp.

namespace twill { inline namespace v0 { namespace kernel { namespace math_coefficients {

// clang-format off
"""


def remez(function, interval, degree, denominator=0, constant=None, weight=None):
    """function(t) ~ P(t) / Q(t), Q(0) = 1; `constant` fixes P(0); errors are relative to `weight`, by itself to the function.

    Returns P, Q and the largest error.
    """
    low, high = map(mp.mpf, interval)
    first = 0 if constant is None else 1
    unknowns = degree + 1 - first + denominator
    nodes = 2000
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / nodes) for i in range(nodes + 1)]
    values = [function(t) for t in grid]
    weights = values if weight is None else [weight(t) for t in grid]
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
            scale = 1 / (weights[i] * q_last[i])
            rows.append([scale * v for v in top] + [-scale * values[i] * v for v in bottom])
            right.append(scale * (values[i] - base))
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix(right))
        for i in coarse:
            q_last[i] = 1 + sum(solution[degree + 1 - first + k - 1] * grid[i]**k for k in range(1, denominator + 1))

    def error(coefficients):
        errors = []
        for t, f, w in zip(grid, values, weights):
            top, bottom = powers(t)
            p = base + sum(c * v for c, v in zip(coefficients, top))
            q = 1 + sum(c * v for c, v in zip(coefficients[len(top):], bottom))
            errors.append((p / q - f) / w)
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
                scale = values[i] + weights[i] * sign * x[-1]
                rows.append(top + [-scale * v for v in bottom] + [-weights[i] * q * sign])
                right.append(-(p - scale * q))
            step = mp.lu_solve(mp.matrix(rows), mp.matrix(right))
            x = [a + b for a, b in zip(x, step)]
            if max(abs(s) for s in step) < mp.mpf(10)**-30:
                break
        solution = x[:-1]

    solution = list(solution)[:unknowns]
    numerator = ([base] if first else []) + solution[:degree + 1 - first]
    below = [mp.mpf(1)] + solution[degree + 1 - first:]
    return numerator, below, float(max(abs(e) for e in error(solution)))


def literal(value, kind):
    """The number as the shortest hexadecimal literal of its type."""
    number = float(np.float32(float(value))) if kind == "float" else float(value)
    digits, exponent = number.hex().split("p")
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return f"{digits}p{exponent}" + ("F" if kind == "float" else "")


def text():
    """The whole header."""
    import functions
    out = [OPENING.rstrip("\n")]
    for fit in functions.fits():
        p, q, error = remez(fit.function, fit.interval, fit.degree, fit.denominator, fit.constant, fit.weight)
        low, high = (float(end) for end in fit.interval)
        out.append(f"/// {fit.formula} on [{low:.5g}, {high:.5g}]; error {error:.1e}{'; polished' if fit.polish else ''}")
        print(f"{fit.name}: {error:.2e}", file=sys.stderr)
        if fit.polish:
            p, q = fit.polish(p, q)
        lists = [(fit.name, p)] if not fit.denominator else [(fit.name + "_p", p), (fit.name + "_q", q)]
        for name, values in lists:
            out.append(f"inline constexpr {fit.kind} {name}[] = {{" + ", ".join(literal(v, fit.kind) for v in values) + "};")
        if fit.saturation:
            from polish import saturation
            bound = literal(saturation(p, q, *fit.saturation), fit.kind)
            out.append(f"inline constexpr {fit.kind} {fit.name}_bound = {bound}; ///< where the quotient is 1 to the bit")
        out.append("")
    out.append("// clang-format on\n\n}}}} // namespace twill::v0::kernel::math_coefficients")
    return wrapped("\n".join(out) + "\n")


def wrapped(source):
    """Lines of at most 120 columns, as the formatter would break them."""
    lines = []
    for line in source.split("\n"):
        while len(line) > 120 and "//" not in line:
            cut = line.rfind(", ", 0, 120) + 1
            column = line.index("{") + 1 if "{" in line else len(line) - len(line.lstrip())
            lines.append(line[:cut])
            line = " " * column + line[cut:].lstrip()
        lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    made = text()
    if "--write" in sys.argv:
        HEADER.write_text(made)
    elif "--check" in sys.argv:
        import difflib
        changes = list(difflib.unified_diff(HEADER.read_text().splitlines(), made.splitlines(), "header", "computed", lineterm=""))
        print("\n".join(changes) if changes else "coefficients.hpp is what the script computes")
        sys.exit(1 if changes else 0)
    else:
        print(made)
