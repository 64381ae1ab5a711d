#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes print_golden.inc: arrays, print options and what NumPy prints for them. Run it where NumPy is installed."""

import sys
from pathlib import Path

import numpy as np

TYPES = {"float64": np.float64, "float32": np.float32, "float16": np.float16, "int64": np.int64, "bool": np.bool_}


def cases():
    random = np.random.default_rng(20260727)
    nan, inf = float("nan"), float("inf")
    for dtype in ("float64", "float32"):
        for values in ([1, 2.5, -3], [0.1, 0.25], [1e-5, 1.2e3], [1e10], [1e-4, 1], [9.9e-5, 1], [1, 1000], [1, 1001],
                       [0, -0.0], [nan, 1], [inf, -inf, nan], [-inf, 1.5, 100], [inf], [1e100 if dtype == "float64" else 1e30, 1],
                       [123456789, 1], [99999999, 1], [1e8], [0.1 + 0.2], [1 / 3, 2 / 3], [3.14159265358979], [-1e-7, 5e-7],
                       [1e-300 if dtype == "float64" else 1e-38, 1], [-0.0], [0.5, nan, -inf], [1.5e-5, nan, inf], [5e-324] if dtype == "float64" else [1e-45],
                       [2.0 ** 53], [16777217.0], [0.00012345, 0.1]):
            yield dtype, (len(values),), values, {}
        for shape in ((), (7,), (3, 5), (2, 3, 4), (2, 1, 2, 3), (1, 1), (17, 1)):
            for scale in (1.0, 1e-3, 1e6):
                yield dtype, shape, random.normal(0, scale, shape), {}
        for options in ({"precision": 3}, {"precision": 0}, {"precision": 12}, {"suppress_small": True}, {"max_line_width": 40},
                        {"precision": 2, "suppress_small": True, "max_line_width": 30}):
            yield dtype, (2, 9), random.normal(0, 1, (2, 9)) * 10.0 ** random.integers(-6, 3, (2, 9)), options
            yield dtype, (2, 9), random.normal(0, 1, (2, 9)), options
        yield dtype, (40, 30), ("arange", 1200, 0.25), {}
        yield dtype, (1001,), ("arange", 1001, 1.0), {}
        yield dtype, (20,), ("arange", 20, 1.5), {"threshold": 5}
        yield dtype, (4, 9), ("arange", 36, 1.5), {"threshold": 5, "edgeitems": 1}
    for values in ([0.1, 2], [65504, 1], [1e-4, 1], [6e-8], [0.333, 1000], [1, 1001], [nan, -inf]):
        yield "float16", (len(values),), values, {}
    for value in (0.0, -0.0, 1.5, 1e15, 1e16, 123456789.123, 1e-4, 9e-5, 1e22, 1.5e-7, nan, -inf):
        for dtype in ("float64", "float32"):
            yield dtype, (), value, {}
    yield "int64", (5,), [1, -20, 300, 0, 7], {}
    yield "int64", (2, 2), [[-(2 ** 63), 2 ** 62], [0, 1]], {}
    yield "int64", (30,), random.integers(-1000, 1000, 30), {}
    yield "int64", (1001,), ("arange", 1001, 1), {}
    yield "int64", (500, 3), ("arange", 1500, 1), {}
    yield "int64", (11, 10, 10), ("arange", 1100, 1), {}
    yield "int64", (6, 7, 8, 9), ("arange", 3024, 1), {"edgeitems": 2}
    yield "int64", (3, 40), ("arange", 120, 1), {"max_line_width": 50}
    yield "int64", (0, 3), np.zeros((0, 3)), {}
    yield "int64", (), 42, {}
    yield "bool", (3,), [True, False, True], {}
    yield "bool", (2, 2), [[True, True], [True, True]], {}
    yield "bool", (), True, {}
    yield "bool", (40,), random.integers(0, 2, 40), {}


def literal(value):
    if value != value:
        return "NAN"
    if value in (float("inf"), float("-inf")):
        return "INFINITY" if value > 0 else "-INFINITY"
    return float(value).hex()


def main():
    out = ["// Made by print_golden.py: dtype, shape, values or a step, options, and what NumPy %s prints." % np.__version__]
    for dtype, shape, values, options in cases():
        step = 0.0
        if isinstance(values, tuple):
            step = values[2]
            array = (np.arange(values[1]) * step).astype(TYPES[dtype]).reshape(shape)
            numbers = []
        else:
            with np.errstate(all="ignore"):
                array = np.array(values).astype(TYPES[dtype]).reshape(shape)
            numbers = [literal(x) for x in array.astype(np.float64).ravel()]
        text = str(array) if shape == () else np.array2string(array, **options)
        names = {"precision": "precision", "threshold": "threshold", "edgeitems": "edge_items", "max_line_width": "line_width", "suppress_small": "suppress"}
        order = ["precision", "threshold", "edgeitems", "max_line_width", "suppress_small"]
        given = ", ".join(".%s = %s" % (names[o], str(options[o]).lower()) for o in order if o in options)
        out.append('{"%s", {%s}, {%s}, %s, {%s}, R"(%s)"},' % (dtype, ", ".join(map(str, shape)), ", ".join(numbers), literal(step), given, text))
    Path(__file__).with_suffix(".inc").write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    sys.exit(main())
