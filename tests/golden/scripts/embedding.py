# SPDX-License-Identifier: Apache-2.0
"""Embedding with and without a padding index, and the gradient of its weight."""

import torch
from torch.nn import functional as F


def make(save):
    weight = torch.randn(11, 5, requires_grad=True)
    index = torch.tensor([[3, 0, 10, 3], [3, 7, 0, 1]])
    g = torch.randn(2, 4, 5)
    save("weight", weight)
    save("index", index)
    save("g", g)
    for name, padding in (("plain", None), ("padded", 3)):
        rows = F.embedding(index, weight, padding_idx=padding)
        save(f"{name}_rows", rows)
        save(f"{name}_gradient", torch.autograd.grad((rows * g).sum(), weight)[0])
