# SPDX-License-Identifier: Apache-2.0
"""Results of functions with their gradients, for tests/support/golden_gradients.hpp."""

import torch


def save_case(save, name, inputs, function):
    """Saves what a function makes of its inputs, a random cotangent, and the gradients by all inputs for it."""
    inputs = [t.clone().requires_grad_() for t in inputs]
    y = function(*inputs)
    cotangent = torch.randn(y.shape)
    save(f"{name}_y", y)
    save(f"{name}_cotangent", cotangent)
    for k, slope in enumerate(torch.autograd.grad(y, inputs, cotangent)):
        save(f"{name}_slope{k}", slope)
