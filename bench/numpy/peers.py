#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Decompositions and Fourier transforms in NumPy and SciPy: what Python costs is part of it.

    peers.py OUT.json [--threads 1] [--repetitions 5] [--min-time 0.05] [--filter NAME]

Names and sizes are those of bench/*/*.bench.cpp, so the tables have them in one row; bench/run alternates the processes. Each
result is compared with float64 before it is timed. Ends with 4 where SciPy is not installed.
"""

import functools
import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
try:
    import numpy as np
    import scipy
    import scipy.fft
    import scipy.linalg
except ImportError:
    print("skipped: SciPy is not installed")
    sys.exit(4)

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import exact  # noqa: E402: found beside the other benchmarks
import timing  # noqa: E402

random = np.random.default_rng(1)


def numbers(*shape):
    return random.random(shape, np.float32) * 2 - 1


def decompositions():
    for n in (64, 512):
        a, b, plain = numbers(n, n) + n * np.eye(n, dtype=np.float32), numbers(n, 16), numbers(n, n)
        symmetric = (a + a.T) / 2
        solution, factor = np.linalg.solve(*exact.doubles(a, b)), np.linalg.cholesky(np.float64(symmetric))
        svd = {"numpy": functools.partial(np.linalg.svd, plain, full_matrices=False),
               "scipy": functools.partial(scipy.linalg.svd, plain, full_matrices=False)}
        runs = {"solve": {"numpy": lambda a=a, b=b: np.linalg.solve(a, b), "scipy": lambda a=a, b=b: scipy.linalg.solve(a, b)},
                "cholesky": {"numpy": lambda s=symmetric: np.linalg.cholesky(s),
                             "scipy": lambda s=symmetric: scipy.linalg.cholesky(s, lower=True)}}
        for workload, expected in (("solve", solution), ("cholesky", factor)):
            for contender, run in runs[workload].items():
                exact.require_close(run(), expected, 1e-4, f"{workload}/{contender}")
                yield f"{workload}/{contender}/{n}", run
        for contender, run in svd.items():
            u, s, vh = exact.doubles(*run())
            exact.require_close((u * s) @ vh, np.float64(plain), 1e-4, f"svd/{contender}")
            yield f"svd/{contender}/{n}", run


def transforms():
    for n in (1 << 10, 1 << 15, 1 << 20, 10_007):
        x = (numbers(n) + 1j * numbers(n)).astype(np.complex64)
        for contender, library in (("numpy", np.fft), ("scipy", scipy.fft)):
            for workload, run, values in (("fft", library.fft, x), ("rfft", library.rfft, x.real.copy())):
                wide = values.astype(np.complex128 if workload == "fft" else np.float64)
                difference = np.abs(run(values) - run(wide)).max() / n ** 0.5
                exact.require_close(difference, 0.0, 1e-5, f"{workload}/{contender}")
                yield f"{workload}/{contender}/{n}", functools.partial(run, values)


def main():
    options = timing.options_of(__doc__.splitlines()[0])
    workloads = {name: run for part in (decompositions, transforms) for name, run in part() if options.filter.search(name)}
    timing.write(options.out, timing.measure(workloads, options), f"NumPy {np.__version__}, SciPy {scipy.__version__}")


if __name__ == "__main__":
    main()
