# SPDX-License-Identifier: Apache-2.0
"""Gradients of each example, pairs of examples, and second derivatives for each of them, by torch.func."""

import torch
from torch.func import grad, hessian, vmap
from torch.nn.functional import conv2d, cross_entropy, max_pool2d


def loss_of_one(w, v, x, label):
    return cross_entropy(torch.tanh(x.unsqueeze(0) @ w) @ v, label.unsqueeze(0))


def loss_of_image(kernel, image):
    return max_pool2d(conv2d(image.unsqueeze(0), kernel, padding=1), 2).square().sum()


def energy(x):
    return (x.square() * torch.tanh(x)).sum() + x.prod()


def make(save):
    w, v, x = torch.randn(4, 6), torch.randn(6, 3), torch.randn(5, 4)
    labels = torch.tensor([0, 2, 1, 1, 0])
    by_w, by_v = vmap(grad(loss_of_one, argnums=(0, 1)), in_dims=(None, None, 0, 0))(w, v, x, labels)
    kernel, images = torch.randn(4, 2, 3, 3), torch.randn(3, 2, 6, 4)
    for name, array in {
        "w": w, "v": v, "x": x, "labels": labels, "by_w": by_w, "by_v": by_v, "kernel": kernel, "images": images,
        "by_kernel": vmap(grad(loss_of_image), in_dims=(None, 0))(kernel, images),
        "hessians": vmap(hessian(energy))(x),
        "pairs": vmap(vmap(lambda a, b: torch.tanh(a @ b), in_dims=(None, 0)), in_dims=(0, None), out_dims=1)(x, x[:3]),
    }.items():
        save(name, array)
