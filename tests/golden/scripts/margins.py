# SPDX-License-Identifier: Apache-2.0
"""Margin losses, likelihoods and the focal loss, with their gradients by the first operand: 7 rows, 5 columns."""

import torch
from torch.nn import functional as F


def focal(x, t, alpha, gamma):
    """Lin et al., 2017, as in torchvision."""
    p = torch.sigmoid(x)
    loss = F.binary_cross_entropy_with_logits(x, t, reduction="none") * (1 - (p * t + (1 - p) * (1 - t))) ** gamma
    return loss * (alpha * t + (1 - alpha) * (1 - t)) if alpha >= 0 else loss


def make(save):
    x, y, z = torch.randn(7, 5), torch.randn(7, 5), torch.randn(7, 5)
    labels = torch.tensor([0, 3, 1, 4, 1, 2, 2])
    weight = torch.rand(5) + 0.5
    for name, value in [("x", x), ("y", y), ("z", z), ("labels", labels), ("weight", weight)]:
        save(name, value)
    signs = torch.where(y > 0, 1.0, -1.0)
    row_signs = signs[:, 0]
    p, counts, variance = torch.sigmoid(y), torch.floor(y.abs() * 3), z.abs()
    place = torch.arange(35).reshape(7, 5)
    several = torch.where(place % 5 < 3, place % 7 % 5, -1)
    table = [
        lambda x: F.hinge_embedding_loss(x, signs),
        lambda x: F.hinge_embedding_loss(x, signs, margin=0.4, reduction="sum"),
        lambda x: F.margin_ranking_loss(x, y, torch.sign(z)),
        lambda x: F.margin_ranking_loss(x, y, torch.sign(z), margin=0.6, reduction="sum"),
        lambda x: F.cosine_embedding_loss(x, y, row_signs),
        lambda x: F.cosine_embedding_loss(x, y, row_signs, margin=-0.3, reduction="sum"),
        lambda x: F.triplet_margin_loss(x, y, z),
        lambda x: F.triplet_margin_loss(x, y, z, margin=2.0, p=1.0, swap=True, reduction="sum"),
        lambda x: F.triplet_margin_loss(x, y, z, p=3.5),
        lambda x: F.multi_margin_loss(x, labels),
        lambda x: F.multi_margin_loss(x, labels, p=2, margin=0.7, weight=weight, reduction="sum"),
        lambda x: F.soft_margin_loss(x, signs),
        lambda x: F.multilabel_soft_margin_loss(x, p),
        lambda x: F.multilabel_soft_margin_loss(x, p, weight=weight, reduction="sum"),
        lambda x: F.poisson_nll_loss(x, counts),
        lambda x: F.poisson_nll_loss(x, counts, full=True, reduction="sum"),
        lambda x: F.poisson_nll_loss(torch.sigmoid(x), counts, log_input=False),
        lambda x: F.gaussian_nll_loss(x, y, variance),
        lambda x: F.gaussian_nll_loss(y, z, torch.relu(x), full=True, eps=0.3, reduction="sum"),
        lambda x: F.gaussian_nll_loss(x, y, variance[:, 0], reduction="sum"),
        lambda x: focal(x, p, 0.25, 2.0).mean(),
        lambda x: focal(x, p, -1.0, 1.5).sum(),
        # each row has its own loss: weighted, so that gradients tell them apart
        lambda x: (F.triplet_margin_loss(x, y, z, reduction="none") * row_signs).sum(),
        lambda x: (F.multi_margin_loss(x, labels, reduction="none") * row_signs).sum(),
        lambda x: (F.multilabel_soft_margin_loss(x, p, reduction="none") * row_signs).sum(),
        lambda x: (F.hinge_embedding_loss(x, signs, reduction="none") * z).sum(),
        lambda x: (F.margin_ranking_loss(x, y, torch.sign(z), reduction="none") * z).sum(),
        lambda x: (F.cosine_embedding_loss(x, y, row_signs, reduction="none") * z[:, 0]).sum(),
        lambda x: (F.soft_margin_loss(x, signs, reduction="none") * z).sum(),
        lambda x: (F.poisson_nll_loss(x, counts, full=True, reduction="none") * y).sum(),
        lambda x: (F.gaussian_nll_loss(x, y, variance, reduction="none") * y).sum(),
        lambda x: (focal(x, p, 0.25, 2.0) * z).sum(),
        lambda x: F.multilabel_margin_loss(x, several),
        lambda x: F.multilabel_margin_loss(x, several, reduction="sum"),
        lambda x: (F.multilabel_margin_loss(x, several, reduction="none") * row_signs).sum(),
    ]
    values, gradients = [], []
    for loss in table:
        leaf = x.clone().requires_grad_(True)
        value = loss(leaf)
        value.backward()
        values.append(value.detach())
        gradients.append(leaf.grad)
    save("values", torch.stack(values))
    save("gradients", torch.stack(gradients))
