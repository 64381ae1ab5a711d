# SPDX-License-Identifier: Apache-2.0
"""Functions of PyTorch's as references: computed in float64, with their gradients by automatic differentiation.

Where a result of an intermediate step cancels, as in the softmax's gradient of keys with a common bias, moving the operands does
not show what its rounding costs: `rounded` moves it too.
"""

import numpy as np

from bounded import H, NARROW, UNITS, bounded, factors
from functions import Function

try:
    import torch
except ImportError:
    torch = None
LIBRARY = None if torch else "PyTorch"


moving = None  # the generator of the direction in which operands and intermediate results move, if they do


def rounded(y):
    if moving is None:
        return y
    return y * torch.from_numpy(np.asarray(1 + H * moving.choice((-1.0, 1.0), tuple(y.shape))))


def follow(rng):
    """Intermediate results move in this direction from now on."""
    global moving
    moving = rng


def weighed(rng, y):
    """The driver's `weighed_sum`, whose weights move like an operand."""
    w = factors(y.numel())
    if rng is not None:
        w = w * (1 + H * rng.choice((-1.0, 1.0), w.shape))
    return (y.reshape(-1) * torch.from_numpy(w)).sum()


def tensors(operands, by):
    made = [torch.from_numpy(np.array(x)) for x in operands]
    for x in made[:by]:
        if x.dtype == torch.float64:
            x.requires_grad_()
    return made


def with_gradients(rng, y, by, more=()):
    found = torch.autograd.grad(weighed(rng, y), by, allow_unused=True) if y.requires_grad else [None] * len(by)
    zeros = [torch.zeros_like(x) if g is None else g for x, g in zip(by, found)]
    return [x.detach().numpy() for x in (y, *zeros, *more)]


def of(f, make, by=None, first=None, **how):
    """`f(tensors, numbers)`: a result, or a result and more that follow the gradients. `by`: how many operands have gradients,
    from the first; without it all floating ones. `first`: the type of the result where the operands' has 16 bits."""

    def reference(arrays, numbers, _):
        def computed(rng, *operands):
            follow(rng)
            x = tensors(operands, by)
            results = f(x, numbers)
            y, more = (results[0], results[1:]) if isinstance(results, tuple) else (results, ())
            variables = [each for each in x if each.requires_grad]
            return with_gradients(rng, y, variables, more)

        codes = [array.code for array in arrays if array.code in UNITS]
        is_narrow = codes[0] in NARROW
        return bounded(computed, arrays, types=(first, *codes[:by]) if is_narrow else (), **how)

    return Function(reference, make=make)
