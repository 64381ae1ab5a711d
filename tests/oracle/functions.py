# SPDX-License-Identifier: Apache-2.0
"""What NumPy makes of each function of the driver's table: the reference, the values to draw, the shapes.

Floating results are computed in float64 and rounded once to the result's type, where twill computes in float32 or
float64; functions that are algorithms of several roundings (`own`) are computed in the type that twill computes in.
"""

import math
import re
from dataclasses import dataclass
from typing import Callable

import numpy as np

import dtypes
from cases import random_shape
from dtypes import Array, COMPLEX, FLOATS, convert


@dataclass(frozen=True)
class Function:
    reference: Callable  # (arrays, numbers, variant) -> list of Array
    pools: tuple = ("any",)  # of each operand; the last one again for further operands
    shapes: Callable = None  # (draw, count) -> shapes of the operands
    numbers: Callable = None  # draw -> tuple
    out: bool = False  # can be written to a strided destination
    make: Callable = None  # (draw, codes) -> operands and numbers, instead of pools, shapes and numbers


def broadcast_shapes(draw, count):
    """Shapes that broadcast to one, more often than not by repeating something."""
    whole = random_shape(draw)
    shapes = [list(whole) for _ in range(count)]
    if count > 1 and draw.random() < 0.45:
        for shape in shapes[1:] if draw.random() < 0.5 else shapes[:-1]:
            for axis in range(len(shape)):
                if draw.random() < 0.5:
                    shape[axis] = 1
            while shape and shape[0] == 1 and draw.random() < 0.5:
                shape.pop(0)
        draw.shuffle(shapes)
    return [tuple(shape) for shape in shapes]


def of_rank(*ranks):
    return lambda draw, count: [random_shape(draw, draw.choice(ranks)) for _ in range(count)]


def computed(f, arrays, code, own=False):
    """f over arrays of one of twill's types, in float64 or in the type that twill computes in; integers as they are."""
    inputs = [array.to(code) for array in arrays]
    if code in FLOATS:
        inputs = [x.astype(np.float32 if own and code != "f8" else np.float64) for x in inputs]
    if code in COMPLEX:
        inputs = [x.astype(np.complex128) for x in inputs]
    with np.errstate(all="ignore"):
        return np.asarray(f(*inputs))


def elementwise(f, result="same", pools=("any",), own=False, numbers=None, takes="promoted"):
    """`result`: same (as the operands meet), floating, boolean, or real of complex operands; `takes`: what the operands are
    converted to."""

    def reference(arrays, given, _):
        common = dtypes.promote(*(array.code for array in arrays))
        for number in given:
            common = dtypes.with_number(common, number)
        if "floating" in (result, takes):
            common = dtypes.floating(common)
        if takes == "boolean":
            common = "b1"
        beside = [Array(common, convert(np.asarray(number), common)) for number in given]
        values = computed(f, [*arrays, *beside], common, own)
        code = "b1" if result == "boolean" else dtypes.real_of(common) if result == "real" else common
        return [Array(code, convert(values, code))]

    return Function(reference, pools, broadcast_shapes, numbers, out=True)


def boolean_or(f, of_booleans):
    """f, but for booleans what PyTorch makes of it."""
    return lambda *x: of_booleans(*x) if x[0].dtype == np.bool_ else f(*x)


def of_floats(f):
    """f, but integers stay as they are (NumPy 1 makes float64 of them)."""
    return lambda x: f(x) if x.dtype.kind == "f" else x


def whole(x):
    """The type in which NumPy adds integers up as PyTorch does."""
    return np.int64 if x.dtype.kind in "biu" else None


def where_reference(arrays, _, __):
    code = dtypes.promote(arrays[1].code, arrays[2].code)
    values = np.where(arrays[0].values, arrays[1].to(code), arrays[2].to(code))
    return [Array(code, convert(values, code))]


