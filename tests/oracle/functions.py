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
from dtypes import Array, FLOATS, convert


@dataclass(frozen=True)
class Function:
    reference: Callable  # (arrays, numbers, variant) -> list of Array
    pools: tuple = ("any",)  # of each operand; the last one again for further operands
    shapes: Callable = None  # (draw, count) -> shapes of the operands
    numbers: Callable = None  # draw -> tuple
    out: bool = False  # can be written to a strided destination


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
    with np.errstate(all="ignore"):
        return np.asarray(f(*inputs))


def elementwise(f, result="same", pools=("any",), own=False, numbers=None, takes="promoted"):
    """`result`: same (as the operands meet), floating or boolean; `takes`: what the operands are converted to."""

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
        code = "b1" if result == "boolean" else common
        return [Array(code, convert(values, code))]

    return Function(reference, pools, broadcast_shapes, numbers, out=True)


def boolean_or(f, of_booleans):
    """f, but for booleans what PyTorch makes of it."""
    return lambda *x: of_booleans(*x) if x[0].dtype == np.bool_ else f(*x)


def where_reference(arrays, _, __):
    code = dtypes.promote(arrays[1].code, arrays[2].code)
    values = np.where(arrays[0].values, arrays[1].to(code), arrays[2].to(code))
    return [Array(code, convert(values, code))]


def conversion(code):
    def reference(arrays, _, __):
        return [Array(code, convert(arrays[0].values, code))]

    pool = {"b1": "any", "u1": "positive", "i4": "dyadic", "i8": "dyadic"}.get(code, "any")
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
        elif code in FLOATS:
            values = convert(values, code).astype(np.float64)
        if one_axis and axes:
            axes = axes[0]
        with np.errstate(all="ignore"):
            return [Array(code, convert(np.asarray(f(values, axis=axes, **keep)), code))]

    return Function(reference, pools, of_rank(3), out=True)


def view(f, rank):
    return Function(lambda arrays, _, variant: [Array(arrays[0].code, f(arrays[0].values, variant))], ("any",), of_rank(rank))


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


def axes_of(variant):
    return tuple(int(axis) for axis in re.findall(r"-?\d+", variant))


def merged(values, first, last):
    shape = values.shape
    return values.reshape(shape[:first] + (math.prod(shape[first:last + 1]),) + shape[last + 1:])


erf = np.vectorize(math.erf, otypes=[np.float64])
logical = dict(result="boolean", takes="boolean")

FUNCTIONS = {
    # rounding.cpp
    "negative": elementwise(np.negative),
    "positive": elementwise(lambda x: x),
    "absolute": elementwise(np.absolute),
    "sign": elementwise(np.sign),
    "square": elementwise(np.square),
    "floor": elementwise(np.floor),
    "ceil": elementwise(np.ceil),
    "rint": elementwise(lambda x: np.rint(x) if x.dtype.kind == "f" else x),
    "trunc": elementwise(np.trunc),
    "isnan": elementwise(np.isnan, "boolean"),
    "isinf": elementwise(np.isinf, "boolean"),
    "isfinite": elementwise(np.isfinite, "boolean"),
    "logical_not": elementwise(np.logical_not, **logical),
    # transcendental.cpp
    "sqrt": elementwise(np.sqrt, "floating"),
    "reciprocal": elementwise(np.reciprocal, "floating"),
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
    # reductions.cpp
    "sum": reduction(lambda x, **how: np.sum(x, dtype=np.int64 if x.dtype.kind != "f" else None, **how), dtypes.sum_type, ("dyadic",)),
    "prod": reduction(lambda x, **how: np.prod(x, dtype=np.int64 if x.dtype.kind != "f" else None, **how), dtypes.sum_type, ("powers",)),
    "max": reduction(np.max, lambda code: code, ("any",)),
    "min": reduction(np.min, lambda code: code, ("any",)),
    "any": reduction(np.any, lambda code: "b1", ("any",)),
    "all": reduction(np.all, lambda code: "b1", ("any",)),
    "mean": reduction(np.mean, dtypes.floating, ("dyadic",)),
    "var": reduction(lambda x, **how: np.var(x, ddof=1, **how), dtypes.floating, ("dyadic",)),
    "argmax": reduction(np.argmax, lambda code: "i8", ("any",), one_axis=True),
    "argmin": reduction(np.argmin, lambda code: "i8", ("any",), one_axis=True),
    # shapes.cpp
    "transpose": view(lambda x, variant: np.swapaxes(x, *axes_of(variant)) if variant else x.T, 3),
    "permute": view(lambda x, variant: np.transpose(x, axes_of(variant)), 3),
    "flatten": view(lambda x, variant: merged(x, *axes_of(variant)) if variant else x.reshape(-1), 3),
    "unsqueeze": view(lambda x, variant: np.expand_dims(x, axes_of(variant)[0]), 2),
    # products.cpp
    "matmul1": product(np.matmul, 1),
    "matmul2": product(np.matmul, 2),
    "matmul3": product(np.matmul, 3),
}


def split_name(name: str):
    """`sum<0,2>k` as the function and its variant."""
    match = re.fullmatch(r"(\w+)(<.*)?", name)
    return match.group(1), match.group(2) or ""


def evaluate(name, arrays, numbers):
    function, variant = split_name(name)
    return FUNCTIONS[function].reference(arrays, numbers, variant)
