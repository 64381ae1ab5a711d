# SPDX-License-Identifier: Apache-2.0
"""Functions of complex numbers: NumPy's in long double at points of all sizes, and its signs of zeros, infinities and NaN. Where
NumPy's own formula cancels, it is written out. Points and results are pairs along a last axis of 2."""

import numpy

WIDE = numpy.clongdouble
NAN, INF = float("nan"), float("inf")


def expm1(z):
    half = numpy.sin(z.imag / 2)
    return joined(numpy.expm1(z.real) * numpy.cos(z.imag) - 2 * half * half, numpy.exp(z.real) * numpy.sin(z.imag))


def log1p(z):
    near = numpy.log1p(z.real * (2 + z.real) + z.imag * z.imag) / 2
    small = numpy.maximum(abs(z.real), abs(z.imag)) < 0.5
    return joined(numpy.where(small, near, numpy.log(z + 1).real), numpy.arctan2(z.imag, 1 + z.real))


def exp2(z):
    return numpy.exp(z * numpy.log(numpy.longdouble(2)))


def sigmoid(z):
    decay = numpy.exp(numpy.where(z.real < 0, z, -z))
    return numpy.where(z.real < 0, decay, 1) / (decay + 1)


def joined(real, imag):
    z = numpy.empty(real.shape, WIDE)
    z.real, z.imag = real, imag
    return z


INVERSE = [numpy.arcsin, numpy.arccos, numpy.arctan, numpy.arcsinh, numpy.arccosh, numpy.arctanh]
OTHERS = [expm1, log1p, exp2, lambda z: numpy.log(z) / numpy.log(numpy.longdouble(2)),
          lambda z: numpy.log(z) / numpy.log(numpy.longdouble(10)), numpy.sign, sigmoid, lambda z: 1 / numpy.sqrt(z)]
# numpy.expm1 and others have other limits than C would give them
LIMITS = INVERSE + [lambda z: numpy.log(z + 1), numpy.sign]


def pairs(z):
    z = numpy.asarray(z)
    return numpy.stack([z.real, z.imag], -1).astype(numpy.float64)


def make(save):
    parts = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.25, -3.5, 10.0]
    cuts = numpy.array([complex(x, y) for x in parts for y in parts])
    rng = numpy.random.default_rng(17)
    count = 60
    sizes = 10.0 ** rng.uniform(-12, 12, (2, count))
    signs = rng.choice([-1.0, 1.0], (2, count))
    wide = (sizes * signs)[0] + 1j * (sizes * signs)[1]
    near = rng.choice([1.0, -1.0, 1j, -1j], count) + wide * 10.0 ** rng.uniform(-16, -13, count)
    circle = numpy.exp(1j * rng.uniform(-3.2, 3.2, 20)) * (1 + rng.uniform(-1e-6, 1e-6, 20))
    huge = [1e300 + 1e300j, -1.5e308 + 1e308j, 1e-310 + 2e-310j, 1e200 - 1e-200j, -1e-200 + 1e-180j, 1e155 - 3j, 3 + 1e160j]
    points = numpy.concatenate([wide, near, circle, huge])
    moderate = numpy.concatenate([rng.normal(size=40) * 3 + 3j * rng.normal(size=40), wide[abs(wide) < 10], [-30 + 1j, 30 + 40j]])
    odd = numpy.array([complex(x, y) for x in (INF, -INF, NAN, 1.5, -0.0) for y in (INF, -INF, NAN, -2.0, 0.0)])
    with numpy.errstate(all="ignore"):
        for name, at, functions in [("points", points, INVERSE), ("moderate", moderate, OTHERS), ("cuts", cuts, INVERSE),
                                    ("odd", odd, LIMITS)]:
            z = at.astype(WIDE) if name in ("points", "moderate") else at
            save(name, pairs(at))
            save(f"{name}_results", numpy.stack([pairs(f(z)) for f in functions]))
        save("roots_results", numpy.stack([pairs(f(points.astype(WIDE))) for f in (numpy.sqrt, numpy.log)]))