def conversion(code):
    def reference(arrays, _, __):
        return [Array(code, convert(arrays[0].values, code))]

    pool = {"b1": "any", "i4": "dyadic", "i8": "dyadic"}.get(code, "any" if code in FLOATS + ("e4", "e5") else "positive")
    return Function(reference, (pool,), broadcast_shapes, out=True)


def reduction(f, result, pools, one_axis=False):
    """`f(values, axis, keepdims)`; the variant is `<0,2>k`: axes, and whether they are kept."""

    def reference(arrays, _, variant):
        axes = tuple(int(axis) for axis in re.findall(r"-?\d+", variant)) or None
        keep = {"keepdims": True} if variant.endswith("k") else {}
        array = arrays[0]
        code = result(array.code)
        values = array.values
        if array.code in FLOATS:
            values = values.astype(np.float64)
        elif array.code in COMPLEX:
            values = values.astype(np.complex128)
        elif code in FLOATS:
            values = convert(values, code).astype(np.float64)
        if one_axis and axes:
            axes = axes[0]
        with np.errstate(all="ignore"):
            return [Array(code, convert(np.asarray(f(values, axis=axes, **keep)), code))]

    return Function(reference, pools, of_rank(3), out=True)


def axes_of(variant):
    return tuple(int(axis) for axis in re.findall(r"-?\d+", variant))


def view(f, rank, numbers=None, pools=("any",), shapes=None, code=None):
    """Elements of the operands in other places: `f(operands, numbers, variant)`."""

    def reference(arrays, given, variant):
        result = f(*(array.values for array in arrays), *(int(number) for number in given), variant)
        return [Array(code or arrays[0].code, np.asarray(result))]

    return Function(reference, pools, shapes or of_rank(rank), numbers)


def padded(mode, **more):
    def f(x, a, b, c, d, _):
        if mode == "wrap" and x.size > 0:  # NumPy before 1.25 repeats something else where the margin is wider than x
            rows, columns = (np.arange(-before, extent + after) % extent
                             for extent, before, after in zip(x.shape, (a, c), (b, d)))
            return x[np.ix_(rows, columns)]
        return np.pad(x, ((a, b), (c, d)), mode=mode, **more)

    return view(f, 2, lambda draw: tuple(draw.randrange(4) for _ in range(4)))


def joined(draw, _):
    """Two matrices that agree in all but one axis, or in both."""
    shape = random_shape(draw, 2)
    other = list(shape)
    other[draw.randrange(2)] = draw.choice((0, 1, 2, 5))
    return [shape, tuple(other) if draw.random() < 0.7 else shape]


def equal_shapes(rank):
    return lambda draw, count: [random_shape(draw, rank)] * count


def indexed(draw, _):
    """A matrix whose axes hold every index of the pool `small`, and indices."""
    return [(draw.choice((10, 11, 13)), draw.choice((10, 11, 17))), random_shape(draw, 2)]


def along_axis(f, result, pools):
    """`f(values, axis)` along one axis of three; integers in the type of the result."""

    def reference(arrays, given, variant):
        array = arrays[0]
        made = result(array.code)
        values = array.values
        if array.code in COMPLEX:
            values = values.astype(np.complex128)
        elif array.code in FLOATS or made in FLOATS:
            values = convert(values, made).astype(np.float64)
        elif made != array.code:
            values = convert(values, made)
        with np.errstate(all="ignore"):
            return [Array(made, convert(np.asarray(f(values, axes_of(variant)[0], *given)), made))]

    return Function(reference, pools, of_rank(3))


def stepwise(f):
    """A running operation in the element type: every step is rounded."""

    def reference(arrays, _, variant):
        return [Array(arrays[0].code, f(arrays[0].values, axis=axes_of(variant)[0]))]

    return Function(reference, ("any",), of_rank(3))


