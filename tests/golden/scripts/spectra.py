# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms and functions of complex numbers: results, and gradients for a cotangent. Complex operands and results are
pairs along a last axis of 2; `leaf` has the gradient that PyTorch gives a complex tensor."""

import functools

import torch
from cases import save_case


def make(save):
    c, r = torch.view_as_complex, torch.view_as_real
    odd, even, long = torch.randn(2, 7), torch.randn(2, 3, 6), torch.randn(1, 34)
    weights, filter_, spectrum = torch.randn(4, 2), torch.randn(3, 18, 2), torch.randn(3, 4, 5, 2)
    left, right = torch.randn(2, 3, 2), torch.randn(3, 2, 2)
    for name, tensor in [("odd", odd), ("even", even), ("long", long), ("weights", weights), ("filter", filter_),
                         ("spectrum", spectrum), ("left", left), ("right", right)]:
        save(name, tensor)
    case = functools.partial(save_case, save)

    case("power", [odd, weights], lambda x, w: (torch.fft.rfft(x) * c(w)).abs().square())
    case("filtered_odd", [odd, weights], lambda x, w: torch.fft.irfft(torch.fft.rfft(x) * c(w), n=7))
    case("filtered_even", [even, weights], lambda x, w: torch.fft.irfft(torch.fft.rfft(x, norm="ortho") * c(w), norm="ortho"))
    case("filtered_long", [long, filter_], lambda x, w: torch.fft.irfft(torch.fft.rfft(x) * c(w)))
    case("fft_padded", [spectrum], lambda z: r(torch.fft.fft(c(z), n=7, dim=1, norm="forward")))
    case("fft_cropped", [spectrum], lambda z: r(torch.fft.fft(c(z), n=3, dim=0)))
    case("ifft", [spectrum], lambda z: r(torch.fft.ifft(c(z), norm="ortho")))
    case("fft_of_real", [even], lambda x: torch.fft.fft(x, dim=1).angle())
    case("irfft_padded", [spectrum], lambda z: torch.fft.irfft(c(z), n=11))
    case("irfft_cropped", [spectrum], lambda z: torch.fft.irfft(c(z), n=4, dim=2, norm="forward"))
    case("fft2", [spectrum], lambda z: r(torch.fft.ifft2(torch.fft.fft2(c(z)).square())))
    case("rfft2", [even], lambda x: r(torch.fft.rfft2(x, norm="ortho")))
    case("irfft2", [spectrum], lambda z: torch.fft.irfft2(c(z), s=(4, 9)))

    case("quotient", [left], lambda z: r((c(z) * 2 - 1) / (c(z).conj() + 0.5) - 3 / c(z)))
    case("functions", [left], lambda z: r(torch.exp(c(z)) * torch.log(c(z)) + torch.polar(c(z).abs(), c(z).angle() * 2)))
    case("matmul", [left, right], lambda a, b: r(c(a) @ c(b) @ c(a).real.to(torch.complex128)))

    z = torch.complex(torch.randn(5), torch.randn(5)).requires_grad_()
    loss = (torch.fft.fft(z) * torch.arange(5)).abs().pow(3).sum() + (z * z).imag.sum()
    save("leaf", r(z))
    save("leaf_slope", r(torch.autograd.grad(loss, z)[0]))
