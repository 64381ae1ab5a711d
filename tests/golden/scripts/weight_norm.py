# SPDX-License-Identifier: Apache-2.0
"""torch.nn.utils.weight_norm on linear and convolutional layers along several axes: outputs, first and second derivatives.

The second derivatives are those of the formula in PyTorch's operations: those by directions that its fused
kernel gives (2.x, axes 0 and last) are not what finite differences of its own gradients give.
"""

import warnings

import torch
from torch.func import functional_call

warnings.simplefilter("ignore")  # the older of two spellings, whose names twill has


def make(save):
    rows, image = torch.randn(3, 4), torch.randn(2, 3, 5, 4)
    save("rows", rows)
    save("image", image)
    for name, plain, axis, x in [
        ("linear", torch.nn.Linear(4, 5), 0, rows),
        ("columns", torch.nn.Linear(4, 5), 1, rows),
        ("whole", torch.nn.Linear(4, 5), None, rows),
        ("conv", torch.nn.Conv2d(3, 4, (3, 2), padding=1), 0, image),
        ("conv_channels", torch.nn.Conv2d(3, 4, (3, 2), padding=1), 1, image),
    ]:
        bias = plain.bias.detach().clone()
        layer = torch.nn.utils.weight_norm(plain, dim=axis)
        save(f"{name}_first_g", layer.weight_g)
        with torch.no_grad():
            layer.weight_g.copy_(torch.rand_like(layer.weight_g) + 0.5)
        g, v = layer.weight_g, layer.weight_v
        y = layer(x)
        slopes = torch.autograd.grad((y**3).sum(), (g, v))
        torch.nn.utils.remove_weight_norm(layer)
        norm = (v**2).sum([i for i in range(v.dim()) if i != axis], keepdim=axis is not None).sqrt()
        composed = functional_call(layer, {"weight": v * (g / norm), "bias": bias}, x)
        again = torch.autograd.grad((composed**3).sum(), (g, v), create_graph=True)
        curves = torch.autograd.grad(sum((s**2).sum() for s in again), (g, v))
        for end, value in [("g", g), ("v", v), ("bias", bias), ("y", y), ("slope_g", slopes[0]),
                           ("slope_v", slopes[1]), ("curve_g", curves[0]), ("curve_v", curves[1])]:
            save(f"{name}_{end}", value)
