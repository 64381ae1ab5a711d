#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the errors of functions of complex numbers against mpmath and writes tools/ulp/complex_functions.md.

    tools/ulp/complex_functions.py            # CXX=clang++-16 for another compiler
    tools/ulp/complex_functions.py --samples 200 --print asin log
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import mpmath
    import numpy as np
except ImportError as error:
    sys.exit(f"complex_functions.py: {error}; install NumPy and mpmath")

HERE = Path(__file__).resolve().parent
FLAGS = ["-std=c++20", "-O2", "-ffp-contract=off"]

OPENING = """# Errors of functions of complex numbers

Written by `tools/ulp/complex_functions.py`; compiler: {compiler}, flags: `{flags}`; reference: mpmath {mpmath} with 60 digits at
points as they are in the type, drawn with a fixed seed. Errors are in units in the last place of the type: of the size
|f(z)|, and of the worse of both parts, each relative to itself. A part that passes through zero while the other does not, or that
is the difference of two numbers, has no bound of its own: `none` where the largest is above 1000. Results with a part that is no
normal number are left out.

| function | points | type | inputs | of the size: median | 99 % | largest | of a part: 99 % | largest |
|---|---|---|---|---|---|---|---|---|
"""


def sized(low, high):
    """Parts of both signs and of all sizes."""
    return lambda random, n: random.choice([-1.0, 1.0], (2, n)) * 10 ** random.uniform(low, high, (2, n))


def between(low, high):
    return lambda random, n: random.uniform(low, high, (2, n))


def branch_points(random, n):
    corner = random.choice([1, -1, 1j, -1j], n)
    parts = sized(-12, -1)(random, n)
    return np.array([corner.real + parts[0], corner.imag + parts[1]])


def unit_circle(random, n):
    angle, size = random.uniform(-3.15, 3.15, n), 1 + sized(-12, -2)(random, n)[0]
    return np.array([size * np.cos(angle), size * np.sin(angle)])


WIDE = ("parts from 1e-8 to 1e8", sized(-8, 8))
BESIDE = ("1e-12 to 0.1 beside 1, -1, i, -i", branch_points)
CIRCLE = ("beside the unit circle", unit_circle)
SMALL = ("parts from 1e-8 to 1", sized(-8, 0))
MODERATE = ("parts from -20 to 20", between(-20, 20))
REFERENCES = {
    "exp": (mpmath.exp, [MODERATE, SMALL]),
    "exp2": (lambda z: mpmath.power(2, z), [MODERATE]),
    "expm1": (mpmath.expm1, [MODERATE, SMALL]),
    "log": (mpmath.log, [WIDE, CIRCLE]),
    "log_in_models": (mpmath.log, [WIDE, CIRCLE]),
    "log2": (lambda z: mpmath.log(z, 2), [WIDE]),
    "log10": (mpmath.log10, [WIDE]),
    "log1p": (lambda z: mpmath.log(1 + z), [WIDE, SMALL]),
    "sqrt": (mpmath.sqrt, [WIDE]),
    "rsqrt": (lambda z: 1 / mpmath.sqrt(z), [WIDE]),
    "sign": (mpmath.sign, [WIDE]),
    "sigmoid": (lambda z: 1 / (1 + mpmath.exp(-z)), [MODERATE]),
    "sin": (mpmath.sin, [MODERATE]), "cos": (mpmath.cos, [MODERATE]), "tan": (mpmath.tan, [MODERATE]),
    "sinh": (mpmath.sinh, [MODERATE]), "cosh": (mpmath.cosh, [MODERATE]), "tanh": (mpmath.tanh, [MODERATE]),
    "asin": (mpmath.asin, [WIDE, BESIDE]), "acos": (mpmath.acos, [WIDE, BESIDE]), "atan": (mpmath.atan, [WIDE, BESIDE, CIRCLE]),
    "asinh": (mpmath.asinh, [WIDE, BESIDE]), "acosh": (mpmath.acosh, [WIDE, BESIDE]),
    "atanh": (mpmath.atanh, [WIDE, BESIDE, CIRCLE]),
}


def build(compiler, folder):
    program = Path(folder) / "complex_functions"
    subprocess.run([compiler, *FLAGS, f"-I{HERE.parents[1] / 'include'}", str(HERE / "complex_functions.cpp"), "-o", str(program),
                    "-lpthread"], check=True)
    return program


def errors(program, name, draw, samples, narrow):
    """Errors of sampled points in units in the last place: of the size, and of the worse part."""
    points = draw(np.random.default_rng(7), samples)
    points = points.astype(np.float32).astype(float) if narrow else points
    digits, least = (23, 2.0**-126) if narrow else (52, 2.0**-1022)
    lines = "".join(f"{float(x).hex()} {float(y).hex()}\n" for x, y in points.T)
    command = [program, name, "32" if narrow else "64"]
    answer = subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout
    results = []
    for (x, y), line in zip(points.T, answer.splitlines(), strict=True):
        exact = REFERENCES[name][0](mpmath.mpc(float(x), float(y)))
        found = mpmath.mpc(*(float.fromhex(part) for part in line.split()))
        if min(abs(exact.real), abs(exact.imag)) < least or not mpmath.isfinite(found):
            continue

        def unit(size):
            return mpmath.mpf(2) ** (mpmath.floor(mpmath.log(abs(size), 2)) - digits)

        parts = [abs(found.real - exact.real) / unit(exact.real), abs(found.imag - exact.imag) / unit(exact.imag)]
        results.append((float(abs(found - exact) / unit(exact)), float(max(parts))))
    return np.array(results).T


def table(program, names, samples):
    for name, (_, points) in REFERENCES.items():
        if names and name not in names:
            continue
        for words, draw in points:
            for narrow in (False, True):
                size, part = errors(program, name, draw, samples, narrow)
                of_part = f"{np.quantile(part, 0.99):.2f} | {part.max():.2f}" if part.max() < 1000 else "none | none"
                yield (f"| {name} | {words} | {'complex64' if narrow else 'complex128'} | {len(size)} | {np.median(size):.2f} | "
                       f"{np.quantile(size, 0.99):.2f} | {size.max():.2f} | {of_part} |\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=2000)
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
        (HERE / "complex_functions.md").write_text(text)
