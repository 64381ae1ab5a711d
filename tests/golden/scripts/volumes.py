# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling of volumes: results, and gradients by all operands for a cotangent."""

import functools

import torch
from cases import save_case
from torch.nn import functional as F


def make(save):
    x = torch.randn(2, 4, 5, 4, 6)
    whole, grouped, bias = torch.randn(3, 4, 3, 2, 3), torch.randn(6, 2, 2, 3, 1), torch.randn(3)
    for name, tensor in [("x", x), ("equals", x.round().clamp(0, 1)), ("whole", whole), ("grouped", grouped), ("bias", bias)]:
        save(name, tensor)

    case = functools.partial(save_case, save)

    case("conv", [x, whole, bias], lambda x, w, b: F.conv3d(x, w, b))
    case("conv_moved", [x, whole, bias],
         lambda x, w, b: F.conv3d(x, w, b, stride=(2, 1, 3), padding=(1, 2, 0), dilation=(2, 1, 1)))
    case("conv_grouped", [x, grouped], lambda x, w: F.conv3d(x, w, groups=2, padding=1, stride=(1, 2, 1)))
    case("max", [x], lambda x: F.max_pool3d(x, 2))
    case("max_moved", [x], lambda x: F.max_pool3d(x, (3, 2, 3), stride=(1, 2, 2), padding=(1, 0, 1), dilation=(2, 1, 1)))
    case("max_ceil", [x], lambda x: F.max_pool3d(x, (2, 3, 4), ceil_mode=True))
    case("max_of_equals", [x.round().clamp(0, 1)], lambda x: F.max_pool3d(x, 3, stride=1))
    case("mean", [x], lambda x: F.avg_pool3d(x, 2))
    case("mean_moved", [x], lambda x: F.avg_pool3d(x, (3, 2, 3), stride=(1, 2, 2), padding=(1, 1, 0)))
    case("mean_inside", [x], lambda x: F.avg_pool3d(x, (3, 2, 3), stride=2, padding=(1, 1, 1), ceil_mode=True,
                                                    count_include_pad=False))
    case("mean_ceil", [x], lambda x: F.avg_pool3d(x, 2, stride=(2, 3, 2), padding=1, ceil_mode=True))
    case("mean_divided", [x], lambda x: F.avg_pool3d(x, 2, divisor_override=5))
    case("adaptive_mean", [x], lambda x: F.adaptive_avg_pool3d(x, (2, 3, 4)))
    case("adaptive_max", [x], lambda x: F.adaptive_max_pool3d(x, (3, 2, 4)))

    small, bias = torch.randn(2, 4, 3, 2, 3), torch.randn(6)
    every, halves = torch.randn(4, 6, 2, 3, 2), torch.randn(4, 3, 3, 1, 2)
    for name, tensor in [("small", small), ("small_bias", bias), ("every", every), ("halves", halves)]:
        save(name, tensor)
    case("transposed", [small, every, bias], lambda x, w, b: F.conv_transpose3d(x, w, b))
    case("transposed_moved", [small, every, bias],
         lambda x, w, b: F.conv_transpose3d(x, w, b, stride=(2, 1, 3), padding=(1, 2, 0), output_padding=(1, 0, 2), dilation=(3, 2, 1)))
    case("transposed_grouped", [small, halves], lambda x, w: F.conv_transpose3d(x, w, groups=2, padding=(2, 0, 1), stride=2))
