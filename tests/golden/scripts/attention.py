# SPDX-License-Identifier: Apache-2.0
"""Scaled dot-product attention under masks and a causal mask, and multi-head attention, with gradients."""

import torch
from torch.nn import functional as F


def sdpa(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf")) if mask.dtype == torch.bool else scores + mask
    return F.softmax(scores, -1) @ v


def make(save):
    q = torch.randn(2, 3, 5, 4, requires_grad=True)
    k = torch.randn(2, 3, 7, 4, requires_grad=True)
    v = torch.randn(2, 3, 7, 6, requires_grad=True)
    g = torch.randn(2, 3, 5, 6)
    keep = torch.rand(5, 7) < 0.6
    keep[:, 0] = True
    bias = torch.randn(2, 1, 5, 7)
    for name, array in (("q", q), ("k", k), ("v", v), ("g", g), ("keep", keep), ("bias", bias)):
        save(name, array)
    causal = torch.tril(torch.ones(5, 7, dtype=torch.bool))
    for name, mask in (("plain", None), ("keep", keep), ("bias", bias), ("causal", causal)):
        y = sdpa(q, k, v, mask)
        grads = torch.autograd.grad((y * g).sum(), (q, k, v))
        save(f"{name}_y", y)
        for which, grad in zip("qkv", grads):
            save(f"{name}_d{which}", grad)

    heads = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    x = torch.randn(3, 5, 8, requires_grad=True)
    memory = torch.randn(3, 4, 8, requires_grad=True)
    torch.nn.init.normal_(heads.in_proj_bias)
    torch.nn.init.normal_(heads.out_proj.bias)
    save("x", x)
    save("memory", memory)
    for name, parameter in heads.named_parameters():
        save(f"heads_{name}", parameter)
    for name, key in (("self", x), ("cross", memory)):
        y, _ = heads(x, key, key)
        loss = y.square().sum()
        save(f"heads_{name}_y", y)
        parameters = dict(heads.named_parameters())
        for parameter, grad in zip(parameters, torch.autograd.grad(loss, parameters.values())):
            save(f"heads_{name}_grad_{parameter}", grad)
