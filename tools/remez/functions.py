# SPDX-License-Identifier: Apache-2.0
"""What twill's vector math approximates, where, and by which form. remez.py makes the coefficients."""
import math
from dataclasses import dataclass
from typing import Callable, Optional

import mpmath as mp

from polish import polish


@dataclass
class Fit:
    name: str
    formula: str
    function: Callable
    interval: tuple
    degree: int
    denominator: int = 0
    constant: Optional[float] = None
    weight: Optional[Callable] = None
    kind: str = "float"
    polish: Optional[Callable] = None
    saturation: Optional[tuple] = None  # where to look for the argument from which the result is 1


def ratio(function, power, subtract, limit):
    """(function(x) - subtract(x)) / x^power with its limit at 0."""
    return lambda x: limit if abs(x) < mp.mpf(10)**-12 else (function(x) - subtract(x)) / x**power


def odd(function, slope):
    """function(x) / x as a function of t = x * x."""
    return lambda t: slope if t == 0 else function(mp.sqrt(t)) / mp.sqrt(t)


def odd_rest(function, limit):
    """(function(x) / x - 1) / t as a function of t = x * x."""
    return lambda t: limit if t < mp.mpf(10)**-14 else (function(mp.sqrt(t)) / mp.sqrt(t) - 1) / t


def cosine_rest(t):
    """(cos r - 1 + t / 2) / t^2 in t = r^2"""
    return mp.mpf(1) / 24 if t < mp.mpf(10)**-8 else (mp.cos(mp.sqrt(t)) - 1 + t / 2) / t**2


def log2_rest(f):
    """log2(1 + f) / f - 1.4375"""
    return 1 / mp.log(2) - mp.mpf("1.4375") if abs(f) < mp.mpf(10)**-20 else mp.log1p(f) / mp.log(2) / f - mp.mpf("1.4375")


def log10_rest(f):
    """log10(1 + f) / f - 0.4375"""
    return 1 / mp.log(10) - mp.mpf("0.4375") if abs(f) < mp.mpf(10)**-20 else mp.log1p(f) / mp.log(10) / f - mp.mpf("0.4375")


def twice_atanh_rest(z):
    """(2 atanh(s) / s - 2) / z in z = s^2"""
    if z < mp.mpf(10)**-14:
        return mp.mpf(2) / 3
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) / s - 2) / z


def scaled_erfc(x):
    return mp.erfc(x) * mp.exp(x * x)


def middle_lgamma(x):
    """lgamma(x) / ((x - 1) (x - 2))"""
    if abs(x - 1) < mp.mpf(10)**-12:
        return mp.euler
    if abs(x - 2) < mp.mpf(10)**-12:
        return 1 - mp.euler
    return mp.loggamma(x).real / ((x - 1) * (x - 2))


def stirling_rest(u):
    """x (lgamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2)) in u = 1 / x^2"""
    if u < mp.mpf(10)**-8:
        return mp.mpf(1) / 12
    x = 1 / mp.sqrt(u)
    return x * (mp.loggamma(x).real - ((x - mp.mpf(1) / 2) * mp.log(x) - x + mp.log(2 * mp.pi) / 2))


