# SPDX-License-Identifier: Apache-2.0
"""Fourier and cosine transforms beside scipy.fft, convolutions beside sums of products."""

import re

import numpy as np

from bounded import UNITS, wide
from cases import random_shape
from dtypes import NUMPY, Array
from functions import Function
from matrices import scipy

if scipy:
    import scipy.fft
    import scipy.signal

NORMS = ("backward", "ortho", "forward")


def transform(f, rank=2, made=None):
    """`f(x, points, norm, axes)`. The error of a fast transform is bounded in the norm of the whole line: units in the last
    place for each of its log2(n) passes (Higham, Accuracy and Stability, 24.1)."""

    def reference(arrays, numbers, variant):
        array = arrays[0]
        values = wide(array)
        axes = tuple(int(axis) for axis in re.findall(r"-?\d+", variant))
        if 0 in values.shape:
            raise ValueError("no points")
        result = np.asarray(f(values, int(numbers[1]), NORMS[int(numbers[0])], axes, int(numbers[2])))
        narrow = array.code in ("f4", "c8")
        code = ("c8" if narrow else "c16") if result.dtype.kind == "c" else ("f4" if narrow else "f8")
        passes = 1 + np.log2(max(2, values.size, result.size))
        bound = 4 * UNITS[code] * passes * float(np.linalg.norm(result))
        return [Array(code, result.astype(NUMPY[code]), bound)]

    def numbers(draw):
        return draw.randrange(3), draw.choice((1, 2, 3, 4, 5, 8, 12, 13)), draw.choice((2, 3))

    def shapes(draw, _):
        return [tuple(draw.choice((1, 2, 3, 4, 5, 7)) for _ in range(rank))]

    return Function(reference, ("modest_finite",), shapes, numbers)


def shifted(f):
    def reference(arrays, _, variant):
        axes = tuple(int(axis) for axis in re.findall(r"-?\d+", variant))
        return [Array(arrays[0].code, np.asarray(f(arrays[0].values, axes or None)))]

    return Function(reference, ("modest_finite",), lambda draw, _: [random_shape(draw, 3)])


def convolved(mode):
    def reference(arrays, _, __):
        x, y = (wide(array) for array in arrays)
        if 0 in x.shape + y.shape:
            raise ValueError("no points")
        result = scipy.signal.convolve(x, y, mode, "direct")
        size = float(np.linalg.norm(x) * np.linalg.norm(y))
        code = arrays[0].code
        bound = 8 * UNITS[code] * (3 + 3 * np.log2(max(2, x.size + y.size))) * size
        return [Array(code, result.astype(arrays[0].values.dtype), bound)]

    def shapes(draw, _):
        return [tuple(draw.choice((1, 2, 3, 4, 5)) for _ in range(2)) for _ in range(2)]

    return Function(reference, ("modest_finite",), shapes)


def cosine(f):
    return transform(lambda x, n, norm, axes, kind: f(x, type=kind, norm="ortho" if norm == "ortho" else "backward", axis=axes[0]))


FUNCTIONS = {
    "fft.fft": transform(lambda x, n, norm, axes, _: scipy.fft.fft(x, n if axes[0] else None, axes[0], norm)),
    "fft.ifft": transform(lambda x, n, norm, axes, _: scipy.fft.ifft(x, n, axes[0], norm)),
    "fft.rfft": transform(lambda x, n, norm, axes, _: scipy.fft.rfft(x, n if axes[0] else None, axes[0], norm)),
    "fft.irfft": transform(lambda x, n, norm, axes, _: scipy.fft.irfft(x, n, axes[0], norm)),
    "fft.hfft": transform(lambda x, n, norm, axes, _: scipy.fft.hfft(x, n, axes[0], norm)),
    "fft.ihfft": transform(lambda x, n, norm, axes, _: scipy.fft.ihfft(x, n, axes[0], norm)),
    "fft.fft2": transform(lambda x, n, norm, axes, _: scipy.fft.fft2(x, norm=norm), 3),
    "fft.ifft2": transform(lambda x, n, norm, axes, _: scipy.fft.ifft2(x, norm=norm), 3),
    "fft.rfft2": transform(lambda x, n, norm, axes, _: scipy.fft.rfft2(x, norm=norm), 3),
    "fft.fftn": transform(lambda x, n, norm, axes, _: scipy.fft.fftn(x, norm=norm), 3),
    "fft.ifftn": transform(lambda x, n, norm, axes, _: scipy.fft.ifftn(x, axes=axes, norm=norm), 3),
    "fft.dct": cosine(lambda x, **how: scipy.fft.dct(x, **how)),
    "fft.idct": cosine(lambda x, **how: scipy.fft.idct(x, **how)),
    "fft.fftshift": shifted(np.fft.fftshift),
    "fft.ifftshift": shifted(np.fft.ifftshift),
    "fft.fftconvolve_full": convolved("full"),
    "fft.fftconvolve_same": convolved("same"),
} if scipy else {}
