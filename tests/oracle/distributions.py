# SPDX-License-Identifier: Apache-2.0
"""Draws beside scipy.stats: distribution functions at some points, pairs of neighbours, means and variances of a sample, each
with the bound that holds in all but one of a thousand million samples."""

import math

import numpy as np

from cases import Operand
from dtypes import Array, convert
from functions import Function

try:
    from scipy import stats
except ImportError:
    stats = None

COUNT = 97 * 211  # draws.cpp's drawn_extents
DEVIATIONS = 6.2  # of a normal distribution, beyond which lie 6e-10 of it
# Dvoretzky, Kiefer and Wolfowitz with Massart's constant: P(sup |F_n - F| > e) <= 2 exp(-2 n e^2)
DISTANCE = math.sqrt(math.log(2 / 6e-10) / (2 * COUNT))


def law(scipy_law, *choices):
    """`scipy_law(*parameters)`, and what each parameter is drawn from."""

    def make(draw, codes):
        parameters = tuple(draw.choice(each) for each in choices)
        frozen = scipy_law(*parameters)
        points = frozen.ppf(sorted(draw.uniform(0.02, 0.98) for _ in range(7)))
        code = codes[0]
        points = np.clip(points, -1e6, 1e6)
        if code not in ("f2", "bf", "f4", "f8"):
            points = np.floor(points)
        return [Operand(code, points.shape, values=(convert(points, code),))], (*parameters, draw.randrange(1, 10**6))

    def reference(arrays, numbers, _):
        frozen = scipy_law(*numbers[:-1])
        points = arrays[0].values.astype(np.float64)
        shares = np.asarray(frozen.cdf(points))
        # A float16 draw is a rounded one: it lies at or below a point when the number did up to half a unit above it.
        unit = {"f2": 2.0**-11, "bf": 2.0**-8, "f4": 2.0**-24}.get(arrays[0].code, 0)
        away = np.abs(points) * unit
        slack = float(np.max(frozen.cdf(points + away) - frozen.cdf(points - away))) if unit else 0
        p = float(shares[0])
        pair_deviation = math.sqrt(p * p * (1 - p * p) + 2 * p**3 * (1 - p)) / math.sqrt(COUNT)
        results = [Array("f8", shares, DISTANCE + slack), Array("f8", np.asarray(p * p), DEVIATIONS * pair_deviation + 2 * slack)]
        mean, variance, _, kurtosis = (float(each) for each in frozen.stats(moments="mvsk"))
        if math.isfinite(mean) and math.isfinite(kurtosis):
            rounding = (abs(mean) + math.sqrt(variance)) * unit
            deviation = math.sqrt(variance / COUNT)
            # the first two terms in 1 / sqrt(n): of two equally likely numbers the first is zero
            of_variance = variance * (math.sqrt(max(0, kurtosis + 2) / COUNT) + (DEVIATIONS + 1) / COUNT)
            results += [Array("f8", np.asarray(mean), DEVIATIONS * deviation + rounding),
                        Array("f8", np.asarray(variance), DEVIATIONS * of_variance + 4 * rounding * math.sqrt(variance))]
        return results

    return Function(reference, make=make)


def truncated(mean, deviation, low, high):
    return stats.truncnorm((low - mean) / deviation, (high - mean) / deviation, mean, deviation)


FUNCTIONS = {
    "draws.rand": law(lambda: stats.uniform()),
    "draws.randn": law(lambda: stats.norm()),
    "draws.uniform": law(lambda low, high: stats.uniform(low, high - low), (-3.0, 0.0, 0.25), (0.5, 1.0, 7.0)),
    "draws.normal": law(lambda mean, deviation: stats.norm(mean, deviation), (-2.0, 0.0, 5.0), (0.1, 1.0, 3.0)),
    "draws.exponential": law(lambda scale: stats.expon(0, scale), (0.1, 1.0, 4.0)),
    "draws.laplace": law(lambda location, scale: stats.laplace(location, scale), (-1.0, 0.0, 2.0), (0.2, 1.0, 3.0)),
    "draws.gumbel": law(lambda location, scale: stats.gumbel_r(location, scale), (-1.0, 0.0, 2.0), (0.2, 1.0, 3.0)),
    "draws.cauchy": law(lambda median, scale: stats.cauchy(median, scale), (-1.0, 0.0, 2.0), (0.2, 1.0, 3.0)),
    "draws.log_normal": law(lambda mean, deviation: stats.lognorm(deviation, 0, math.exp(mean)), (-1.0, 0.0, 0.5), (0.1, 0.25)),
    "draws.truncated_normal": law(truncated, (-0.5, 0.0, 1.0), (0.5, 1.0, 2.0), (-2.0, -1.0), (1.5, 3.0, 6.0)),
    "draws.gamma": law(lambda shape, scale: stats.gamma(shape, 0, scale), (0.3, 1.0, 2.5, 40.0), (0.5, 1.0, 3.0)),
    "draws.beta": law(lambda a, b: stats.beta(a, b), (0.5, 1.0, 2.0, 9.0), (0.5, 1.0, 3.0)),
    "draws.gamma_each": law(lambda shape: stats.gamma(shape), (0.3, 1.0, 2.5, 40.0)),
    "draws.poisson_each": law(lambda mean: stats.poisson(mean), (0.3, 2.0, 9.5, 60.0)),
    "draws.bernoulli_each": law(lambda probability: stats.bernoulli(probability), (0.125, 0.5, 0.75)),
    "draws.dirichlet": law(lambda a, b: stats.beta(a, b + 1.5), (0.25, 1.0, 3.0), (0.5, 2.0)),
    "draws.poisson": law(lambda mean: stats.poisson(mean), (0.3, 2.0, 9.5, 60.0, 400.0)),
    "draws.integers": law(lambda low, high: stats.randint(low, high), (0, 1, 3), (5, 10, 100, 127)),
    "draws.bernoulli": law(lambda probability: stats.bernoulli(probability), (0.03, 0.3, 0.5, 0.9)),
} if stats else {}
