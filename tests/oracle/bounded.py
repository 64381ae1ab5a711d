# SPDX-License-Identifier: Apache-2.0
"""References whose tolerance is the case's own: how far the result moves when the operands do.

A computation in a type is as good as can be asked when its result is exact for operands that differ from the given ones by a
few roundings of that type. `bounded` computes in float64, moves every operand at random by a small part h of itself, or of the
2-norm of its matrix, where a backward stable algorithm promises no more, and takes the change over h, times the type's unit
roundoff, as the case's condition; SAFETY of these and of the largest element's own roundings are the bound. Of n x n matrices,
whose algorithms sum n products in each step, it is 8 n of them; LAPACK's own tests allow 60 n.
"""

import numpy as np

from cases import Operand, random_view
from dtypes import NUMPY, Array, convert, real_of

UNITS = {"f4": 2.0**-24, "f8": 2.0**-53, "c8": 2.0**-24, "c16": 2.0**-53, "f2": 2.0**-11, "bf": 2.0**-8}  # roundoff of a type
NARROW = {"f2": 2.0**-24, "bf": 2.0**-133}  # the smallest number of a type of 16 bits
COMPLEX_OF = {"f4": "c8", "f8": "c16"}
SAFETY = 16
NARROW_SAFETY = 4  # computed in float32: what a kernel reads and writes is rounded, not what it adds
H = 1e-8
DIRECTIONS = 6


def factors(count: int) -> np.ndarray:
    """What the driver's `weighed_sum` multiplies with."""
    return ((37 * np.arange(count) + 11) % 64 - 31.5) / 32


def wide(array: Array) -> np.ndarray:
    """The operand in float64 or complex128; integers and truth values as they are."""
    if array.code not in UNITS:
        return array.values
    return array.values.astype(np.complex128 if array.code in ("c8", "c16") else np.float64)


def moved(x: np.ndarray, by_norm: bool, rng) -> np.ndarray:
    if x.dtype.kind not in "fc" or x.size == 0 or np.all(np.abs(x) == 1):  # signs choose
        return x
    size = np.abs(x)
    if by_norm:
        size = np.linalg.norm(x, 2, axis=(-2, -1), keepdims=True) if x.ndim > 1 else np.linalg.norm(x)
    return x + H * size * rng.choice((-1.0, 1.0), x.shape)


def bounded(f, arrays, by_norm=False, kinds=None, safety=SAFETY, size=0, types=()):
    """`f(rng, *operands)`: a list of arrays; rng is None for the given operands, else it may move constants of its own.
    Results of integers have no bound. `size`: of numbers whose difference a result is, and whose roundings it has. `types` of
    the first results, where they are not that of the first operand. Raises
    ValueError for a result that is not finite, that jumps where operands move, or that has no digits left."""
    code = next(array.code for array in arrays if array.code in UNITS)
    operands = [wide(array) for array in arrays]
    results = [np.asarray(result) for result in f(None, *operands)]
    changes = [0.0] * len(results)
    for direction in range(DIRECTIONS):
        rng = np.random.default_rng(direction + 1)
        for i, other in enumerate(f(rng, *(moved(x, by_norm, rng) for x in operands))):
            if results[i].dtype.kind in "fc" and results[i].size:
                changes[i] = max(changes[i], float(np.max(np.abs(np.asarray(other) - results[i]))) / H)
    safety = max([safety] + [8 * max(x.shape[-2:]) for x in operands if by_norm and x.ndim > 1])
    made = []
    for i, (result, change) in enumerate(zip(results, changes)):
        if result.dtype.kind == "b":
            made.append(Array("b1", result))
        elif result.dtype.kind in "iu":
            kind = kinds[i] if kinds else "i8"
            made.append(Array(kind, result.astype(NUMPY[kind])))
        else:
            if not np.all(np.isfinite(result)):
                raise ValueError("a result that is not finite")
            largest = float(np.max(np.abs(result))) if result.size else 0.0
            kind = COMPLEX_OF.get(code, code) if result.dtype.kind == "c" else real_of(code)
            if i < len(types):
                kind = types[i] or kind
            bound = (NARROW_SAFETY if kind in NARROW else safety) * UNITS[kind] * (change + max(largest, size))
            bound = max(bound, NARROW.get(kind, 0))
            if max(bound, change * H) > (0.25 if kind in NARROW else 0.05) * largest > 0:
                raise ValueError("a kink, or a result of which nothing is certain")
            made.append(Array(kind, convert(result, kind), bound))
    return made


def strided_view(draw, shape):
    """Memory and steps as of `random_view`, but no element stands for several."""
    memory, steps = random_view(draw, shape) if shape and draw.random() < 0.7 else (shape, ())
    return (shape, ()) if any(step[0] == "e" for step in steps) else (memory, steps)


def given(draw, code, values, strided=True) -> Operand:
    """An operand of these values, in memory from which a random view takes them."""
    values = convert(values, code)
    memory, steps = strided_view(draw, values.shape) if strided else (values.shape, ())
    base = np.ones(memory, NUMPY[code])
    view = base
    for step in steps:
        view = view[(...,) + tuple(slice(*one) for one in step[1])] if step[0] == "s" else np.swapaxes(view, *step[1:])
    view[...] = values
    return Operand(code, tuple(memory), values=(base.reshape(-1),), steps=steps)


def drawn(draw, code, pool, shape, strided=True) -> Operand:
    """An operand of values of a pool."""
    memory, steps = strided_view(draw, shape) if strided else (shape, ())
    return Operand(code, tuple(memory), pool, draw.randrange(1, 10**6), (), steps)
