# SPDX-License-Identifier: Apache-2.0
"""CSR matrices beside scipy.sparse."""

import numpy as np

from bounded import bounded, drawn, given
from cases import random_shape
from dtypes import NUMPY, Array
from functions import Function
from matrices import generator, scipy, weights

if scipy:
    import scipy.sparse


def random_csr(draw, codes):
    """Row offsets, columns, values and the number of columns; rows may be empty, long, or all there are."""
    rows, columns, rng = draw.choice((0, 1, 2, 3, 5, 8)), draw.choice((1, 2, 3, 5, 9)), generator(draw)
    density = draw.choice((0, 0.2, 0.5, 1))
    mask = rng.random((rows, columns)) < density
    offsets = np.concatenate([[0], np.cumsum(mask.sum(axis=1))])
    indices = np.nonzero(mask)[1]
    return ([given(draw, "i8", offsets), given(draw, "i8", indices), drawn(draw, codes[2], "normal", (len(indices),))],
            rows, columns)


def with_dense(*extents):
    """CSR matrices with dense operands, whose extents are spelled r, c (of the matrix) and k (a width, or none)."""

    def made(draw, codes):
        matrix, rows, columns = random_csr(draw, codes)
        width = draw.choice((0, 1, 2, 3, 4)) if len(extents) == 1 else draw.choice((1, 2, 4))
        sides = {"r": (rows,), "c": (columns,), "k": (width,) if width else ()}
        dense = [drawn(draw, codes[3 + i], "normal", sum((sides[letter] for letter in spelled), ()))
                 for i, spelled in enumerate(extents)]
        return matrix + dense, (columns,)

    return made


def sparse(f, make):
    def reference(arrays, numbers, _):
        def computed(rng, offsets, indices, values, *dense):
            shape = (len(offsets) - 1, int(numbers[0]))
            return f(rng, scipy.sparse.csr_matrix((values, indices, offsets), shape=shape), values, *dense)

        return bounded(computed, arrays)

    return Function(reference, make=make)


def places(a):
    return np.repeat(np.arange(a.shape[0]), np.diff(a.indptr)), a.indices


def at_places(a, x, y):
    """The elements of x y^T at A's non-zeros."""
    rows, columns = places(a)
    x, y = (v[:, None] if v.ndim == 1 else v for v in (x, y))
    return np.sum(x[rows] * y[columns], axis=1)


def sampled(rng, a, values, x, y):
    rows, columns = places(a)
    s = at_places(a, x, y.T)
    g = a.copy()
    g.data = weights(rng, s)
    return [s, g @ y.T, (g.T @ x).T]


def mostly_zero(draw, code, shape):
    """Small multiples of powers of two, so that sums are exact in any order."""
    rng = generator(draw)
    values = rng.integers(-16, 17, shape) / (1 if code == "i4" else 4) * (rng.random(shape) < 0.4)
    return given(draw, code, values * (1 + 1j) if code == "c8" else values)


def dense(draw, codes):
    return [mostly_zero(draw, codes[0], random_shape(draw, 2))], ()


def two_dense(draw, codes):
    m, k, n = (draw.choice((1, 2, 3, 5, 9)) for _ in range(3))
    return [mostly_zero(draw, codes[0], (m, k)), mostly_zero(draw, codes[1], (k, n))], ()


def entries(draw, codes):
    rows, columns, count, rng = draw.choice((1, 3, 6)), draw.choice((1, 2, 5)), draw.choice((0, 1, 4, 9, 20)), generator(draw)
    return ([given(draw, "i8", rng.integers(0, rows, count)), given(draw, "i8", rng.integers(0, columns, count)),
             given(draw, codes[2], rng.integers(-9, 10, count) / 4)], (rows, columns))


def exactly(f, make):
    """A function whose result is exact."""

    def reference(arrays, numbers, _):
        result = np.asarray(f(numbers, *(array.values for array in arrays)))
        return [Array(arrays[-1].code, result.astype(NUMPY[arrays[-1].code]))]

    return Function(reference, make=make)


def assembled(numbers, rows, columns, values):
    shape = tuple(int(number) for number in numbers)
    return scipy.sparse.coo_matrix((values, (rows, columns)), shape=shape).toarray()


FUNCTIONS = {
    # -0 is not stored
    "sparse.transposed": exactly(lambda _, x: np.where(x != 0, x, 0).T, dense),
    "sparse.stored": exactly(lambda _, x: x[x != 0], dense),
    "sparse.product": exactly(lambda _, a, b: scipy.sparse.csr_matrix(a) @ b, two_dense),
    "sparse.from_coo": exactly(assembled, entries),
    "sparse.matmul": sparse(lambda rng, a, v, x: (lambda y: [y, at_places(a, weights(rng, y), x), a.T @ weights(rng, y)])(a @ x),
                            with_dense("ck")),
    "sparse.transposed_matmul": sparse(
        lambda rng, a, v, x: (lambda y: [y, at_places(a, x, weights(rng, y)), a @ weights(rng, y)])(a.T @ x), with_dense("rk")),
    "sparse.sampled_matmul": sparse(sampled, with_dense("rk", "kc")),
    "sparse.sum": Function(lambda arrays, numbers, variant: sparse(
        lambda rng, a, v: [np.asarray(a.sum(axis=int(variant[1]))).reshape(-1)], None).reference(arrays, numbers, variant),
        make=with_dense()),
    "sparse.scale_rows": sparse(lambda rng, a, v, s: [v * s[places(a)[0]]], with_dense("r")),
    "sparse.scale_columns": sparse(lambda rng, a, v, s: [v * s[places(a)[1]]], with_dense("c")),
    "sparse.chain": sparse(lambda rng, a, v, y: [a.T @ (scipy.sparse.diags(np.asarray(a.sum(axis=1)).reshape(-1)) @ (a @ y))],
                           with_dense("ck")),
} if scipy else {}
