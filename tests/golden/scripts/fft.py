# SPDX-License-Identifier: Apache-2.0
"""Fourier and cosine transforms and convolutions as NumPy and SciPy have them, on numbers that tests/fft/golden.test.cpp makes
by the same formula. `transforms` and `convolutions` are lists of cases: a header, then the results, of which many leave out
elements so that the files stay small."""

import numpy as np
import scipy.fft
import scipy.signal

NORMS = ["backward", "ortho", "forward"]
# In the order of the test.
ONE_AXIS = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "dct", "idct"]
SEVERAL_AXES = ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"]
TAKES_COMPLEX = {"fft", "ifft", "irfft", "hfft", "fft2", "ifft2", "irfft2", "fftn", "ifftn", "irfftn"}
LENGTHS = [1, 2, 3, 4, 5, 8, 11, 13, 17, 25, 30, 49, 60, 64, 97, 100, 128, 360, 1009, 4096]
MOST_VALUES = 48


def numbers(shape, is_complex):
    """((7919 i + 13 i^2) mod 2003 - 1001) / 1001, for a complex array real and imaginary parts in turn."""
    i = np.arange(int(np.prod(shape)) * (2 if is_complex else 1), dtype=np.int64)
    x = ((7919 * i + 13 * i * i) % 2003 - 1001) / 1001
    return (x.view(np.complex128) if is_complex else x).reshape(shape)


def sampled(y):
    flat = np.ascontiguousarray(y).ravel()
    step = max(1, flat.size // MOST_VALUES) | 1
    flat = np.ascontiguousarray(flat[::step])
    return step, (flat.view(np.float64) if np.iscomplexobj(flat) else flat)


def transform_cases():
    norm = 0
    for name in ONE_AXIS:
        for at, n in enumerate(LENGTHS):
            axis, norm = at % 3, (norm + 1) % 3
            shape = [2, 3, 2] if n < 300 else [1, 1, 1]
            if at % 4 == 3:
                shape[(axis + 1) % 3] = 9  # more lines than fill a vector
            halved = name in ("irfft", "hfft")
            shape[axis] = n // 2 + 1 if halved else n
            types = (2, 3) if "dct" in name else (0,)
            for kind in types:
                yield name, [axis], kind, norm, name in TAKES_COMPLEX and at % 5 != 4, shape, [n] if halved else None
        for n in (1, 7, 16, 23):  # of 10: cropped, padded
            norm = (norm + 1) % 3
            yield name, [1], 2 if "dct" in name else 0, norm, name in TAKES_COMPLEX, [3, 10, 2], [n]
    for name in SEVERAL_AXES:
        axes = [1, 2] if name.endswith("2") else [0, 1, 2]
        for shape, points in (([2, 3, 4], None), ([5, 4, 7], None), ([17, 6, 10], None), ([3, 4, 5], [6, 2, 8])):
            norm = (norm + 1) % 3
            yield name, axes, 0, norm, name in TAKES_COMPLEX, shape, points and points[-len(axes):]


def transform(name, axes, kind, norm, x, points):
    if len(axes) > 1:
        return getattr(np.fft, name)(x, s=points, axes=axes, norm=NORMS[norm])
    n = points and points[0]
    if kind:
        return getattr(scipy.fft, name)(x, type=kind, n=n, axis=axes[0], norm=NORMS[norm])
    return getattr(np.fft, name)(x, n=n, axis=axes[0], norm=NORMS[norm])


def make(save):
    values = []
    for name, axes, kind, norm, is_complex, shape, points in transform_cases():
        step, y = sampled(transform(name, axes, kind, norm, numbers(shape, is_complex), points))
        padded = [0, 0, 0]
        for axis, n in zip(axes, points or []):
            padded[axis] = n
        number = (ONE_AXIS + SEVERAL_AXES).index(name)
        values += [number, axes[0], kind, norm, is_complex, *shape, *padded, step, y.size, *y]
    save("transforms", values)

    values = []
    for number, mode in enumerate(["full", "same", "valid"]):
        for a, b in (([9], [4]), ([4], [9]), ([1], [6]), ([100], [31]), ([1009], [64]), ([8, 9], [3, 2]), ([5, 7], [5, 7])):
            for is_complex in ((0, 0), (1, 0), (1, 1)):
                y = scipy.signal.fftconvolve(numbers(a, is_complex[0]), numbers(b, is_complex[1]), mode)
                step, y = sampled(y)
                values += [number, *is_complex, len(a), *a, *b, step, y.size, *y]
    save("convolutions", values)
    save("frequencies", np.concatenate([f(n, d) for n in (1, 2, 7, 10) for d in (1.0, 0.25) for f in (np.fft.fftfreq, np.fft.rfftfreq)]))
