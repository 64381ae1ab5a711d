# SPDX-License-Identifier: Apache-2.0
"""Twenty steps of gradient descent from a last layer of zeros, for each loss: where predictions are all 0, ties and kinks of
formulas are met at once. `losses` is (loss, step), in the order of LOSSES."""

import torch
import torch.nn.functional as F

STEPS, RATE = 20, 0.5


def make(save):
    x, first = torch.randn(8, 4), torch.randn(4, 5)
    wanted = torch.randn(8, 3)
    classes = torch.tensor([0, 1, 2, 0, 1, 2, 2, 1])
    truth = (wanted > 0).to(x.dtype)
    shares = torch.softmax(wanted, 1)
    losses = [
        lambda y: F.mse_loss(y, wanted), lambda y: F.l1_loss(y, wanted), lambda y: F.huber_loss(y, wanted),
        lambda y: F.smooth_l1_loss(y, wanted), lambda y: F.binary_cross_entropy_with_logits(y, truth),
        lambda y: F.binary_cross_entropy(torch.sigmoid(y), truth), lambda y: F.cross_entropy(y, classes),
        lambda y: F.nll_loss(torch.log_softmax(y, 1), classes),
        lambda y: F.kl_div(torch.log_softmax(y, 1), shares, reduction="batchmean"),
        lambda y: F.softplus(y).mean(), lambda y: F.mse_loss(F.elu(y), wanted),
    ]
    for name, array in (("x", x), ("first", first), ("wanted", wanted), ("classes", classes)):
        save(name, array)
    courses = []
    for loss in losses:
        weights = [first.clone().requires_grad_(), torch.zeros(5, 3, requires_grad=True)]
        course = []
        for _ in range(STEPS):
            value = loss(torch.tanh(x @ weights[0]) @ weights[1])
            gradients = torch.autograd.grad(value, weights)
            course.append(value.item())
            with torch.no_grad():
                for weight, gradient in zip(weights, gradients):
                    weight -= RATE * gradient
        courses.append(course)
    save("losses", torch.tensor(courses))
