# SPDX-License-Identifier: Apache-2.0
"""Diagonals, quantiles, statistics that pass over NaN, covariances and functions of samples: results, and gradients for a
cotangent. `gaps` has NaN and infinities; `x` is (2, 3, 5), `m` and `n` are (4, 6), `v` and `w` vectors of 6."""

import functools

import torch
from cases import save_case


def average(x, w):
    return (x * w).sum(1) / w.expand(x.shape).sum(1)


def variance(x):
    d = torch.where(torch.isnan(x), 0, x - torch.nanmean(x, 1, keepdim=True))
    return (d**2).sum(1) / ((~torch.isnan(x)).sum(1) - 1)


def make(save):
    x, m, n, v, w = torch.randn(2, 3, 5), torch.randn(4, 6), torch.randn(4, 6), torch.randn(6), torch.rand(6) + 0.5
    gaps = torch.randn(4, 6)
    gaps[0, 2] = gaps[1, 0] = gaps[1, 5] = gaps[3, 3] = torch.nan
    wild = gaps.clone()
    wild[2, 1], wild[2, 2], wild[3, 0] = torch.inf, -torch.inf, torch.inf
    for name, tensor in [("x", x), ("m", m), ("n", n), ("v", v), ("w", w), ("gaps", gaps), ("wild", wild)]:
        save(name, tensor)
    case = functools.partial(save_case, save)
    mask = torch.tensor([True, False, False, True, False, True])

    case("diagonal", [x], lambda x: torch.diagonal(x, 1, 2, 0))
    case("trace", [m], lambda m: torch.trace(m)[None])
    case("diag", [m], lambda m: torch.diag(m, -1))
    case("diag_of_vector", [v], lambda v: torch.diag(v, 2))
    case("diag_embed", [x], lambda x: torch.diag_embed(x, -1))
    case("rot90", [x], lambda x: torch.rot90(x, -1, (0, 2)))
    case("quantile", [x], lambda x: torch.quantile(x, 0.3, 2))
    case("quantile_of_all", [m], lambda m: torch.quantile(m, 0.9)[None])
    case("median", [m], lambda m: torch.quantile(m, 0.5, 0, keepdim=True))
    case("nanquantile", [gaps], lambda g: torch.nanquantile(g, 0.7, 1))
    case("nanmedian", [gaps], lambda g: torch.nanquantile(g, 0.5, 0))
    case("nansum", [gaps], lambda g: torch.nansum(g, 1))
    case("nanmean", [gaps], lambda g: torch.nanmean(g, 1, keepdim=True))
    case("nanprod", [gaps], lambda g: torch.where(torch.isnan(g), 1, g).prod(0))
    case("nanmax", [gaps], lambda g: torch.where(torch.isnan(g), -torch.inf, g).amax(1))
    case("nanmin", [gaps], lambda g: torch.where(torch.isnan(g), torch.inf, g).amin(1))
    case("nanvar", [gaps], variance)
    case("nanstd", [gaps], lambda g: torch.sqrt(variance(g)))
    case("average", [m, w], average)
    case("cov", [m], torch.cov)
    case("corrcoef", [m], torch.corrcoef)
    case("logcumsumexp", [m], lambda m: torch.logcumsumexp(m * 9, 1))
    case("trapezoid", [m], lambda m: torch.trapezoid(m, dx=0.3, dim=0))
    case("trapezoid_at", [m, v], lambda m, v: torch.trapezoid(m, v))
    case("trapezoid_each", [m, n], lambda m, n: torch.trapezoid(m, n, dim=0))
    case("vdot", [m, n], lambda m, n: torch.vdot(m.flatten(), n.flatten())[None])
    case("nan_to_num", [wild], lambda x: torch.nan_to_num(x, 0.5, neginf=-3.0) / 1e300)
    case("masked_fill", [m], lambda m: m.masked_fill(mask, -7))
    case("meshgrid", [v, w], lambda v, w: torch.stack(torch.meshgrid(v, w * w, indexing="xy")))
