#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Golden interpolation from PyTorch: outputs and gradients. Run from the root of the tree.

tests/golden/interpolation/cases.npy is one row of numbers: for each case
is_linear, align_corners, size (height and width; 0: by scale), scale (height and width),
then x, cotangent, y, dx, each as rank, extents, elements.
"""

import numpy as np
import torch
import torch.nn.functional as F

torch.manual_seed(11)
torch.set_default_dtype(torch.float64)
numbers = []


def put(tensor):
    numbers.extend([tensor.dim(), *tensor.shape, *tensor.detach().flatten().tolist()])


def case(shape, linear, align=False, size=None, scale=None):
    dimensions = len(shape) - 2
    x = torch.randn(shape, requires_grad=True)
    mode = ["linear", "bilinear"][dimensions - 1] if linear else "nearest"
    y = F.interpolate(x, size=size, scale_factor=scale, mode=mode, align_corners=align if linear else None)
    g = torch.randn(y.shape)
    y.backward(g)
    both = lambda values, fill: [fill] * (2 - dimensions) + list(values) if values else [fill, fill]
    numbers.extend([int(linear), int(align), *both(size, 0), *both(scale, 1)])
    for tensor in (x, g, y, x.grad):
        put(tensor)


for linear, align in ((False, False), (True, False), (True, True)):
    case((2, 3, 4, 5), linear, align, size=(8, 10))
    case((2, 3, 4, 5), linear, align, size=(7, 3))
    case((1, 2, 7, 6), linear, align, size=(3, 11))
    case((1, 2, 4, 5), linear, align, scale=(2.5, 0.6))
    case((1, 2, 3, 1), linear, align, size=(1, 4))
    case((2, 3, 5), linear, align, size=(9,))
    case((2, 3, 5), linear, align, scale=(1.7,))
np.save("tests/golden/interpolation/cases.npy", np.array(numbers))
print(len(numbers), "numbers")
