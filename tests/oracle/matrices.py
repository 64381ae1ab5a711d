# SPDX-License-Identifier: Apache-2.0
"""Linear algebra beside NumPy's and SciPy's LAPACK."""

import re

import numpy as np

from bounded import H, UNITS, bounded, drawn, factors, given, wide
from cases import random_shape
from dtypes import NUMPY, Array
from functions import Function

try:
    import scipy.linalg
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


def eigenvalue_powers(arrays, _, variant):
    """The sum of the powers of the eigenvalues is the trace of the matrix's power, in a complex type."""
    power = powers_of(variant)
    return bounded(lambda rng, a: [np.trace(np.linalg.matrix_power(a, power), axis1=-2, axis2=-1) + 0j], arrays, True)


def eigenvectors(arrays, _, __):
    """A V - V L is zero but for n roundings of A."""
    a = wide(arrays[0])
    if a.size == 0:
        raise ValueError("no matrix")
    size = float(np.max(np.linalg.norm(a, 2, axis=(-2, -1))))
    return [Array(arrays[0].code, np.zeros(a.shape, NUMPY[arrays[0].code]), 8 * a.shape[-1] * UNITS[arrays[0].code] * size)]


def stacked(draw, codes):
    n, stack, rng = draw.choice(SIDES), (draw.choice((1, 2, 3)),), generator(draw)
    a = general(draw, "f4" if codes[0] in ("f4", "c8") else "f8", n, n, stack)
    return [given(draw, codes[0], a * np.exp(1j * rng.uniform(0, 6, a.shape)) if codes[0][0] == "c" else a)], ()


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


def complex_stack(draw, code, m, n):
    a = general(draw, "f4" if code == "c8" else "f8", m, n, (draw.choice((1, 2, 3)),))
    return a * np.exp(1j * generator(draw).uniform(0, 6, a.shape))


def complex_square(draw, code):
    n = draw.choice(SIDES)
    return complex_stack(draw, code, n, n)


def complex_rectangular(draw, code):
    return complex_stack(draw, code, draw.choice(SIDES), draw.choice(SIDES))


def hermitian(draw, code):
    a = complex_square(draw, code)
    return (a + adjoint(a)) / 2


def complex_definite(draw, code):
    a = complex_square(draw, code)
    a = a @ adjoint(a) + 0.1 * np.eye(a.shape[-1])
    return (a + adjoint(a)) / 2


def adjoint(a):
    return np.conj(transposed(a))


def hermitian_of_lower(a):
    return np.tril(a) + adjoint(np.tril(a, -1))


def with_complex_side(make):
    def made(draw, codes):
        a = make(draw, codes[0])
        parts = generator(draw).standard_normal((2, a.shape[0], a.shape[1], draw.choice((1, 2, 3))))
        return [given(draw, codes[0], a), given(draw, codes[1], parts[0] + 1j * parts[1])], ()

    return made


COMPLEX = {
    "linalg.complex_solve": of(lambda _, a, b: [np.linalg.solve(a, b)], with_complex_side(complex_square)),
    "linalg.complex_lstsq": of(lambda _, a, b: [np.linalg.pinv(a) @ b], with_complex_side(complex_rectangular)),
    "linalg.complex_inv": of(lambda _, a: [np.linalg.inv(a)], one(complex_square)),
    "linalg.complex_det": of(lambda _, a: [np.linalg.det(a)], one(complex_square)),
    "linalg.complex_logabsdet": of(lambda _, a: [np.linalg.slogdet(a)[1]], one(complex_square)),
    "linalg.complex_pinv": of(lambda _, a: [np.linalg.pinv(a)], one(complex_rectangular)),
    "linalg.complex_cholesky": of(lambda _, a: [np.linalg.cholesky(hermitian_of_lower(a))], one(complex_definite)),
    "linalg.complex_eigvalsh": of(lambda _, a: [np.linalg.eigvalsh(hermitian_of_lower(a))], one(hermitian)),
    "linalg.complex_svdvals": of(lambda _, a: [np.linalg.svd(a, compute_uv=False)], one(complex_rectangular)),
    "linalg.complex_qr_product": of(lambda _, a: [a], one(complex_rectangular)),
    "linalg.complex_qr_gram": of(lambda _, a: [np.eye(min(a.shape[-2:])) + np.zeros(a.shape[:-2] + (1, 1)) + 0j],
                                 one(complex_rectangular)),
    "linalg.complex_matrix_power": of(lambda _, a: [np.linalg.matrix_power(a, 3)], one(complex_square)),
    "linalg.complex_nuclear_norm": of(lambda _, a: [np.linalg.norm(a, "nuc", axis=(-2, -1))], one(complex_rectangular)),
} if scipy else {}
FUNCTIONS = COMPLEX | {
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
    "linalg.eigvals": Function(eigenvalue_powers, make=stacked),
    "linalg.eig": Function(eigenvectors, make=stacked),
    "linalg.eigvalsh": of(lambda _, a: [np.linalg.eigvalsh(lower(a))], one(symmetric)),
    "linalg.matrix_exp": of(exp_gradients, one(lambda draw, code: square(draw, code) * draw.choice((0.1, 1, 2)))),
    "linalg.matrix_power": Function(power_reference, make=one(square)),
    "linalg.matrix_norms": of(norms, one(rectangular)),
    "linalg.vander": of(lambda _, x: [np.stack([x**3, x**2, x, x**0], -1), np.stack([x**0, x, x**2], -1)], vectors,
                        by_norm=False),
    "linalg.cross": of(lambda _, a, b: [np.cross(a, b)], threes, by_norm=False),
} if scipy else {}
