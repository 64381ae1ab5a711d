# SPDX-License-Identifier: Apache-2.0
"""Linear algebra of complex matrices: results, and gradients for a cotangent. Complex operands and results are pairs along a last
axis of 2. What is saved depends on no phase of eigenvectors or singular vectors."""

import functools

import torch
from cases import save_case

LA = torch.linalg


def make(save):
    c, r = torch.view_as_complex, torch.view_as_real
    square, stack, side = torch.randn(3, 3, 2), torch.randn(2, 3, 3, 2), torch.randn(3, 2, 2)
    tall, wide, tall_side = torch.randn(4, 2, 2), torch.randn(2, 4, 2), torch.randn(4, 3, 2)
    vector, left, right, real = torch.randn(3, 2), torch.randn(2, 3, 2), torch.randn(1, 3, 2), torch.randn(3, 3)
    for name, tensor in [("square", square), ("stack", stack), ("side", side), ("tall", tall), ("wide", wide),
                         ("tall_side", tall_side), ("vector", vector), ("left", left), ("right", right), ("real", real)]:
        save(name, tensor)
    case = functools.partial(save_case, save)

    def definite(a):
        return c(a) @ c(a).mH + torch.eye(3)

    case("solve", [square, side], lambda a, b: r(LA.solve(c(a), c(b))))
    case("solve_stack", [stack, side], lambda a, b: r(LA.solve(c(a), c(b))))
    case("solve_vector", [square, vector], lambda a, b: r(LA.solve(c(a), c(b))))
    case("solve_real_side", [square, real], lambda a, b: r(LA.solve(c(a), b.to(torch.complex128))))
    case("solve_triangular", [square, side], lambda a, b: r(LA.solve_triangular(c(a), c(b), upper=True)))
    case("solve_unit_triangular", [stack, side],
         lambda a, b: r(LA.solve_triangular(c(a), c(b), upper=False, unitriangular=True)))
    case("inv", [stack], lambda a: r(LA.inv(c(a))))
    case("det", [stack], lambda a: r(LA.det(c(a))))
    case("slogdet_sign", [stack], lambda a: r(LA.slogdet(c(a)).sign))
    case("slogdet_logarithm", [stack], lambda a: LA.slogdet(c(a)).logabsdet)
    case("lu_factor", [stack], lambda a: r(LA.lu_factor(c(a)).LU))
    case("cholesky", [stack], lambda a: r(LA.cholesky(definite(a))))
    case("cholesky_upper", [stack], lambda a: r(LA.cholesky(definite(a), upper=True)))
    case("cholesky_solve", [square, side],
         lambda a, b: r(torch.cholesky_solve(c(b), LA.cholesky(definite(a)), upper=False)))
    for name, a in [("tall", tall), ("wide", wide), ("square", square), ("stack", stack)]:
        case(f"qr_q_{name}", [a], lambda x: r(LA.qr(c(x)).Q))
        case(f"qr_r_{name}", [a], lambda x: r(LA.qr(c(x)).R))
        case(f"svd_u_{name}", [a], lambda x: LA.svd(c(x), full_matrices=False).U.abs().square())
        case(f"svd_v_{name}", [a], lambda x: LA.svd(c(x), full_matrices=False).Vh.abs().square())

        def product(x):
            u, s, vh = LA.svd(c(x), full_matrices=False)
            return r((u * s.log()[..., None, :]) @ vh)

        case(f"svd_product_{name}", [a], product)
        case(f"svdvals_{name}", [a], lambda x: LA.svdvals(c(x)))
        case(f"pinv_{name}", [a], lambda x: r(LA.pinv(c(x))))

    def root(a):
        w, v = LA.eigh(definite(a))
        return r((v * w.sqrt()[..., None, :]) @ v.mH)

    case("eigh_values", [stack], lambda a: LA.eigh(definite(a)).eigenvalues)
    case("eigh_vectors", [stack], lambda a: LA.eigh(definite(a)).eigenvectors.abs().square())
    case("eigh_root", [stack], root)
    case("eigvalsh_upper", [square], lambda a: LA.eigvalsh(c(a), UPLO="U"))
    case("lstsq", [tall, tall_side], lambda a, b: r(LA.lstsq(c(a), c(b)).solution))
    for name, order in [("frobenius", "fro"), ("nuclear", "nuc"), ("spectral", 2), ("smallest", -2), ("largest_column", 1),
                        ("smallest_column", -1), ("largest_row", float("inf")), ("smallest_row", -float("inf"))]:
        case(f"norm_{name}", [stack], lambda x: LA.matrix_norm(c(x), order))
    case("matrix_exp", [stack], lambda a: r(LA.matrix_exp(c(a))))
    case("matrix_power", [stack], lambda a: r(LA.matrix_power(c(a), -3)))
    case("cond", [stack], lambda a: LA.cond(c(a)))
    case("vander", [vector], lambda x: r(LA.vander(c(x), N=4)))
    case("cross", [left, right], lambda x, y: r(LA.cross(c(x), c(y))))
