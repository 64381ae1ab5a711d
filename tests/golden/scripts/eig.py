# SPDX-License-Identifier: Apache-2.0
"""Eigenvalues of general matrices by NumPy, each beside its unit eigenvector: `real` has 2 real matrices of 5 x 5, `complex` 2
complex ones; `<name>_pairs` has a row for each eigenvalue, sorted by its real and then its imaginary part: it, and then the
projection v v^H onto its eigenvector, which is the same whatever the vector's phase is. Complex numbers are real and imaginary
part in turn."""

import numpy as np


def parts(z):
    return np.ascontiguousarray(z, dtype=np.complex128).view(np.float64)


def pairs_of(stack):
    rows = []
    for a in stack:
        values, vectors = np.linalg.eig(a)
        for k in np.lexsort((values.imag, values.real)):
            v = vectors[:, k]
            rows.append(np.concatenate([[values[k]], np.outer(v, v.conj()).ravel()]))
    return parts(np.array(rows))


def make(save):
    random = np.random.default_rng(3)
    real = random.standard_normal((2, 5, 5))
    mixed = random.standard_normal((2, 5, 5)) + 1j * random.standard_normal((2, 5, 5))
    save("real", real)
    save("real_pairs", pairs_of(real))
    save("complex", parts(mixed))
    save("complex_pairs", pairs_of(mixed))