def fits():
    half_ln2 = mp.log(2) / 2
    mantissa = (mp.sqrt(mp.mpf(1) / 2) - 1, mp.sqrt(mp.mpf(2)) - 1)
    quarter = (mp.pi / 4)**2 * mp.mpf("1.01")
    three_fifths = mp.mpf("0.6")**2 * mp.mpf("1.01")
    s_squared = ((mp.sqrt(mp.mpf(2)) - 1) / (mp.sqrt(mp.mpf(2)) + 1))**2 * mp.mpf("1.01")
    return [
        # float32
        Fit("exp_reduced", "(e^r - 1 - r) / r^2", ratio(mp.exp, 2, lambda r: 1 + r, mp.mpf(1) / 2), (-half_ln2, half_ln2), 4),
        Fit("exp2_reduced", "(2^r - 1) / r", ratio(lambda r: mp.mpf(2)**r, 1, lambda r: 1, mp.log(2)),
            (-mp.mpf("0.501"), mp.mpf("0.501")), 6),
        Fit("log_mantissa", "(log(1 + f) - f + f^2 / 2) / f^3", ratio(mp.log1p, 3, lambda f: f - f * f / 2, mp.mpf(1) / 3), mantissa, 7),
        Fit("log2_mantissa", "log2(1 + f) / f - 1.4375", log2_rest, mantissa, 9, weight=lambda f: log2_rest(f) + mp.mpf("1.4375")),
        Fit("log10_mantissa", "log10(1 + f) / f - 0.4375", log10_rest, mantissa, 9, weight=lambda f: log10_rest(f) + mp.mpf("0.4375")),
        Fit("sin_reduced", "(sin(r) / r - 1) / t in t = r^2", odd_rest(mp.sin, -mp.mpf(1) / 6), (mp.mpf(0), quarter), 2),
        Fit("cos_reduced", cosine_rest.__doc__, cosine_rest, (mp.mpf(0), quarter), 2),
        Fit("asin_small", "(asin(x) / x - 1) / t in t = x^2", odd_rest(mp.asin, mp.mpf(1) / 6), (mp.mpf(0), mp.mpf("0.2501")), 4),
        Fit("atan_small", "(atan(x) / x - 1) / t in t = x^2", odd_rest(mp.atan, -mp.mpf(1) / 3), (mp.mpf(0), three_fifths), 5),
        Fit("sinh_small", "(sinh(x) / x - 1) / t in t = x^2", odd_rest(mp.sinh, mp.mpf(1) / 6), (mp.mpf(0), mp.mpf(1)), 2),
        Fit("tanh_small", "(tanh(x) / x - 1) / t in t = x^2", odd_rest(mp.tanh, -mp.mpf(1) / 3), (mp.mpf(0), mp.mpf("0.4")), 4),
        Fit("tanh_fast", "tanh(x) / x in t = x^2", odd(mp.tanh, mp.mpf(1)), (mp.mpf(0), mp.mpf("8.3")**2), 4, 4, 1,
            polish=lambda p, q: polish(math.tanh, 8.3, p, q, 1, 8000, 2, (40000, 160000), 2000), saturation=(8.1, 8.3)),
        Fit("erf_fast", "erf(x) / x in t = x^2", odd(mp.erf, 2 / mp.sqrt(mp.pi)), (mp.mpf(0), mp.mpf("3.93")**2), 5, 5,
            polish=lambda p, q: polish(math.erf, 3.93, p, q, 1, 3000), saturation=(3.85, 3.93)),
        Fit("erf_small", "erf(x) / x - 1.125 in t = x^2", lambda t: odd(mp.erf, 2 / mp.sqrt(mp.pi))(t) - mp.mpf("1.125"),
            (mp.mpf(0), mp.mpf("0.9")**2), 6, weight=odd(mp.erf, 2 / mp.sqrt(mp.pi))),
        Fit("erf_large", "-log(erfc(x)), the error that of erf", lambda x: -mp.log(mp.erfc(x)), (mp.mpf("0.88"), mp.mpf("3.95")), 8,
            weight=lambda x: mp.erf(x) / mp.erfc(x)),
        # float64, for results in float32
        Fit("erfc_scaled", "erfc(x) e^(x^2)", scaled_erfc, (mp.mpf(0), mp.mpf("10.3")), 6, 6, kind="double"),
        Fit("lgamma_middle", middle_lgamma.__doc__, middle_lgamma, (mp.mpf(1), mp.mpf(3)), 5, 5, kind="double"),
        Fit("lgamma_stirling", stirling_rest.__doc__, stirling_rest, (mp.mpf(0), mp.mpf(1) / 9), 4, kind="double"),
        # float64
        Fit("exp_reduced_double", "(e^r - 1 - r) / r^2", ratio(mp.exp, 2, lambda r: 1 + r, mp.mpf(1) / 2), (-half_ln2, half_ln2), 9,
            kind="double"),
        Fit("log_mantissa_double", twice_atanh_rest.__doc__, twice_atanh_rest, (mp.mpf(0), s_squared), 6, kind="double"),
        Fit("log_mantissa_rest_double", "(2 atanh(s) / s - 2 - 2 z / 3) / z^2 in z = s^2",
            lambda z: mp.mpf(2) / 5 if z < mp.mpf(10)**-14 else (twice_atanh_rest(z) - mp.mpf(2) / 3) / z,
            (mp.mpf(0), s_squared), 6, kind="double"),
        Fit("sin_reduced_double", "(sin(r) / r - 1) / t in t = r^2", odd_rest(mp.sin, -mp.mpf(1) / 6), (mp.mpf(0), quarter), 5,
            kind="double"),
        Fit("cos_reduced_double", cosine_rest.__doc__, cosine_rest, (mp.mpf(0), quarter), 5, kind="double"),
        Fit("tanh_small_double", "(tanh(x) / x - 1) / t in t = x^2", odd_rest(mp.tanh, -mp.mpf(1) / 3), (mp.mpf(0), mp.mpf("0.4")), 3, 3,
            kind="double"),
    ]
