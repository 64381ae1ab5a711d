# SPDX-License-Identifier: Apache-2.0
"""Special functions in float64 over their whole ranges: arguments, then SciPy's values, a row for each function. PyTorch's incomplete
gamma functions have nine digits. Digamma, polygamma, the upper incomplete gamma function at small a and the incomplete beta function
at large and at small parameters are mpmath's, with all digits."""

import math

import numpy as np


def make(save):
    try:
        from scipy import special
    except ImportError as error:
        print(f"special_functions: skipped: {error}")
        return
    sizes = np.logspace(-8, 2.5, 80)
    x = np.concatenate([-sizes[::-1], [0], sizes, [29.999, 30, 30.001]])
    save("bessel_x", x)
    save("bessel", np.stack([special.i0e(x), special.i1e(x), special.j0(x), special.j1(x)]))
    tails = np.logspace(-15, -0.5, 60)
    p = np.concatenate([tails, np.linspace(0.05, 0.95, 61), 1 - tails, [0, 1, 0.25, 0.5, 0.75, -0.1, math.nan]])
    save("quantile_p", p)
    save("quantile", np.stack([special.erfinv(2 * p - 1), special.ndtri(p)]))
    share = np.concatenate([np.logspace(-3, 1, 17), 1 + np.linspace(-0.2, 0.2, 9)])
    a, share = np.meshgrid(np.logspace(-2, 4, 25), share, indexing="ij")
    x = np.concatenate([(a * share).reshape(-1), [1, 0, math.inf, 1]])
    a = np.concatenate([a.reshape(-1), [0, 1, 2, -1]])
    save("gamma_a", a)
    save("gamma_x", x)
    save("gamma", np.stack([special.gammainc(a, x), special.gammaincc(a, x)]))
    a, b, deviations = np.meshgrid(np.logspace(-2, 4, 9), np.logspace(-2, 4, 9), np.linspace(-4, 4, 9), indexing="ij")
    mean, variance = a / (a + b), a * b / (a + b) ** 2 / (a + b + 1)
    x = np.clip(mean + deviations * np.sqrt(variance), 1e-6, 1 - 1e-6)
    ends = np.array([(0, 1, 0.5), (1, 0, 0.5), (0, 0, 0.5), (np.inf, 1, 0.5), (1, np.inf, 0.5), (np.inf, np.inf, 0.5), (2, 3, 0),
                     (2, 3, 1), (2, 3, -0.1), (2, 3, 1.1), (-1, 2, 0.5), (2, 3, math.nan)]).T
    arguments = np.concatenate([np.stack([a, b, x]).reshape(3, -1), ends], axis=1)
    save("beta_arguments", arguments)
    save("beta", special.betainc(*arguments))
    try:
        import mpmath
    except ImportError as error:
        print(f"special_functions: skipped: {error}")
        return
    mpmath.mp.dps = 40
    right = np.concatenate([np.logspace(-3, 4, 15), [11.9, 12.1, 12.8]])
    left = np.add.outer([0.0, -1, -4, -9], [-1e-9, -0.05, -0.3, -0.499214544026563, -0.5, -0.501, -0.8]).reshape(-1)
    order, x = np.meshgrid(np.array([1.0, 2, 3, 5, 6, 12]), np.concatenate([right, left]), indexing="ij")
    save("polygamma_arguments", np.stack([order, x]).reshape(2, -1))
    save("polygamma", np.array([float(mpmath.polygamma(int(n), float(x))) for n, x in zip(order.flat, x.flat)]))
    small = np.stack(np.meshgrid(np.logspace(-8, 0.2, 12), np.logspace(-6, 1, 15), indexing="ij")).reshape(2, -1)
    large, deviations = np.meshgrid(np.logspace(1, 4, 7), np.linspace(-4.5, 4.5, 7), indexing="ij")
    large = np.stack([large, np.maximum(large + deviations * np.sqrt(large), large / 50)]).reshape(2, -1)
    arguments = np.concatenate([small, large], axis=1)
    save("upper_gamma_arguments", arguments)
    save("upper_gamma", np.array([float(mpmath.gammainc(float(a), float(x), regularized=True)) for a, x in arguments.T]))
    right = np.concatenate([np.logspace(-8, 8, 33), 1.4616321449683623 + np.array([-1e-3, -1e-9, -2e-16, 0, 2e-16, 1e-9, 1e-3])])
    zeros = np.array([float(mpmath.findroot(mpmath.digamma, x)) for x in (-0.504, -1.573, -3.635, -9.703, -19.731)])
    beside = np.add.outer(zeros, [-0.2, -1e-2, -1e-6, -1e-12, 0, 1e-14, 1e-8, 1e-4, 0.1]).reshape(-1)
    x = np.concatenate([right, beside, [-1e-9, -1 - 1e-9, -7 + 1e-7, -1000.3, -1e6 - 0.25]])
    save("digamma_arguments", x)
    save("digamma", np.array([float(mpmath.digamma(float(each))) for each in x]))
    a, b, deviations = np.meshgrid([0.02, 0.5, 3, 12, 700, 9000], [0.01, 0.3, 1, 7, 15, 5000], [-4.5, -1, 0.3, 2, 4.5], indexing="ij")
    x = a / (a + b) + deviations * np.sqrt(a * b / (a + b + 1)) / (a + b)
    arguments = np.stack([a, b, np.where((x > 0) & (x < 1), x, 0.5 + deviations / 10)]).reshape(3, -1)
    exact = [incomplete_beta(*(mpmath.mpf(float(each)) for each in row)) for row in arguments.T]
    kept = np.array([value > 1e-290 for value in exact])
    save("accurate_beta_arguments", arguments[:, kept])
    save("accurate_beta", np.array([float(value) for value in exact if value > 1e-290]))


def incomplete_beta(a, b, x):
    """By a series of positive terms, on the side of the mean where it is short."""
    import mpmath

    if x > a / (a + b):
        return 1 - incomplete_beta(b, a, 1 - x)
    return x**a * (1 - x) ** b / a / mpmath.beta(a, b) * mpmath.hyp2f1(a + b, 1, a + 1, x)