def closeness(a, b):
    if a.dtype.kind == "c":
        return np.isclose(a, b)
    wide = [x.astype(np.float64) if x.dtype.kind != "f" else x for x in (a, b)]
    x, y = wide
    kind = x.dtype.type
    near = np.isfinite(y) & (np.abs(x - y) <= kind(1e-8) + kind(1e-5) * np.abs(y))
    return near | (x == y)


def real_lgamma(x):
    if math.isnan(x) or x == -math.inf:
        return math.nan if math.isnan(x) else math.inf
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


def log_sum_exp(x, axis=None, keepdims=False):
    top = np.max(x, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(top), top, 0)
    result = np.log(np.sum(np.exp(x - shift), axis=axis, keepdims=True)) + shift
    return result if keepdims else np.squeeze(result, axis=axis)


def norm(x, order, axis, keepdims=False):
    magnitudes = np.abs(x)
    if order == 1:
        return np.sum(magnitudes, axis=axis, keepdims=keepdims)
    if order == math.inf:
        return np.max(magnitudes, axis=axis, keepdims=keepdims)
    return np.sqrt(np.sum(np.square(x), axis=axis, keepdims=keepdims))


def float_power_reference(arrays, _, __):
    with np.errstate(all="ignore"):
        return [Array("f8", np.float_power(*(array.values.astype(np.float64) for array in arrays)))]


def ldexp_reference(arrays, _, __):
    with np.errstate(all="ignore"):
        return [Array(arrays[0].code, np.ldexp(arrays[0].values, arrays[1].values))]


def nan_to_num_reference(arrays, _, __):
    array = arrays[0]
    if array.code not in FLOATS:
        return [array]
    return [Array(array.code, convert(np.nan_to_num(array.values), array.code))]


def of_vectors(f, code=None, pools=("small",)):
    def reference(arrays, _, __):
        made = code or arrays[0].code
        return [Array(made, convert(np.asarray(f(*(array.values for array in arrays))), made))]

    return Function(reference, pools, of_rank(1))


def product_of(f, shapes):
    def reference(arrays, _, __):
        common = dtypes.promote(*(array.code for array in arrays))
        return [Array(common, convert(computed(f, arrays, common), common))]

    return Function(reference, ("dyadic",), shapes)


def pair_of_shapes(first, second):
    """Shapes spelled with letters, each letter one random extent."""

    def shapes(draw, _):
        extents = {letter: draw.choice((1, 2, 3, 4, 5, 7)) for letter in sorted(set(first + second))}
        return [tuple(extents[letter] for letter in text) for text in (first, second)]

    return shapes


def matmul_shapes(rank):
    def shapes(draw, _):
        m, k, n = (draw.choice((1, 2, 3, 5, 7, 8, 17)) for _ in range(3))
        if draw.random() < 0.05:
            k = 0
        if rank == 1:
            return [(k,), (k,)]
        if rank == 2:
            return [(m, k), (k, n)]
        batch = draw.choice((1, 2, 3))
        return [(draw.choice((1, batch)), m, k), (batch, k, n)]

    return shapes


def product(f, rank):
    def reference(arrays, _, __):
        code = dtypes.promote(*(array.code for array in arrays))
        return [Array(code, convert(computed(f, arrays, code), code))]

    return Function(reference, ("dyadic",), matmul_shapes(rank))


def merged(values, first, last):
    shape = values.shape
    return values.reshape(shape[:first] + (math.prod(shape[first:last + 1]),) + shape[last + 1:])


trapezoid = getattr(np, "trapezoid", None) or np.trapz  # the name before NumPy 2
erf = np.vectorize(math.erf, otypes=[np.float64])
logical = dict(result="boolean", takes="boolean")

