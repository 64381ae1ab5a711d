# SPDX-License-Identifier: Apache-2.0
"""torch's embedding_bag with offsets: results, and gradients by the weight and by weights of samples; empty bags, padding,
equal rows. The rows that `max_norm` leaves in a weight."""

import torch
from torch.nn import functional as F


def make(save):
    index = torch.tensor([3, 6, 3, 0, 1, 6, 2, 2, 5, 4])
    offsets = torch.tensor([0, 0, 4, 4, 5, 8, 10])
    weight, shares = torch.randn(7, 3), torch.rand(10)
    ranks = torch.tensor([[1, 2, 0], [0, 2, 1], [1, 0, 1], [1, 1, 1], [0, 0, 0], [2, 1, 0], [1, 1, 2]], dtype=weight.dtype)
    for name, tensor in [("index", index), ("offsets", offsets), ("weight", weight), ("shares", shares), ("ranks", ranks)]:
        save(name, tensor)

    def case(name, table, **options):
        table = table.clone().requires_grad_()
        given = shares.clone().requires_grad_() if options.pop("weighted", False) else None
        y = F.embedding_bag(index, table, offsets, per_sample_weights=given, **options)
        cotangent = torch.randn(y.shape)
        save(f"{name}_y", y)
        save(f"{name}_cotangent", cotangent)
        inputs = [table] if given is None else [table, given]
        for k, slope in enumerate(torch.autograd.grad(y, inputs, cotangent)):
            save(f"{name}_slope{k}", slope)

    for mode in ("sum", "mean", "max"):
        case(mode, weight, mode=mode)
        case(f"{mode}_padded", weight, mode=mode, padding_idx=2)
    case("max_of_equals", ranks, mode="max")
    case("weighted", weight, mode="sum", weighted=True)
    case("weighted_padded", weight, mode="sum", weighted=True, padding_idx=6)

    for name, p in (("short", 2), ("short_by_sums", 1), ("short_by_cubes", 3)):
        table = weight.clone()
        F.embedding(torch.arange(7), table, max_norm=1.3, norm_type=p)
        save(name, table)

    offsets = torch.tensor([0, 0, 4, 4, 5, 10])
    save("ends", offsets)
    for mode in ("sum", "mean", "max"):
        case(f"{mode}_ended", weight, mode=mode, include_last_offset=True)
