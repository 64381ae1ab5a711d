# SPDX-License-Identifier: Apache-2.0
"""What PyTorch makes of NaN and infinities, alone, in rows and in windows: one array for each function, in a fixed order."""

import torch
import torch.nn.functional as F

NAN, INF = float("nan"), float("inf")


def make(save):
    alone = torch.tensor([NAN, INF, -INF, 0.0, -0.0, 1.5, -1.5, 80.0, -80.0, 1e-30])
    save("alone", alone)
    functions = [
        torch.relu, lambda x: F.leaky_relu(x, 0.2), torch.sigmoid, F.silu, F.gelu, F.softplus, F.elu,
        lambda x: torch.clamp(x, -1, 2), torch.exp, torch.log, torch.sqrt, torch.tanh, torch.erf, torch.floor, torch.round,
        torch.reciprocal, lambda x: torch.maximum(x, torch.ones_like(x)), lambda x: torch.minimum(x, torch.ones_like(x)),
        lambda x: torch.fmax(x, torch.ones_like(x)), lambda x: torch.fmin(x, torch.ones_like(x)),
    ]
    save("elementwise", torch.stack([f(alone) for f in functions]))

    rows = torch.tensor([
        [0.5, -1.0, 2.0, 0.25, 1.0],
        [0.5, NAN, 2.0, 0.25, 1.0],
        [0.5, INF, 2.0, 0.25, 1.0],
        [0.5, -INF, 2.0, 0.25, 1.0],
        [-INF, -INF, -INF, -INF, -INF],
        [INF, -INF, NAN, 0.0, 3.0],
    ])
    save("rows", rows)
    save("along", torch.stack([
        torch.softmax(rows, 1), torch.log_softmax(rows, 1), F.layer_norm(rows, (5,)),
        rows * torch.rsqrt((rows * rows).mean(1, keepdim=True) + 1e-5), F.normalize(rows), torch.cumsum(rows, 1),
        torch.sort(rows, 1).values, torch.sort(rows, 1, descending=True).values,
        torch.topk(rows, 5, 1).values,
    ]))
    labels = torch.tensor([0, 1, 2, 3, 4, 0])
    save("over", torch.stack([
        torch.logsumexp(rows, 1), rows.sum(1), rows.mean(1), rows.amax(1), rows.amin(1), rows.prod(1),
        rows.var(1, unbiased=False), F.cross_entropy(rows, labels, reduction="none"),
        F.nll_loss(rows, labels, reduction="none"),
    ]))
    images = rows.reshape(1, 1, 6, 5)
    save("windows", torch.cat([
        F.max_pool2d(images, 3, 2, 1).flatten(), F.avg_pool2d(images, 2).flatten(),
        F.adaptive_max_pool2d(images, 3).flatten(), F.adaptive_avg_pool2d(images, 3).flatten(),
        F.interpolate(images, size=(3, 3), mode="nearest").flatten(),
    ]))
