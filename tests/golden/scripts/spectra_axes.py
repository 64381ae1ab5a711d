# SPDX-License-Identifier: Apache-2.0
"""Transforms along several axes, Hermitian and cosine transforms, and moves of complex numbers: results, and gradients for a
cotangent. Complex operands and results are pairs along a last axis of 2. Cosine transforms are products with a matrix."""

import functools
import math

import torch
from cases import save_case


def cosines(x, kind, norm, axis, inverse=False):
    """scipy.fft.dct, or idct, by its definition."""
    n = x.shape[axis]
    k, j = torch.arange(n)[:, None], torch.arange(n)[None, :]
    matrix = 2 * torch.cos(math.pi * k * (2 * j + 1) / (2 * n))
    if norm == "ortho":
        matrix = matrix / math.sqrt(2 * n)
        matrix[0] = matrix[0] / math.sqrt(2)
    if (kind == 2) == inverse:  # type 3 is the transpose, in which the first coefficient counts half
        if norm != "ortho":
            matrix[0] = matrix[0] / 2
        matrix = matrix.T
    if norm != "ortho" and inverse == (norm == "backward"):
        matrix = matrix / (2 * n)
    return torch.movedim(torch.movedim(x, axis, -1) @ matrix.T.to(x), -1, axis)


def make(save):
    c, r = torch.view_as_complex, lambda z: torch.view_as_real(z.resolve_conj())
    x, z, odd = torch.randn(2, 3, 6), torch.randn(3, 4, 5, 2), torch.randn(2, 7)
    left, right = torch.randn(2, 3, 2), torch.randn(2, 3, 2)
    for name, tensor in [("x", x), ("z", z), ("odd", odd), ("left", left), ("right", right)]:
        save(name, tensor)
    case = functools.partial(save_case, save)

    case("hfft", [z], lambda z: torch.fft.hfft(c(z), norm="ortho"))
    case("hfft_odd", [z], lambda z: torch.fft.hfft(c(z), n=7, dim=1, norm="forward"))
    case("ihfft", [x], lambda x: r(torch.fft.ihfft(x, n=5)))
    case("fft2_of_real", [x], lambda x: r(torch.fft.fft2(x, s=(4, 5))))
    case("ifft2", [z], lambda z: r(torch.fft.ifft2(c(z), dim=(0, 2))))
    case("fftn", [z], lambda z: r(torch.fft.fftn(c(z), norm="forward")))
    case("ifftn", [z], lambda z: r(torch.fft.ifftn(c(z), s=(3, 2), dim=(1, 0))))
    case("rfftn", [x], lambda x: r(torch.fft.rfftn(x, s=(2, 5), dim=(0, 1))))
    case("irfftn", [z], lambda z: torch.fft.irfftn(c(z), s=(3, 4, 7), norm="ortho"))
    case("irfft2", [z], lambda z: torch.fft.irfft2(c(z)))
    case("fftshift", [z], lambda z: r(torch.fft.fftshift(c(z), dim=(1, 2)) * torch.fft.ifftshift(c(z))))
    case("dct", [x], lambda x: cosines(x, 2, "backward", 2))
    case("dct_odd", [odd], lambda x: cosines(x, 2, "ortho", 1))
    case("dct_3", [odd], lambda x: cosines(x, 3, "forward", 1))
    case("dct_3_first", [x], lambda x: cosines(torch.nn.functional.pad(x, (0, 0, 0, 0, 0, 2)), 3, "ortho", 0))
    case("idct", [x], lambda x: cosines(x, 2, "backward", 1, inverse=True))
    case("idct_3", [odd], lambda x: cosines(x[:, :1], 3, "backward", 1, inverse=True))

    index, places = torch.tensor([1, 0, 1, 2]), torch.tensor([[0, 1, 0], [1, 0, 1]])
    mask = torch.tensor([True, False, True])
    both = [left, right]
    case("slice", both, lambda a, b: r(c(a)[:, ::2] * c(b)[:, -1:]))
    case("select", both, lambda a, b: r(c(a)[1] * c(b)[:, 2:].select(1, 0)[0]))
    case("take", both, lambda a, b: r(c(a).index_select(1, index) * c(b)[:, index]))
    case("take_along_axis", both, lambda a, b: r(torch.gather(c(a), 0, places) * c(b)))
    case("scatter_add", both, lambda a, b: r((c(a) ** 2).scatter_add(0, places, c(b))))
    case("index_add", both, lambda a, b: r(c(a).index_add(1, torch.tensor([2, 0, 2]), c(b) * c(b))))
    case("pad", both, lambda a, b: r(torch.nn.functional.pad(c(a) * c(b), (1, 2), value=3)))
    case("cumsum", both, lambda a, b: r(torch.cumsum(c(a) * c(b), 1)))
    case("concatenate", both, lambda a, b: r(torch.cat([c(a), c(b) * c(b), c(a)], 1)))
    case("stack", both, lambda a, b: r(torch.stack([c(a), c(b) * c(a)], 1)))
    case("where", both, lambda a, b: r(torch.where(mask, c(a), c(b) * c(a))))
    case("flip", both, lambda a, b: r(torch.flip(c(a) * c(b), (0, 1))))
    case("roll", both, lambda a, b: r(torch.roll(c(a) * c(b), -2, 1)))
    case("shapes", both, lambda a, b: r((c(a) * c(b)).T.reshape(2, 3).sum(0) + (c(a) * c(a)).mean(0)))
