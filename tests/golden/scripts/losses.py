# SPDX-License-Identifier: Apache-2.0
"""Every loss and its gradient by the prediction: 7 rows, 5 classes."""

import torch
from torch.nn import functional as F


def make(save):
    x = torch.randn(7, 5)
    y = torch.randn(7, 5)
    labels = torch.tensor([0, 3, -100, 4, 1, -100, 2])
    weight = torch.rand(5) + 0.5
    save("x", x)
    save("y", y)
    save("labels", labels)
    save("weight", weight)
    p = torch.sigmoid(y)
    classes = labels.clamp(min=0)
    table = [
        lambda x: F.cross_entropy(x, classes),
        lambda x: F.cross_entropy(x, labels),
        lambda x: F.cross_entropy(x, labels, weight=weight),
        lambda x: F.cross_entropy(x, classes, label_smoothing=0.1),
        lambda x: F.cross_entropy(x, labels, weight=weight, label_smoothing=0.3),
        lambda x: F.cross_entropy(x, labels, weight=weight, label_smoothing=0.3, reduction="sum"),
        lambda x: F.nll_loss(F.log_softmax(x, -1), labels, weight=weight),
        lambda x: F.mse_loss(x, y),
        lambda x: F.l1_loss(x, y, reduction="sum"),
        lambda x: F.smooth_l1_loss(x, y, beta=0.6),
        lambda x: F.huber_loss(x, y, delta=0.6),
        lambda x: F.binary_cross_entropy_with_logits(x, p),
        lambda x: F.binary_cross_entropy_with_logits(x, p, pos_weight=weight, weight=y.abs()),
        lambda x: F.binary_cross_entropy(torch.sigmoid(x), p),
        lambda x: F.kl_div(F.log_softmax(x, -1), p),
        lambda x: F.kl_div(F.log_softmax(x, -1), p.log(), log_target=True, reduction="batchmean"),
        lambda x: F.cross_entropy(x, F.softmax(y, 1), weight=weight, label_smoothing=0.3),
        lambda x: (F.cross_entropy(x, F.softmax(y, 1), weight=weight, label_smoothing=0.2, reduction="none") * y[:, 0]).sum(),
        # PyTorch's nll_loss takes labels alone
        lambda x: F.cross_entropy(x, F.softmax(y, 1), weight=weight),
        lambda x: F.cross_entropy(x, F.softmax(y, 1), reduction="sum"),
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
