# SPDX-License-Identifier: Apache-2.0
"""Values and derivatives of first and second order at kinks, in tails and at the ends of ranges, as PyTorch has them.

`points`, and for each function of one operand an array [value, first, second] along them; `pairs`, and for each of two
operands [value, by a, by b, by a twice, by a and b, by b twice]. Losses stand at (prediction, target). Of each function of
`rows` the value, then the gradient of its sum weighted by 1, 2, ... along rows, and that gradient's."""

import math

import torch
import torch.nn.functional as F

INF, NAN = math.inf, math.nan
POINTS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 1e-30, -1e-30, 1e-310, -1e-310, 9.0, -9.0, 20.0, -20.0, 40.0, -40.0,
          100.0, -100.0, 700.0, -700.0, 720.0, -720.0, 1e30, -1e30, 1e300, -1e300, INF, -INF, NAN, 3.0, -3.0, 6.0]
SIDES = [0.0, -0.0, 1.0, -1.0, 2.0, -0.5, 1e-200, 30.0, -30.0, 800.0, -800.0, 1e200]
PROBABILITIES = [0.0, 1.0, 0.5, 1e-13, 1 - 1e-13, 1e-300]

UNARY = {
    "relu": torch.relu, "leaky_relu": lambda x: F.leaky_relu(x, 0.2), "sigmoid": torch.sigmoid, "silu": F.silu,
    "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "softplus": lambda x: -F.logsigmoid(-x),
    "elu": F.elu, "elu of 0.5": lambda x: F.elu(x, 0.5), "clamp": lambda x: torch.clamp(x, -1, 2),
    "clamp_min": lambda x: torch.clamp(x, min=0), "clamp_max": lambda x: torch.clamp(x, max=1), "abs": torch.abs,
    "exp": torch.exp, "exp2": torch.exp2, "expm1": torch.expm1, "log": torch.log, "log1p": torch.log1p,
    "log2": torch.log2, "log10": torch.log10, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt, "reciprocal": torch.reciprocal,
    "square": torch.square, "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "asin": torch.asin, "acos": torch.acos,
    "atan": torch.atan, "sinh": torch.sinh, "cosh": torch.cosh, "tanh": torch.tanh, "asinh": torch.asinh,
    "acosh": torch.acosh, "atanh": torch.atanh, "erf": torch.erf, "erfc": torch.erfc, "sinc": torch.sinc,
    "power 2": lambda x: x**2, "power 3": lambda x: x**3, "power -1": lambda x: x**-1.0, "power 0.5": lambda x: x**0.5,
    "power 0": lambda x: x**0.0, "power 1": lambda x: x**1.0,
    "maximum with 1": lambda x: torch.clamp(x, min=1), "logsigmoid": F.logsigmoid, "mish": F.mish,
    "celu of 0.5": lambda x: F.celu(x, 0.5), "selu": F.selu,
    "tanh_accurate": torch.tanh, "erf_accurate": torch.erf, "floor": torch.floor, "ceil": torch.ceil, "round": torch.round, "trunc": torch.trunc, "sign": torch.sign,
    "gelu_accurate": lambda x: x * 0.5 * torch.erfc(x * -math.sqrt(0.5)),
    "hardtanh": F.hardtanh, "relu6": F.relu6, "hardsigmoid": lambda x: F.relu6(x + 3) / 6, "hardswish": F.hardswish,
    "softsign": F.softsign, "tanhshrink": F.tanhshrink, "softshrink": F.softshrink, "hardshrink": F.hardshrink,
    "threshold": lambda x: F.threshold(x, 0.5, 7),
}
BINARY = {
    "maximum": torch.maximum, "minimum": torch.minimum, "fmax": torch.fmax, "fmin": torch.fmin, "hypot": torch.hypot,
    "atan2": torch.atan2, "power": torch.pow, "logaddexp": torch.logaddexp, "logaddexp2": torch.logaddexp2,
    "xlogy": torch.xlogy, "divide": torch.div, "remainder": torch.remainder, "fmod": torch.fmod,
    "copysign": torch.copysign, "kl_divergence": lambda a, b: F.kl_div(a, b, reduction="none"),
    "clamp_min": lambda a, b: torch.clamp(a, min=b),
    "clamp_max": lambda a, b: torch.clamp(a, max=b), "mse": lambda a, b: (a - b) ** 2,
    "l1": lambda a, b: F.l1_loss(a, b, reduction="none"), "huber": lambda a, b: F.huber_loss(a, b, reduction="none"),
    "smooth_l1": lambda a, b: F.smooth_l1_loss(a, b, reduction="none", beta=0.5),
    "bce_with_logits": lambda a, b: F.binary_cross_entropy_with_logits(a, b, reduction="none"),
    "bce_with_logits of weighted positives":
        lambda a, b: F.binary_cross_entropy_with_logits(a, b, reduction="none", pos_weight=torch.tensor(3.0)),
}
ROWS = [[0.0, 0, 0, 0], [1, 1, 1, 1], [-2, -2, 3, 3], [1, 2, 3, 4], [-1, 0, 1, -0.0], [30, -30, 0, 1], [800, -800, 0, 1],
        [0, 2, 0, 3], [1000, 1000.5, 999, 1000], [1e200, 1, 0, -1], [1e200, 1e200, 1, 0], [1e-200, 0, 0, 0],
        [1e-200, -1e-200, 1e-200, 2e-200], [INF, 0, 1, 2], [-INF, 0, 1, 2], [-INF, -INF, -INF, -INF], [INF, -INF, 0, 0],
        [NAN, 1, 2, 3]]
