# SPDX-License-Identifier: Apache-2.0
"""Three forward passes of torch.nn.utils.spectral_norm on a linear layer in training, the gradient, and one in evaluation."""

import torch


def make(save):
    layer = torch.nn.utils.spectral_norm(torch.nn.Linear(4, 5, bias=False))
    x = torch.randn(3, 4)
    save("weight", layer.weight_orig.detach())
    save("u", layer.weight_u)
    save("x", x)
    outputs = []
    for step in range(3):
        outputs.append(layer(x))
        if step == 2:
            (outputs[-1] ** 2).sum().backward()
    save("gradient", layer.weight_orig.grad)
    save("later_u", layer.weight_u)
    layer.eval()
    outputs.append(layer(x))
    save("outputs", torch.stack([o.detach() for o in outputs]))
