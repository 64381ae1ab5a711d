# SPDX-License-Identifier: Apache-2.0
"""Attention over 24 rows, which two, three and four ranks divide, with gradients, causal and not."""

import torch
from torch.nn import functional as F


def make(save):
    q = torch.randn(2, 3, 24, 4, requires_grad=True)
    k = torch.randn(2, 3, 24, 4, requires_grad=True)
    v = torch.randn(2, 3, 24, 6, requires_grad=True)
    g = torch.randn(2, 3, 24, 6)
    for name, array in (("q", q), ("k", k), ("v", v), ("g", g)):
        save(name, array)
    for name, is_causal in (("plain", False), ("causal", True)):
        y = F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
        save(f"{name}_y", y)
        for which, grad in zip("qkv", torch.autograd.grad((y * g).sum(), (q, k, v))):
            save(f"{name}_d{which}", grad)
