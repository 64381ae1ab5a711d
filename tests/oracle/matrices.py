# SPDX-License-Identifier: Apache-2.0
"""Linear algebra beside NumPy's and SciPy's LAPACK, CSR matrices beside scipy.sparse, transforms beside scipy.fft."""

import re

import numpy as np

from bounded import H, UNITS, bounded, drawn, factors, given, wide
from cases import random_shape
from dtypes import NUMPY, Array
from functions import Function

try:
    import scipy.fft
    import scipy.linalg
    import scipy.signal
    import scipy.sparse
except ImportError:
    scipy = None
LIBRARY = None if scipy else "SciPy"

SIDES = (1, 2, 3, 4, 5, 7)
STACKS = ((), (), (), (1,), (2,), (3,), (2, 2), (0,))


def weights(rng, y):
    """What `weighed_sum` of the driver multiplies with, moved like an operand."""
    w = factors(y.size).reshape(y.shape)
    return w if rng is None else w * (1 + H * rng.choice((-1.0, 1.0), y.shape))


def generator(draw):
    return np.random.default_rng(draw.randrange(10**9))


def orthogonal(rng, stack, rows, columns):
    return np.linalg.qr(rng.standard_normal(stack + (max(rows, columns),) * 2))[0][..., :rows, :columns]


def general(draw, code, m, n, stack):
    """Of normal elements, or with singular values that fall to a condition of up to 1e3, in float64 1e6."""
    rng = generator(draw)
    if draw.random() < 0.6 or 0 in (m, n):
        return rng.standard_normal(stack + (m, n))
    k = min(m, n)
    falling = 10.0 ** -np.linspace(0, draw.choice((1, 2, 3) if code == "f4" else (2, 4, 6)), k)
    return orthogonal(rng, stack, m, k) * falling @ np.swapaxes(orthogonal(rng, stack, n, k), -2, -1)


def square(draw, code, stack=None):
    n = draw.choice(SIDES + (0,)) if draw.random() < 0.3 else draw.choice(SIDES)
    return general(draw, code, n, n, draw.choice(STACKS) if stack is None else stack)


def definite(draw, code):
    a = square(draw, code)
    return a @ np.swapaxes(a, -2, -1) + 10.0 ** -draw.choice((0, 1, 2)) * np.eye(a.shape[-1])


def symmetric(draw, code):
    a = square(draw, code)
    return (a + np.swapaxes(a, -2, -1)) / 2


def rectangular(draw, code):
    return general(draw, code, draw.choice(SIDES), draw.choice(SIDES), draw.choice(STACKS))


def triangle(draw, code):
    a = square(draw, code)
    return a * 0.4 + 2 * np.eye(a.shape[-1])  # both triangles have values: one is not read


def one(make):
    return lambda draw, codes: ([given(draw, codes[0], make(draw, codes[0]))], ())


def with_side(make):
    """A matrix, and right sides: matrices whose leading axes are the same, one or none, or a vector."""

    def made(draw, codes):
        a = make(draw, codes[0])
        rng = generator(draw)
        stack = draw.choice((a.shape[:-2], (), (1,) * (a.ndim - 2)))
        k = draw.choice((1, 2, 3, 5))
        b = rng.standard_normal(a.shape[-2:-1] if a.ndim == 2 and draw.random() < 0.3 else stack + (a.shape[-2], k))
        return [given(draw, codes[0], a), given(draw, codes[1], b)], ()

    return made


def transposed(x):
    return np.swapaxes(x, -2, -1)


def lower(a):
    return np.tril(a) + transposed(np.tril(a, -1))


def solve(a, b):
    if b.ndim == 1:
        return np.linalg.solve(a, b[:, None])[:, 0]
    return np.linalg.solve(a, b.reshape((1,) * (a.ndim - b.ndim) + b.shape))  # before NumPy 2 fewer axes mean vectors


def summed_to(x, shape):
    """A gradient for an operand that was broadcast."""
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    return x.sum(axis=tuple(i for i, extent in enumerate(shape) if extent == 1 and x.shape[i] != 1), keepdims=True)


def solve_gradients(rng, a, b):
    x = solve(a, b)
    w = weights(rng, x)
    g = solve(transposed(a), w)
    da = -np.outer(g, x) if b.ndim == 1 else -g @ transposed(x)
    return [x, summed_to(da, a.shape), summed_to(g, b.shape)]


def det_gradients(rng, a):
    d = np.linalg.det(a)
    return [d, (weights(rng, d) * d)[..., None, None] * transposed(np.linalg.inv(a))]


def svdvals_gradients(rng, a):
    u, s, v = np.linalg.svd(a, full_matrices=False)
    return [s, u * weights(rng, s)[..., None, :] @ v]


