#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Golden pooling from PyTorch: outputs and gradients for every option, ties and NaN. Run from the root of the tree.

tests/golden/pooling/cases.npy is one row of numbers: for each case
kind (0 maximum, 1 average, 2 adaptive average, 3 adaptive maximum), dimensions, window (of adaptive ones: output), stride,
padding, dilation (height and width each), ceil_mode, count_include_pad, divisor (0: none),
then x, cotangent, y, dx, each as rank, extents, elements.
"""

import numpy as np
import torch
import torch.nn.functional as F

torch.manual_seed(7)
torch.set_default_dtype(torch.float64)
numbers = []


def put(tensor):
    numbers.extend([tensor.dim(), *tensor.shape, *tensor.detach().flatten().tolist()])


def case(kind, shape, window, stride=None, padding=(0, 0), dilation=(1, 1), ceil=False, count=True, divisor=0,
         ties=False, nan=False):
    dimensions = len(shape) - 2
    x = torch.randint(-2, 3, shape).double() if ties else torch.randn(shape)
    if nan:
        x.view(-1)[::7] = float("nan")
    x.requires_grad_()
    stride = stride or window
    w, s, p, d = (option[2 - dimensions:] for option in (window, stride, padding, dilation))
    if kind == 0:
        y = [F.max_pool1d, F.max_pool2d][dimensions - 1](x, w, s, p, d, ceil)
    elif kind == 1 and dimensions == 1:
        y = F.avg_pool1d(x, w, s, p, ceil, count)
    elif kind == 1:
        y = F.avg_pool2d(x, w, s, p, ceil, count, divisor or None)
    elif kind == 2:
        y = [F.adaptive_avg_pool1d, F.adaptive_avg_pool2d][dimensions - 1](x, w if dimensions == 2 else w[0])
    else:
        y = [F.adaptive_max_pool1d, F.adaptive_max_pool2d][dimensions - 1](x, w if dimensions == 2 else w[0])
    g = torch.randn(y.shape)
    y.backward(g)
    numbers.extend([kind, dimensions, *window, *stride, *padding, *dilation, int(ceil), int(count), divisor])
    for tensor in (x, g, y, x.grad):
        put(tensor)


case(0, (2, 3, 6, 7), (2, 2))
case(0, (2, 3, 9, 8), (3, 3), (2, 2), (1, 1))
case(0, (1, 2, 9, 8), (3, 2), (2, 3), (1, 1), ceil=True)
case(0, (1, 5, 10, 11), (3, 2), (1, 2), (1, 0), dilation=(2, 3))
case(0, (1, 2, 8, 8), (3, 3), (2, 2), (1, 1), ties=True)
case(0, (1, 2, 8, 8), (3, 3), (2, 2), (1, 1), nan=True)
case(0, (2, 3, 9), (1, 3), (1, 2), (0, 1))
case(1, (2, 3, 6, 7), (2, 2))
case(1, (2, 3, 9, 8), (3, 3), (2, 2), (1, 1))
case(1, (2, 3, 9, 8), (3, 3), (2, 2), (1, 1), count=False)
case(1, (1, 2, 9, 8), (3, 2), (2, 3), (1, 1), ceil=True)
case(1, (1, 2, 9, 8), (3, 2), (2, 3), (1, 1), ceil=True, count=False)
case(1, (1, 2, 9, 8), (3, 2), (2, 3), (1, 1), divisor=5)
case(1, (2, 3, 9), (1, 4), (1, 3), (0, 2), ceil=True)
case(2, (2, 3, 7, 9), (3, 4))
case(2, (2, 3, 7, 5), (1, 1))
case(2, (1, 2, 3, 4), (5, 7))
case(2, (2, 3, 10), (1, 4))
case(3, (2, 3, 7, 9), (3, 4))
case(3, (1, 2, 3, 4), (5, 4))
case(3, (2, 3, 10), (1, 3))
np.save("tests/golden/pooling/cases.npy", np.array(numbers))
print(len(numbers), "numbers")
