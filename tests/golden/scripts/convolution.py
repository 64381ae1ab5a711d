#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Golden convolutions from PyTorch: outputs and gradients for every option. Run from the root of the tree.

tests/golden/convolution/cases.npy is one row of numbers: for each case
dimensions, is_transposed, stride, padding, output_padding, dilation (height and width each), groups,
then x, weight, bias, cotangent, y, dx, dweight, dbias, each as rank, extents, elements.
"""

import numpy as np
import torch

torch.manual_seed(5)
torch.set_default_dtype(torch.float64)
numbers = []


def put(tensor):
    numbers.extend([tensor.dim(), *tensor.shape, *tensor.detach().flatten().tolist()])


def case(x_shape, w_shape, stride=(1, 1), padding=(0, 0), output_padding=(0, 0), dilation=(1, 1), groups=1,
         is_transposed=False):
    dimensions = len(x_shape) - 2
    x = torch.randn(x_shape, requires_grad=True)
    w = torch.randn(w_shape, requires_grad=True)
    b = torch.randn(w_shape[1] * groups if is_transposed else w_shape[0], requires_grad=True)
    last = [option[2 - dimensions:] for option in (stride, padding, output_padding, dilation)]
    if is_transposed:
        f = [torch.nn.functional.conv_transpose1d, torch.nn.functional.conv_transpose2d][dimensions - 1]
        y = f(x, w, b, last[0], last[1], last[2], groups, last[3])
    else:
        f = [torch.nn.functional.conv1d, torch.nn.functional.conv2d][dimensions - 1]
        y = f(x, w, b, last[0], last[1], last[3], groups)
    g = torch.randn(y.shape)
    y.backward(g)
    numbers.extend([dimensions, int(is_transposed), *stride, *padding, *output_padding, *dilation, groups])
    for tensor in (x, w, b, g, y, x.grad, w.grad, b.grad):
        put(tensor)


case((2, 3, 5, 7), (4, 3, 3, 3))
case((2, 3, 5, 7), (4, 3, 3, 2), stride=(2, 1), padding=(1, 2))
case((1, 4, 9, 8), (6, 2, 3, 3), dilation=(2, 3), padding=(2, 3), groups=2)
case((3, 6, 4, 4), (12, 1, 3, 3), padding=(1, 1), groups=6)
case((2, 5, 6, 6), (7, 5, 1, 1), stride=(2, 2))
case((1, 3, 11, 13), (4, 3, 7, 5), stride=(3, 2), padding=(3, 1))
case((2, 3, 11), (4, 3, 3), stride=(1, 2), padding=(0, 1))
case((1, 4, 10), (2, 2, 3), dilation=(1, 3), groups=2)
case((2, 3, 4, 5), (3, 4, 3, 3), is_transposed=True)
case((2, 3, 4, 5), (3, 4, 3, 2), stride=(2, 3), padding=(1, 0), output_padding=(1, 2), is_transposed=True)
case((1, 4, 5, 4), (4, 3, 3, 3), stride=(2, 2), padding=(2, 1), dilation=(2, 1), groups=2, is_transposed=True)
case((2, 3, 6), (3, 5, 4), stride=(1, 2), padding=(0, 1), output_padding=(0, 1), is_transposed=True)
np.save("tests/golden/convolution/cases.npy", np.array(numbers))
print(len(numbers), "numbers")