def exponential(a):
    """By its series in extended precision: scipy.linalg.expm (1.17) is off by some hundred roundings."""
    squarings = max(0, int(np.ceil(np.log2(max(np.max(np.sum(np.abs(a), -1), initial=0), 1e-300)))) + 2)
    x = a.astype(np.longdouble) / 2.0**squarings
    term = total = np.broadcast_to(np.eye(a.shape[-1], dtype=np.longdouble), a.shape)
    for k in range(1, 24):
        term = term @ x / k
        total = total + term
    for _ in range(squarings):
        total = total @ total
    return total.astype(np.float64)


def exp_gradients(rng, a):
    """Of W . exp(A): the derivative of the exponential at A^T in the direction W, a block of a larger exponential."""
    y = exponential(a)
    n = a.shape[-1]
    w = weights(rng, y)
    t = transposed(a)
    block = np.concatenate([np.concatenate([t, w], -1), np.concatenate([np.zeros_like(t), t], -1)], -2)
    return [y, exponential(block)[..., :n, n:]]


def each(f, a, *others):
    """f of every matrix of a stack."""
    stack = a.shape[:-2]
    if not stack:
        return f(a, *others)
    flat = a.reshape((-1,) + a.shape[-2:])
    results = [f(matrix, *others) for matrix in flat]
    if not results:
        raise ValueError("no matrix tells the shape")
    return [np.stack(part).reshape(stack + part[0].shape) for part in zip(*results)]


def lu_factor(a):
    if a.size == 0:
        raise ValueError("SciPy factors no empty matrix")
    return each(lambda matrix: [np.asarray(part) for part in scipy.linalg.lu_factor(matrix)], a)


def triangular(rng, a, b, **how):
    if b.ndim == 1:
        return [scipy.linalg.solve_triangular(a, b, **how)]
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = np.broadcast_to(a, stack + a.shape[-2:]), np.broadcast_to(b, stack + b.shape[-2:])
    if a.size == 0 or b.size == 0:
        return [np.zeros(b.shape)]
    flat = zip(a.reshape((-1,) + a.shape[-2:]), b.reshape((-1,) + b.shape[-2:]))
    return [np.stack([scipy.linalg.solve_triangular(x, y, **how) for x, y in flat]).reshape(b.shape)]


def cholesky_info(a):
    """The order of the first leading minor that is not positive; 0 where the matrix is definite."""
    n = a.shape[-1]
    infos = [next((k for k in range(1, n + 1) if np.linalg.eigvalsh(lower(matrix)[:k, :k])[0] <= 0), 0)
             for matrix in a.reshape((-1, n, n))]
    return np.asarray(infos, np.int32).reshape(a.shape[:-2])


def maybe_singular(draw, code):
    a = np.round(square(draw, code) * 2)
    a = a + 40 * np.eye(a.shape[-1])
    if a.shape[-1] > 0 and draw.random() < 0.5:
        a[..., :, draw.randrange(a.shape[-1])] = 0
    return a


def zero_pivot(a):
    """The first zero on U's diagonal, from 1: the zero column, which stays zero in every order of rows."""
    n = a.shape[-1]
    infos = [next((k + 1 for k in range(n) if not matrix[:, k].any()), 0) for matrix in a.reshape((-1, n, n))] if n else []
    return np.asarray(infos if n else np.zeros(int(np.prod(a.shape[:-2]))), np.int32).reshape(a.shape[:-2])


def lstsq(rng, a, b):
    s = np.linalg.svd(a, compute_uv=False)
    solution = (np.linalg.pinv(a) @ (b[:, None] if b.ndim == 1 else b))
    full = np.full(a.shape[:-2], min(a.shape[-2:]), np.int64)
    return [solution[:, 0] if b.ndim == 1 else solution, full, s]


def deficient(draw, code):
    """Matrices of a known rank: products of thin ones."""
    m, n = draw.choice(SIDES), draw.choice(SIDES)
    r, stack, rng = draw.randrange(min(m, n) + 1), draw.choice(STACKS), generator(draw)
    return orthogonal(rng, stack, m, r) @ transposed(orthogonal(rng, stack, n, r)) * 3 if r else np.zeros(stack + (m, n))