FUNCTIONS = {
    # rounding.cpp
    "negative": elementwise(np.negative),
    "positive": elementwise(lambda x: x),
    "absolute": elementwise(np.absolute, "real"),
    "angle": elementwise(np.angle, "real"),
    "conj": elementwise(np.conj),
    "sign": elementwise(np.sign),
    "square": elementwise(np.square),
    "floor": elementwise(of_floats(np.floor)),
    "ceil": elementwise(of_floats(np.ceil)),
    "rint": elementwise(of_floats(np.rint)),
    "trunc": elementwise(of_floats(np.trunc)),
    "isnan": elementwise(np.isnan, "boolean"),
    "isinf": elementwise(np.isinf, "boolean"),
    "isfinite": elementwise(np.isfinite, "boolean"),
    "logical_not": elementwise(np.logical_not, **logical),
    # transcendental.cpp
    "sqrt": elementwise(np.sqrt, "floating"),
    "reciprocal": elementwise(lambda x: 1 / x, "floating"),  # NumPy's own differs from its division at the complex 0
    "rsqrt": elementwise(lambda x: 1 / np.sqrt(x), "floating"),
    "exp": elementwise(np.exp, "floating"),
    "expm1": elementwise(np.expm1, "floating"),
    "log": elementwise(np.log, "floating"),
    "log1p": elementwise(np.log1p, "floating"),
    "sin": elementwise(np.sin, "floating", ("modest",)),
    "cos": elementwise(np.cos, "floating", ("modest",)),
    "tan": elementwise(np.tan, "floating", ("modest",)),
    "arcsin": elementwise(np.arcsin, "floating", ("unit",)),
    "arccos": elementwise(np.arccos, "floating", ("unit",)),
    "arctan": elementwise(np.arctan, "floating"),
    "sinh": elementwise(np.sinh, "floating"),
    "cosh": elementwise(np.cosh, "floating"),
    "tanh": elementwise(np.tanh, "floating"),
    "erf": elementwise(erf, "floating"),
    "sigmoid": elementwise(lambda x: 1 / (1 + np.exp(-x)), "floating"),
    # arithmetic.cpp
    "subtract": elementwise(np.subtract),
    "multiply": elementwise(boolean_or(np.multiply, np.logical_and)),
    "floor_divide": elementwise(np.floor_divide, own=True),
    "remainder": elementwise(np.remainder, own=True),
    "power": elementwise(np.power, pools=("small", "positive")),
    "arctan2": elementwise(np.arctan2, "floating"),
    "maximum": elementwise(np.maximum),
    "minimum": elementwise(np.minimum),
    "clip": elementwise(lambda x, low, high: np.minimum(np.maximum(x, low), high)),
    # comparison.cpp
    "equal": elementwise(np.equal, "boolean", ("small",)),
    "not_equal": elementwise(np.not_equal, "boolean", ("small",)),
    "less": elementwise(np.less, "boolean"),
    "less_equal": elementwise(np.less_equal, "boolean"),
    "greater": elementwise(np.greater, "boolean"),
    "greater_equal": elementwise(np.greater_equal, "boolean"),
    "logical_and": elementwise(np.logical_and, **logical),
    "logical_or": elementwise(np.logical_or, **logical),
    "logical_xor": elementwise(np.logical_xor, **logical),
    "bitwise_and": elementwise(np.bitwise_and),
    "bitwise_or": elementwise(np.bitwise_or),
    "bitwise_xor": elementwise(np.bitwise_xor),
    "where": Function(where_reference, ("any",), broadcast_shapes, out=True),
    # promotion.cpp
    "add": elementwise(boolean_or(np.add, np.logical_or)),
    "divide": elementwise(np.divide, "floating"),
    "add_integer": elementwise(np.add, numbers=lambda draw: (draw.choice((-3, 1, 2, 100)),)),
    "multiply_float": elementwise(np.multiply, numbers=lambda draw: (draw.choice((2.5, -0.5, 4.0)),)),
    "divide_integer": elementwise(np.divide, "floating", numbers=lambda draw: (draw.choice((-3, 2, 7)),)),
    "to_bool": conversion("b1"),
    "to_uint8": conversion("u1"),
    "to_int32": conversion("i4"),
    "to_int64": conversion("i8"),
    "to_float16": conversion("f2"),
    "to_bfloat16": conversion("bf"),
    "to_float32": conversion("f4"),
    "to_float64": conversion("f8"),
    "to_int8": conversion("i1"),
    "to_int16": conversion("i2"),
    "to_uint16": conversion("u2"),
    "to_uint32": conversion("u4"),
    "to_uint64": conversion("u8"),
    "to_float8_e4m3fn": conversion("e4"),
    "to_float8_e5m2": conversion("e5"),
    # reductions.cpp
    "sum": reduction(lambda x, **how: np.sum(x, dtype=whole(x), **how), dtypes.sum_type, ("dyadic",)),
    "prod": reduction(lambda x, **how: np.prod(x, dtype=whole(x), **how), dtypes.sum_type, ("powers",)),
    "max": reduction(np.max, lambda code: code, ("any",)),
    "min": reduction(np.min, lambda code: code, ("any",)),
    "any": reduction(np.any, lambda code: "b1", ("any",)),
    "all": reduction(np.all, lambda code: "b1", ("any",)),
    "mean": reduction(np.mean, dtypes.floating, ("dyadic",)),
    "var": reduction(lambda x, **how: np.var(x, **how), dtypes.floating, ("dyadic",)),
    "argmax": reduction(np.argmax, lambda code: "i8", ("any",), one_axis=True),
    "argmin": reduction(np.argmin, lambda code: "i8", ("any",), one_axis=True),
    # special.cpp
    "exp2": elementwise(np.exp2, "floating"),
    "log2": elementwise(np.log2, "floating"),
    "log10": elementwise(np.log10, "floating"),
    "cbrt": elementwise(np.cbrt, "floating"),
    "arcsinh": elementwise(np.arcsinh, "floating"),
    "arccosh": elementwise(np.arccosh, "floating", ("positive",)),
    "arctanh": elementwise(np.arctanh, "floating", ("unit",)),
    "deg2rad": elementwise(np.deg2rad, "floating"),
    "rad2deg": elementwise(np.rad2deg, "floating", ("modest",)),
    "sinc": elementwise(np.sinc, "floating", ("unit",)),
    "erfc": elementwise(np.vectorize(math.erfc, otypes=[np.float64]), "floating"),
    "lgamma": elementwise(np.vectorize(real_lgamma, otypes=[np.float64]), "floating", ("modest",)),
    "tanh_accurate": elementwise(np.tanh, "floating"),
    "erf_accurate": elementwise(erf, "floating"),
    "hypot": elementwise(np.hypot, "floating"),
    "logaddexp": elementwise(np.logaddexp, "floating", ("modest",)),
    "logaddexp2": elementwise(np.logaddexp2, "floating", ("modest",)),
    # numeric.cpp
    "fmod": elementwise(np.fmod, own=True),
    "fmax": elementwise(np.fmax),
    "fmin": elementwise(np.fmin),
    "gcd": elementwise(np.gcd),
    "lcm": elementwise(np.lcm, pools=("small",)),
    "left_shift": elementwise(np.left_shift, pools=("any", "shifts")),
    "right_shift": elementwise(np.right_shift, pools=("any", "shifts")),
    "invert": elementwise(np.invert),
    "heaviside": elementwise(np.heaviside),
    "float_power": Function(float_power_reference, ("positive", "small"), broadcast_shapes, out=True),
    "fabs": elementwise(np.fabs, "floating"),
    "signbit": elementwise(np.signbit, "boolean", takes="floating"),
    "isposinf": elementwise(np.isposinf, "boolean"),
    "isneginf": elementwise(np.isneginf, "boolean"),
    "copysign": elementwise(np.copysign),
    "nextafter": elementwise(np.nextafter, own=True),
    "spacing": elementwise(np.spacing, own=True),
    "ldexp": Function(ldexp_reference, ("modest", "small"), broadcast_shapes, out=True),
    "nan_to_num": Function(nan_to_num_reference, ("any",), broadcast_shapes, out=True),
    "isclose": elementwise(closeness, "boolean", ("small",), own=True),
    "round": elementwise(lambda x, n: np.round(x, int(n)), pools=("modest",), own=True,
                         numbers=lambda draw: (draw.choice((-1, 0, 1, 2)),)),
    # statistics.cpp
    "std": reduction(lambda x, **how: np.std(x, **how), dtypes.floating, ("dyadic",)),
    "ptp": reduction(np.ptp, lambda code: code, ("small",)),
    "logsumexp": reduction(log_sum_exp, dtypes.floating, ("modest",)),
    "count_nonzero": reduction(np.count_nonzero, lambda code: "i8", ("small",)),
    "nansum": reduction(np.nansum, dtypes.sum_type, ("dyadic_nan",)),
    "nanprod": reduction(np.nanprod, dtypes.sum_type, ("dyadic_nan",)),
    "nanmax": reduction(np.nanmax, lambda code: code, ("any",)),
    "nanmin": reduction(np.nanmin, lambda code: code, ("any",)),
    "nanmean": reduction(np.nanmean, dtypes.floating, ("dyadic_nan",)),
    "nanvar": reduction(lambda x, **how: np.nanvar(x, **how), dtypes.floating, ("dyadic_nan",)),
    "norm": reduction(lambda x, axis=None, **how: norm(x, 2, axis, **how), dtypes.floating, ("dyadic",)),
    "norm1": reduction(lambda x, axis=None, **how: norm(x, 1, axis, **how), dtypes.floating, ("dyadic",)),
    "norm_inf": reduction(lambda x, axis=None, **how: norm(x, math.inf, axis, **how), dtypes.floating, ("any",)),
    "median": reduction(np.median, dtypes.floating, ("modest",)),
    "quantile": Function(
        lambda arrays, given, variant: [Array(arrays[0].code, convert(np.quantile(
            arrays[0].values.astype(np.float64), given[0], axis=axes_of(variant)[0]), arrays[0].code))],
        ("dyadic",), of_rank(3), lambda draw: (draw.choice((0.0, 0.25, 0.5, 0.9, 1.0)),)),
    "cumsum": along_axis(lambda x, axis: np.cumsum(x, axis), dtypes.sum_type, ("dyadic",)),
    "cumprod": along_axis(lambda x, axis: np.cumprod(x, axis), dtypes.sum_type, ("powers",)),
    "cummax": stepwise(np.maximum.accumulate),
    "cummin": stepwise(np.minimum.accumulate),
    "diff": along_axis(lambda x, axis: np.diff(x, axis=axis), lambda code: code, ("dyadic",)),
    "trapezoid": along_axis(lambda x, axis: trapezoid(x, axis=axis), dtypes.floating, ("dyadic",)),
    # shapes.cpp
    "transpose": view(lambda x, variant: np.swapaxes(x, *axes_of(variant)) if variant else x.T, 3),
    "permute": view(lambda x, variant: np.transpose(x, axes_of(variant)), 3),
    "flatten": view(lambda x, variant: merged(x, *axes_of(variant)) if variant else x.reshape(-1), 3),
    "unsqueeze": view(lambda x, variant: np.expand_dims(x, axes_of(variant)[0]), 2),
    "flip": view(lambda x, variant: np.flip(x, axes_of(variant) or None), 3),
    "rot90": view(lambda x, variant: np.rot90(x, axes_of(variant)[0]), 2),
    "moveaxis": view(lambda x, variant: np.moveaxis(x, *axes_of(variant)), 3),
    "roll": view(lambda x, shift, variant: np.roll(x, shift, axes_of(variant)[0] if variant else None), 2,
                 lambda draw: (draw.choice((-5, -1, 0, 1, 3, 40)),),
                 shapes=lambda draw, _: [random_shape(draw, 2)]),
    "tile": view(lambda x, a, b, _: np.tile(x, (a, b)), 2, lambda draw: (draw.randrange(4), draw.randrange(1, 4))),
    "repeat": view(lambda x, n, variant: np.repeat(x, n, axes_of(variant)[0]), 2, lambda draw: (draw.randrange(4),)),
    "concatenate": view(lambda a, b, variant: np.concatenate((a, b), axes_of(variant)[0]), 2, shapes=joined),
    "stack": view(lambda a, b, variant: np.stack((a, b), axes_of(variant)[0]), 2, shapes=equal_shapes(2)),
    "pad_constant": padded("constant", constant_values=5),
    "pad_edge": padded("edge"),
    "pad_reflect": padded("reflect"),
    "pad_symmetric": padded("symmetric"),
    "pad_wrap": padded("wrap"),
    "diagonal": view(lambda x, offset, variant: np.diagonal(x, offset, *axes_of(variant)), 3,
                     lambda draw: (draw.choice((-2, -1, 0, 0, 1, 3)),)),
    "tril": view(lambda x, offset, _: np.tril(x, offset), 2, lambda draw: (draw.choice((-2, -1, 0, 0, 1, 3)),)),
    "triu": view(lambda x, offset, _: np.triu(x, offset), 2, lambda draw: (draw.choice((-2, -1, 0, 0, 1, 3)),)),
    "diag": view(lambda x, offset, _: np.diag(x, offset), 1, lambda draw: (draw.choice((-2, 0, 0, 1)),),
                 shapes=lambda draw, _: [(draw.choice((0, 1, 2, 5, 7)),)]),
    "argwhere": view(lambda x, _: np.argwhere(x), 2, pools=("small",), code="i8"),
    "take": view(lambda x, index, variant: np.take(x, index, axes_of(variant)[0]), 2, pools=("any", "small"), shapes=indexed),
    "masked_select": view(lambda x, mask, _: x[mask], 2, shapes=equal_shapes(2)),
    # products.cpp
    "matmul1": product(np.matmul, 1),
    "matmul2": product(np.matmul, 2),
    "matmul3": product(np.matmul, 3),
    "outer": product_of(np.outer, pair_of_shapes("a", "b")),
    "inner": product_of(np.inner, pair_of_shapes("ab", "cb")),
    "kron": product_of(np.kron, pair_of_shapes("ab", "cd")),
    "einsum_bij_bjk": product_of(lambda a, b: np.einsum("bij,bjk->bik", a, b), pair_of_shapes("bij", "bjk")),
    "einsum_ij_ij": product_of(lambda a, b: np.einsum("ij,ij->i", a, b), pair_of_shapes("ij", "ij")),
    "tensordot": product_of(lambda a, b: np.tensordot(a, b, ((1, 2), (2, 1))), pair_of_shapes("aij", "bji")),
    # algorithms.cpp
    "algorithms.sort": view(lambda x, variant: np.sort(x, axes_of(variant)[0]), 3),
    "algorithms.argsort": view(lambda x, variant: np.argsort(x, axes_of(variant)[0], kind="stable"), 2, code="i8"),
    "algorithms.unique": view(lambda x, _: np.unique(x), 2, pools=("modest",)),
    "algorithms.bincount": view(lambda x, _: np.bincount(x), 1, pools=("positive",), code="i8"),
    "algorithms.searchsorted": of_vectors(lambda a, b: np.searchsorted(np.sort(a), b), "i8"),
    "algorithms.searchsorted_right": of_vectors(lambda a, b: np.searchsorted(np.sort(a), b, "right"), "i8"),
}


def split_name(name: str):
    """`sum<0,2>k` as the function and its variant."""
    match = re.fullmatch(r"([\w.]+)(<.*)?", name)
    return match.group(1), match.group(2) or ""


def evaluate(name, arrays, numbers):
    function, variant = split_name(name)
    return FUNCTIONS[function].reference(arrays, numbers, variant)
