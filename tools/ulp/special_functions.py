#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the errors of special functions against mpmath and writes tools/ulp/special_functions.md, in two minutes of one core.

    tools/ulp/special_functions.py            # CXX=clang++-16 for another compiler
    tools/ulp/special_functions.py --samples 200 --print betainc ndtri
"""
import argparse
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import mpmath
    import numpy as np
except ImportError as error:
    sys.exit(f"special_functions.py: {error}; install NumPy and mpmath")

HERE = Path(__file__).resolve().parent
FLAGS = ["-std=c++20", "-O2", "-ffp-contract=off"]

OPENING = """# Errors of special functions

Written by `tools/ulp/special_functions.py`; compiler: {compiler}, flags: `{flags}`; reference: mpmath {mpmath} with 60 digits at
arguments as they are in the type, drawn with a fixed seed. Errors are in units in the last place of the result's type. Results
that are no normal numbers are left out. The functions are computed in float64 for both types, so those of float32 are nearly always
the nearest number. Where a function but digamma passes through zero, its error relative to the result grows without limit beside it.

| function | arguments | type | inputs | median (ULP) | 99 % | largest | at |
|---|---|---|---|---|---|---|---|
"""


def positive(low, high):
    return lambda random, n: 10 ** random.uniform(low, high, n)


def between(low, high):
    return lambda random, n: random.uniform(low, high, n)


def whole(low, high):
    return lambda random, n: random.integers(low, high + 1, n).astype(float)


def both_signs(low, high):
    return lambda random, n: random.choice([-1.0, 1.0], n) * 10 ** random.uniform(low, high, n)


def ends(random, n):
    """Shares of a whole, half of them near 0."""
    return np.where(random.random(n) < 0.5, random.uniform(0, 1, n), 10 ** random.uniform(-30, 0, n))


def beside(places, low, high):
    """Numbers near those given, on both sides."""
    def draw(random, n):
        return [random.choice(np.array([float(place) for place in places]), n) + both_signs(low, high)(random, n)]
    return draw


def zeros_of_digamma():
    """The positive one, and those left of 0, one between two poles."""
    yield mpmath.findroot(mpmath.digamma, 1.46)
    for pole in range(20):
        yield mpmath.findroot(mpmath.digamma, (-pole - 0.999, -pole - 0.01), solver="anderson")


def gamma_arguments(low, high):
    def draw(random, n):
        a = 10 ** random.uniform(low, high, n)
        return a, np.maximum(a + np.sqrt(a) * random.uniform(-5, 5, n), a * 10 ** random.uniform(-2, 0, n))
    return draw


def beta_arguments(low, high):
    def draw(random, n):
        a, b = 10 ** random.uniform(low, high, n), 10 ** random.uniform(low, high, n)
        deviation = np.sqrt(a * b / (a + b + 1)) / (a + b)
        near = a / (a + b) + deviation * random.uniform(-5, 5, n)
        return a, b, np.where((near > 0) & (near < 1), near, random.uniform(0, 1, n))
    return draw


def quantile(p):
    return mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1)


def gammainc(a, x):
    return mpmath.gammainc(a, 0, x, regularized=True)


def gammaincc(a, x):
    return mpmath.gammainc(a, x, regularized=True)


def betainc(a, b, x):
    """By a series of positive terms, on the side of the mean where it is short."""
    if x > a / (a + b):
        return 1 - betainc(b, a, 1 - x)
    return x**a * (1 - x) ** b / a / mpmath.beta(a, b) * mpmath.hyp2f1(a + b, 1, a + 1, x)


# The function, its arguments in words, how they are drawn, and the reference.
ROWS = [
    ("digamma", "x from 1e-8 to 1e8", [positive(-8, 8)], mpmath.digamma),
    ("digamma", "x from -20 to 0", [between(-20, 0)], mpmath.digamma),
    ("digamma", "1e-16 to 0.1 beside zeros from -20 to 2", beside(list(zeros_of_digamma()), -16, -1), mpmath.digamma),
    ("digamma", "1e-5 to 0.1 beside poles from -20 to 0", beside(range(-20, 1), -5, -1), mpmath.digamma),
    ("polygamma", "order 1 to 6, x from 1e-3 to 1e4", [whole(1, 6), positive(-3, 4)], lambda n, x: mpmath.polygamma(int(n), x)),
    ("polygamma", "order 1 to 3, x from -10 to 0", [whole(1, 3), between(-10, 0)], lambda n, x: mpmath.polygamma(int(n), x)),
    ("erfinv", "x from -1 to 1", [between(-1, 1)], mpmath.erfinv),
    ("ndtri", "p from 1e-30 to 1", [ends], quantile),
    ("i0", "x of both signs, from 1e-8 to 700", [both_signs(-8, math.log10(700))], lambda x: mpmath.besseli(0, x)),
    ("i1", "x of both signs, from 1e-8 to 700", [both_signs(-8, math.log10(700))], lambda x: mpmath.besseli(1, x)),
    ("i0e", "x of both signs, from 1e-8 to 1e4", [both_signs(-8, 4)], lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x))),
    ("i1e", "x of both signs, from 1e-8 to 1e4", [both_signs(-8, 4)], lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x))),
    ("bessel_j0", "x of both signs, from 1e-8 to 2", [both_signs(-8, math.log10(2))], lambda x: mpmath.besselj(0, x)),
    ("bessel_j0", "x of both signs, from 2 to 1e4, with zeros", [both_signs(math.log10(2), 4)], lambda x: mpmath.besselj(0, x)),
    ("bessel_j1", "x of both signs, from 1e-8 to 3", [both_signs(-8, math.log10(3))], lambda x: mpmath.besselj(1, x)),
    ("bessel_j1", "x of both signs, from 3 to 1e4, with zeros", [both_signs(math.log10(3), 4)], lambda x: mpmath.besselj(1, x)),
    ("gammainc", "a from 0.01 to 10, x within 5 deviations or below", gamma_arguments(-2, 1), gammainc),
    ("gammainc", "a from 10 to 1e4, x within 5 deviations or below", gamma_arguments(1, 4), gammainc),
    ("gammaincc", "a from 0.01 to 10, x within 5 deviations or below", gamma_arguments(-2, 1), gammaincc),
    ("gammaincc", "a from 10 to 1e4, x within 5 deviations or below", gamma_arguments(1, 4), gammaincc),
    ("betainc", "a, b from 0.01 to 10, x within 5 deviations", beta_arguments(-2, 1), betainc),
    ("betainc", "a, b from 10 to 1e4, x within 5 deviations", beta_arguments(1, 4), betainc),
    ("betainc", "a, b from 0.01 to 1e4, x within 5 deviations", beta_arguments(-2, 4), betainc),
]


def build(compiler, folder):
    program = Path(folder) / "special_functions"
    subprocess.run([compiler, *FLAGS, f"-I{HERE.parents[1] / 'include'}", str(HERE / "special_functions.cpp"), "-o", str(program)], check=True)
    return program


def errors(program, name, draw, reference, samples, narrow):
    """The errors of sampled arguments in units in the last place, and the arguments as text."""
    random = np.random.default_rng(7)
    columns = draw(random, samples) if callable(draw) else [each(random, samples) for each in draw]
    rounded = [np.float32(column).astype(float) if narrow else column for column in columns]
    digits, least = (23, 2.0**-126) if narrow else (52, 2.0**-1022)
    lines = [" ".join([name + ":32" * narrow, *(float(x).hex() for x in row)]) for row in zip(*rounded)]
    answer = subprocess.run([program], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True).stdout.split()
    result, where = [], []
    for row, found in zip(zip(*rounded), answer, strict=True):
        exact = reference(*(mpmath.mpf(float(x)) for x in row))
        if not abs(exact) >= least or not math.isfinite(float.fromhex(found)):
            continue
        unit = mpmath.mpf(2) ** (mpmath.floor(mpmath.log(abs(exact), 2)) - digits)
        result.append(float(abs(mpmath.mpf(float.fromhex(found)) - exact) / unit))
        where.append(", ".join(f"{x:.9g}" if narrow else repr(float(x)) for x in row))
    return np.array(result), where


def table(program, names, samples):
    for name, arguments, draw, reference in ROWS:
        if names and name not in names:
            continue
        for narrow in (False, True):
            found, where = errors(program, name, draw, reference, samples, narrow)
            worst = int(np.argmax(found))
            yield (f"| {name} | {arguments} | {'float32' if narrow else 'float64'} | {len(found)} | {np.median(found):.2f} | "
                   f"{np.quantile(found, 0.99):.2f} | {found[worst]:.2f} | {where[worst]} |\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--print", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    mpmath.mp.dps = 60
    compiler = os.environ.get("CXX", "g++")
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    with tempfile.TemporaryDirectory() as folder:
        text = OPENING.format(compiler=version, flags=" ".join(FLAGS), mpmath=mpmath.__version__)
        for line in table(build(compiler, folder), options.names, options.samples):
            text += line
            print(line, end="", flush=True)
    if not options.print and not options.names:
        (HERE / "special_functions.md").write_text(text)