def norms(_, a):
    orders = ("fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf)
    return [np.linalg.norm(a, order, axis=(-2, -1)) for order in orders]


def qr(_, a):
    k = min(a.shape[-2:])
    r = np.linalg.qr(a)[1]
    return [a, np.broadcast_to(np.eye(k), a.shape[:-2] + (k, k)), transposed(r) @ r]


def svd(_, a):
    k = min(a.shape[-2:])
    eye = np.broadcast_to(np.eye(k), a.shape[:-2] + (k, k))
    return [a, np.linalg.svd(a, compute_uv=False), eye, eye]


def eigh(_, a):
    a = lower(a)
    return [np.linalg.eigvalsh(a), a, np.broadcast_to(np.eye(a.shape[-1]), a.shape)]


def powers_of(variant):
    return int(re.search(r"-?\d+", variant).group())


def of(f, make, kinds=None, by_norm=True):
    """A function of operands that are made for it, with a bound from its condition."""

    def reference(arrays, numbers, variant):
        return bounded(lambda rng, *x: f(rng, *x), arrays, by_norm, kinds)

    return Function(reference, make=make)


def power_reference(arrays, _, variant):
    n = powers_of(variant)
    return bounded(lambda rng, a: [np.linalg.matrix_power(a, n)], arrays, True)


def vectors(draw, codes):
    shape = random_shape(draw, draw.choice((1, 2)))
    return [drawn(draw, codes[0], "normal", shape)], ()


def threes(draw, codes):
    stack = draw.choice(((), (1,), (4,), (2, 3), (0,)))
    other = draw.choice((stack, (), (1,) * len(stack)))
    return [drawn(draw, codes[0], "normal", stack + (3,)), drawn(draw, codes[1], "normal", other + (3,))], ()


LINALG = {
    "linalg.solve": of(lambda _, a, b: [solve(a, b)], with_side(square)),
    "linalg.solve_gradients": of(solve_gradients, with_side(square)),
    "linalg.inv": of(lambda _, a: [np.linalg.inv(a)], one(square)),
    "linalg.det": of(det_gradients, one(square)),
    "linalg.slogdet": of(lambda _, a: list(np.linalg.slogdet(a)), one(square)),
    "linalg.lu_factor": of(lambda _, a: lu_factor(a), one(square)),
    "linalg.solve_lower": of(lambda _, a, b: triangular(_, a, b, lower=True), with_side(triangle)),
    "linalg.solve_upper": of(lambda _, a, b: triangular(_, a, b, lower=False), with_side(triangle)),
    "linalg.solve_unit": of(lambda _, a, b: triangular(_, a, b, lower=True, unit_diagonal=True), with_side(triangle)),
    "linalg.cholesky": of(lambda _, a: [np.linalg.cholesky(lower(a))], one(definite)),
    "linalg.cholesky_solve": of(lambda _, b, a: [np.linalg.solve(lower(a), b)],
                                lambda draw, codes: (lambda made: ([made[1], made[0]], ()))(
                                    with_side(lambda d, c: definite(d, c))(draw, codes)[0])),
    "linalg.cholesky_ex": of(lambda _, a: [cholesky_info(a)], one(symmetric), ("i4",)),
    "linalg.solve_ex": of(lambda _, a, b: [zero_pivot(a)], with_side(maybe_singular), ("i4",), by_norm=False),
    "linalg.inv_ex": of(lambda _, a: [zero_pivot(a)], one(maybe_singular), ("i4",), by_norm=False),
    "linalg.pinv": of(lambda _, a: [np.linalg.pinv(a)], one(rectangular)),
    "linalg.lstsq": of(lstsq, with_side(rectangular)),
    "linalg.matrix_rank": of(lambda rng, a: [np.linalg.matrix_rank(a, tol=1e-3)], one(deficient)),
    "linalg.cond": of(lambda _, a: [np.linalg.cond(a)], one(rectangular)),
    "linalg.qr": of(qr, one(rectangular)),
    "linalg.svd": of(svd, one(rectangular)),
    "linalg.svdvals": of(svdvals_gradients, one(rectangular)),
    "linalg.eigh": of(eigh, one(symmetric)),
    "linalg.eigvalsh": of(lambda _, a: [np.linalg.eigvalsh(lower(a))], one(symmetric)),
    "linalg.matrix_exp": of(exp_gradients, one(lambda draw, code: square(draw, code) * draw.choice((0.1, 1, 2)))),
    "linalg.matrix_power": Function(power_reference, make=one(square)),
    "linalg.matrix_norms": of(norms, one(rectangular)),
    "linalg.vander": of(lambda _, x: [np.stack([x**3, x**2, x, x**0], -1), np.stack([x**0, x, x**2], -1)], vectors,
                        by_norm=False),
    "linalg.cross": of(lambda _, a, b: [np.cross(a, b)], threes, by_norm=False),
}


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


SPARSE = {
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
}


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


TRANSFORMS = {
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
}

FUNCTIONS = {**LINALG, **SPARSE, **TRANSFORMS} if scipy else {}