CLASSES = torch.arange(len(ROWS)) % 4
NUMBERS = torch.tensor([1.0, 2, 3, 4])
OF_ROWS = {
    "sum": lambda x: x.sum(1), "mean": lambda x: x.mean(1), "prod": lambda x: x.prod(1), "max": lambda x: x.amax(1),
    "min": lambda x: x.amin(1), "var": lambda x: x.var(1, correction=0), "softmax": lambda x: F.softmax(x, 1),
    "log_softmax": lambda x: F.log_softmax(x, 1), "logsumexp": lambda x: torch.logsumexp(x, 1, keepdim=True),
    "layer_norm": lambda x: F.layer_norm(x, (4,)), "rms_norm": lambda x: F.rms_norm(x, (4,), eps=1e-5),
    "normalize": F.normalize, "cosine_similarity": lambda x: F.cosine_similarity(x, NUMBERS.expand_as(x)),
    "cross_entropy": lambda x: F.cross_entropy(x, CLASSES, reduction="none"),
    "cross_entropy of smoothed labels": lambda x: F.cross_entropy(x, CLASSES, reduction="none", label_smoothing=0.2),
    "cross_entropy of probabilities": lambda x: F.cross_entropy(x, (NUMBERS * 0.1).expand_as(x), reduction="none"),
    "nll": lambda x: F.nll_loss(x, CLASSES, reduction="none"),
}
OF_PROBABILITIES = {"bce": lambda a, b: F.binary_cross_entropy(a, b, reduction="none")}


def derivative(y, x):
    if not y.requires_grad:
        return torch.zeros_like(x)
    result = torch.autograd.grad(y.sum(), x, create_graph=True, allow_unused=True)[0]
    return torch.zeros_like(x) if result is None else result


def of_one(function, points):
    x = torch.tensor(points, requires_grad=True)
    y = function(x)
    first = derivative(y, x)
    return torch.stack([y, first, derivative(first, x)])


def of_two(function, left, right):
    a, b = (torch.tensor(side).requires_grad_() for side in (left, right))
    y = function(a, b)
    by_a, by_b = derivative(y, a), derivative(y, b)
    return torch.stack([y, by_a, by_b, derivative(by_a, a), derivative(by_a, b), derivative(by_b, b)])


def weighted(y):
    return (y * NUMBERS[: y.shape[1]] if y.dim() == 2 else y).sum()


def of_rows(function):
    x = torch.tensor(ROWS, requires_grad=True)
    y = function(x)
    first = derivative(weighted(y), x)
    return [y, first, derivative(weighted(first), x)]


def make(save):
    save("points", torch.tensor(POINTS))
    save("unary", torch.stack([of_one(f, POINTS) for f in UNARY.values()]))
    left, right = zip(*[(a, b) for a in SIDES for b in SIDES])
    save("pairs", torch.tensor([left, right]))
    save("binary", torch.stack([of_two(f, left, right) for f in BINARY.values()]))
    left, right = zip(*[(a, b) for a in PROBABILITIES for b in (0.0, 1.0, 0.25)])
    save("probabilities", torch.tensor([left, right]))
    save("of_probabilities", torch.stack([of_two(f, left, right) for f in OF_PROBABILITIES.values()]))
    save("rows", torch.tensor(ROWS))
    for name, f in OF_ROWS.items():
        save(name.replace(" ", "_"), torch.cat([each.flatten() for each in of_rows(f)]))
