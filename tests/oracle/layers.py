# SPDX-License-Identifier: Apache-2.0
"""Layers beside PyTorch's functions of the same weights, which are the operands after the inputs."""

import math

import numpy as np

from bounded import bounded, drawn, given
from cases import random_shape
from functions import Function
from matrices import generator
from networks import follow, of, rounded, torch, with_gradients

if torch:
    import torch.nn.functional as F


def plain(draw, code, pool, shape):
    """A weight: twill stores it as it is."""
    return drawn(draw, code, pool, shape, strided=False)


def linear_made(draw, codes):
    inputs, outputs = draw.choice((1, 2, 3, 5, 8)), draw.choice((1, 2, 3, 7))
    rows = draw.choice(((1,), (2,), (5,), (0,), (2, 3)))
    weights = [(outputs, inputs), (outputs,)][:len(codes) - 1]
    return ([drawn(draw, codes[0], "normal", rows + (inputs,))] + [plain(draw, codes[0], "normal", s) for s in weights], (outputs,))


def convolution_made(sides):
    def made(draw, codes):
        groups = draw.choice((1, 1, 2))
        channels, filters = groups * draw.choice((1, 2)), groups * draw.choice((1, 2))
        kernel, stride, padding, dilation = draw.choice((1, 2, 3)), draw.choice((1, 2)), draw.choice((0, 1, 2)), draw.choice((1, 2))
        shape = (draw.choice((1, 2, 3)), channels) + tuple(draw.choice((4, 5, 6)) for _ in range(sides))
        mode = draw.choice((0, 0, 1, 2, 3))
        weights = (filters, channels // groups) + (kernel,) * sides
        return ([drawn(draw, codes[0], "normal", shape), plain(draw, codes[0], "normal", weights),
                 plain(draw, codes[0], "normal", (filters,))], (filters, kernel, stride, padding, dilation, groups, mode))

    return made


MODES = ("zeros", "reflect", "replicate", "circular")


def convolution(sides):
    def f(x, n):
        n = [int(number) for number in n]
        padding, values = n[3], x[0]
        if n[6]:
            values, padding = F.pad(values, (padding,) * (2 * sides), MODES[n[6]]), 0
        return (F.conv1d if sides == 1 else F.conv2d)(values, x[1], x[2], n[2], padding, n[4], n[5])

    return of(f, convolution_made(sides))


def transposed_made(sides):
    def made(draw, codes):
        groups, stride = draw.choice((1, 2)), draw.choice((1, 2, 3))
        channels, filters = groups * draw.choice((1, 2)), groups * draw.choice((1, 2))
        kernel = draw.choice((1, 2, 3))
        padding, more = draw.randrange(kernel), draw.randrange(stride)
        shape = (draw.choice((1, 2)), channels) + tuple(draw.choice((3, 4)) for _ in range(sides))
        weights = (channels, filters // groups) + (kernel,) * sides
        return ([drawn(draw, codes[0], "normal", shape), plain(draw, codes[0], "normal", weights),
                 plain(draw, codes[0], "normal", (filters,))], (filters, kernel, stride, padding, more, groups))

    return made


def transposed(sides):
    def f(x, n):
        n = [int(number) for number in n]
        return (F.conv_transpose1d if sides == 1 else F.conv_transpose2d)(x[0], x[1], x[2], n[2], n[3], n[4], n[5])

    return of(f, transposed_made(sides))


def norm_made(kind):
    """At least three values are normalised together: of two, only which is the greater matters, and gradients cancel."""

    def made(draw, codes):
        channels = draw.choice((3, 4, 6)) if kind in ("layer", "rms", "batch") else draw.choice((2, 4, 6))
        epsilon = draw.choice((1e-5, 1e-2))
        sides = ((5,), (3, 4)) if kind in ("instance", "group") else ((), (5,), (3, 4))
        shape = (draw.choice((3, 5)), channels) + draw.choice(sides)
        numbers, of_weight = (epsilon,), (channels,)
        if kind == "layer":
            axes = draw.choice(range(1, len(shape)))
            numbers, of_weight = (epsilon, axes), shape[-axes:]
        elif kind == "rms":
            of_weight = shape[-1:]
        elif kind == "group":
            numbers = (epsilon, draw.choice((1, 2, channels)))
        elif kind == "batch":
            numbers = (epsilon, draw.choice((0.1, 0.5)))
        operands = [drawn(draw, codes[0], "normal", shape), plain(draw, codes[1], "scale", of_weight)]
        if len(codes) > 2:
            operands.append(plain(draw, codes[2], "normal", of_weight))
        if len(codes) > 3:
            operands += [plain(draw, codes[0], "normal", of_weight), plain(draw, codes[0], "scale", of_weight),
                         given(draw, "i8", np.asarray(7), strided=False)]
        return operands, numbers

    return made


def batch_norm(trains):
    def f(x, n):
        mean, variance = x[3].detach().clone(), x[4].detach().clone()
        y = F.batch_norm(x[0], mean, variance, x[1], x[2], trains, n[1], n[0])
        return y, mean, variance, x[5] + int(trains)

    return of(f, norm_made("batch"), 3)


def along_several(draw):
    """A shape and an axis of more than one element, along which a vector of one is but a sign."""
    shape = list(random_shape(draw, draw.choice((1, 2, 3))))
    axis = draw.randrange(len(shape))
    shape[axis] = max(shape[axis], draw.choice((2, 3)))
    return tuple(shape), axis - draw.choice((0, len(shape)))


def normed(draw, codes):
    shape, axis = along_several(draw)
    return [drawn(draw, codes[0], "normal", shape)], (1e-12, axis)


def pairs_along(draw, codes):
    shape, axis = along_several(draw)
    return [drawn(draw, code, "normal", shape) for code in codes], (axis,)


def table_made(bags):
    def made(draw, codes):
        count, width = draw.choice((1, 3, 8)), draw.choice((1, 2, 5))
        shape = (draw.choice((1, 2, 3)), draw.choice((1, 2, 4))) if bags else draw.choice(((3,), (2, 2), (0,), (1,)))
        index = given(draw, "i8", generator(draw).integers(0, count, shape))
        numbers = (count, width, draw.randrange(3), draw.choice((-1, 0))) if bags else (count, width)
        return [index, plain(draw, codes[1], "normal", (count, width))], numbers

    return made


def embedding_bag(x, n):
    padding = int(n[3])
    return F.embedding_bag(x[0], x[1], mode=("sum", "mean", "max")[int(n[2])], padding_idx=padding if padding >= 0 else None)


CELLS = {"rnn": 1, "lstm": 4, "gru": 3}


def recurrent_made(cell):
    """Gentle inputs and weights: the slope of a saturated cell, 1 - tanh^2, has lost its digits."""

    def made(draw, codes):
        count = 1 if len(codes) == 5 else 2
        steps = draw.choice((1, 2, 4))
        rows, features, hidden = (draw.choice((1, 2, 3)) for _ in range(3))
        gates = CELLS[cell] * hidden
        weights = []
        for layer in range(count):
            for _ in range(count):
                inputs = features if layer == 0 else hidden * count
                weights += [(gates, inputs), (gates, hidden), (gates,), (gates,)]
        first = draw.randrange(2)
        shape = (rows, steps, features) if first else (steps, rows, features)
        return ([drawn(draw, codes[0], "gentle", shape)] + [plain(draw, codes[0], "gentle", s) for s in weights],
                (hidden, count, int(count == 2), first))

    return made


def recurrent(cell):
    def f(x, n):
        hidden, layers, both, first = (int(number) for number in n)
        rows = x[0].shape[0 if first else 1]
        state = torch.zeros(layers * (1 + both), rows, hidden, dtype=torch.float64)
        if cell == "lstm":
            y, h, _ = torch.lstm(x[0], (state, state), x[1:], True, layers, 0.0, False, both != 0, first != 0)
        else:
            function = torch.rnn_tanh if cell == "rnn" else torch.gru
            y, h = function(x[0], state, x[1:], True, layers, 0.0, False, both != 0, first != 0)
        return y, h

    return of(f, recurrent_made(cell))


def cell_made(cell):
    def made(draw, codes):
        rows, features, hidden = draw.choice((1, 2, 5)), draw.choice((1, 3)), draw.choice((1, 2, 4))
        gates = CELLS[cell] * hidden
        inputs = [(rows, features)] + [(rows, hidden)] * (len(codes) - 5)
        return ([drawn(draw, codes[0], "gentle", s) for s in inputs] +
                [plain(draw, codes[0], "gentle", s) for s in ((gates, features), (gates, hidden), (gates,), (gates,))], (hidden,))

    return made


def heads_apart(draw, codes):
    batch = draw.choice(((), (2,), (2, 3)))
    queries, keys, width, out = draw.choice((1, 3, 5)), draw.choice((1, 3, 5)), draw.choice((1, 2, 4)), draw.choice((1, 3))
    causal = draw.randrange(2)
    shapes = [batch + (queries, width), batch + (queries if causal else keys, width), batch + (queries if causal else keys, out)]
    operands = [drawn(draw, codes[0], "normal", s) for s in shapes]
    if len(codes) > 3:
        mask = generator(draw).random((queries, shapes[1][-2])) < 0.6
        mask[:, 0] = True
        return operands + [given(draw, "b1", mask)], (0,)
    return operands, (causal, draw.choice((0.0, 0.7)))


def attention(x, n):
    return F.scaled_dot_product_attention(x[0], x[1], x[2], is_causal=n[0] != 0, scale=n[1] or None)


def heads_made(draw, codes):
    """Gentle for the slope of the softmax, which is small beside its terms where one key has all the weight."""
    heads, rows, keys, batch = draw.choice((1, 2)), draw.choice((1, 3)), draw.choice((1, 2, 4)), draw.choice((1, 2))
    width = heads * draw.choice((2, 3))
    shapes = [(batch, rows, width), (batch, keys, width), (batch, keys, width)]
    weights = [(3 * width, width), (3 * width,), (width, width), (width,)]
    return [drawn(draw, codes[0], "gentle", s) for s in shapes] + [plain(draw, codes[0], "gentle", s) for s in weights], (heads,)


def multi_head(x, n, mask=None):
    heads, weights, biases = int(n[0]), x[3].chunk(3), x[4].chunk(3)
    parts = [rounded(F.linear(part, w, b)).unflatten(-1, (heads, -1)).transpose(1, 2) for part, w, b in zip(x[:3], weights, biases)]
    return F.linear(rounded(F.scaled_dot_product_attention(*parts, mask)).transpose(1, 2).flatten(2), x[5], x[6])


def encoder_made(draw, codes):
    heads, first = draw.choice((1, 2)), draw.randrange(2)
    width, wide = 4, draw.choice((3, 5))
    attention, norm = [(3 * width, width), (3 * width,), (width, width), (width,)], [(width,), (width,)]
    linears = [(wide, width), (wide,), (width, wide), (width,)]
    shapes = norm + attention + norm + linears if first else attention + norm + linears + norm
    x = drawn(draw, codes[0], "gentle", (draw.choice((1, 2)), draw.choice((1, 2, 4)), width))
    return ([x] + [plain(draw, codes[0], "gentle", s) for s in shapes], (heads, wide, draw.randrange(2), first, draw.randrange(2)))


def encoder(x, n):
    x, w = x[0], x[1:]
    width, rows = x.shape[-1], x.shape[1]
    attended, norm1, linears, norm2 = (w[2:6], w[0:2], w[8:12], w[6:8]) if n[3] else (w[0:4], w[4:6], w[6:10], w[10:12])
    mask = torch.triu(torch.full((rows, rows), -math.inf, dtype=torch.float64), 1) if n[4] else None

    def attends(y):
        return multi_head([y, y, y, *attended], (n[0],), mask)

    def feeds(y):
        y = rounded(F.linear(y, linears[0], linears[1]))
        return F.linear(F.gelu(y) if n[2] else F.relu(y), linears[2], linears[3])

    def normal(y, weights):
        return rounded(F.layer_norm(rounded(y), (width,), weights[0], weights[1]))

    if n[3]:
        x = x + attends(normal(x, norm1))
        return x + feeds(normal(x, norm2))
    x = normal(x + attends(x), norm1)
    return normal(x + feeds(x), norm2)


def images(sides, *options):
    def made(draw, codes):
        shape = (draw.choice((1, 2)), draw.choice((1, 3))) + tuple(draw.choice((4, 5, 7)) for _ in range(sides))
        return [drawn(draw, codes[0], "normal", shape)], tuple(draw.choice(choices) for choices in options)

    return made


def pool(f):
    def pooled(x, n):
        n = [int(number) for number in n]
        if n[2] * 2 > n[0]:
            raise ValueError("PyTorch's padding is at most half of the window")
        more = {"count_include_pad": n[4] != 0} if len(n) > 4 else {}
        return f(x[0], n[0], n[1], n[2], ceil_mode=n[3] != 0, **more)

    return pooled


WINDOW = ((1, 2, 3), (1, 2, 3), (0, 1), (0, 1))


def shuffled(draw, codes):
    factor = draw.choice((1, 2, 3))
    return [drawn(draw, codes[0], "normal", (draw.choice((1, 2)), factor**2 * draw.choice((1, 2)), 2, 3))], (factor,)


def along(even=False):
    def made(draw, codes):
        shape = list(random_shape(draw, draw.choice((1, 2, 3))))
        axis = draw.randrange(len(shape))
        if even:
            shape[axis] = 2 * draw.choice((1, 2, 3))
        return [drawn(draw, codes[0], "normal", tuple(shape))], (axis - (len(shape) if draw.random() < 0.5 else 0),)

    return made


def prelu_made(draw, codes):
    channels = draw.choice((1, 3))
    count = draw.choice((1, channels))
    return [drawn(draw, codes[0], "normal", (draw.choice((1, 2)), channels, 4)), plain(draw, codes[0], "scale", (count,))], (count,)


def hard_sigmoid(x):
    return F.relu6(x + 3) / 6  # the gradient of F.hardsigmoid has the float32 nearest to a sixth


def tanh_shrink(x):
    return x - rounded(torch.tanh(x))


def activations(rng, x):
    follow(rng)
    results = []
    for f in (F.relu, F.leaky_relu, torch.sigmoid, F.silu, F.gelu, lambda y: F.gelu(y, approximate="tanh"), F.softplus,
              F.logsigmoid, F.mish, F.hardswish, F.hardtanh, F.relu6, hard_sigmoid, F.softsign, tanh_shrink, F.softshrink,
              F.hardshrink, F.elu, F.selu, lambda y: F.celu(y, 0.5)):
        variable = torch.from_numpy(np.array(x)).requires_grad_()
        results += with_gradients(rng, f(variable), [variable])
    return results


FUNCTIONS = {
    "layers.linear": of(lambda x, n: F.linear(x[0], x[1], x[2]), linear_made),
    "layers.linear_without_bias": of(lambda x, n: F.linear(x[0], x[1]), linear_made),
    "layers.conv1d": convolution(1),
    "layers.conv2d": convolution(2),
    "layers.conv_transpose1d": transposed(1),
    "layers.conv_transpose2d": transposed(2),
    "layers.layer_norm": of(lambda x, n: F.layer_norm(x[0], x[0].shape[-int(n[1]):], x[1], x[2], n[0]), norm_made("layer")),
    "layers.rms_norm": of(lambda x, n: F.rms_norm(x[0], x[0].shape[-1:], x[1], n[0]), norm_made("rms")),
    "layers.group_norm": of(lambda x, n: F.group_norm(x[0], int(n[1]), x[1], x[2], n[0]), norm_made("group")),
    "layers.instance_norm": of(lambda x, n: F.instance_norm(x[0], None, None, x[1], x[2], True, 0.1, n[0]), norm_made("instance")),
    "layers.batch_norm": batch_norm(True),
    "layers.batch_norm_evaluated": batch_norm(False),
    "layers.local_response_norm": of(lambda x, n: F.local_response_norm(x[0], int(n[0]), n[1], n[2], n[3]),
                                     images(2, (1, 2, 3), (1e-4, 0.5), (0.75, 0.5), (1.0, 2.0))),
    "layers.normalize": of(lambda x, n: F.normalize(x[0], 2, int(n[1]), n[0]), normed),
    "layers.cosine_similarity": of(lambda x, n: F.cosine_similarity(x[0], x[1], int(n[0])), pairs_along),
    "layers.embedding": of(lambda x, n: F.embedding(x[0], x[1]), table_made(False)),
    "layers.embedding_bag": of(embedding_bag, table_made(True)),
    "layers.rnn": recurrent("rnn"),
    "layers.lstm": recurrent("lstm"),
    "layers.gru": recurrent("gru"),
    "layers.lstm_cell": of(lambda x, n: torch.lstm_cell(x[0], x[1:3], *x[3:]), cell_made("lstm")),
    "layers.gru_cell": of(lambda x, n: torch.gru_cell(*x), cell_made("gru")),
    "layers.attention": of(attention, heads_apart),
    "layers.attention_masked": of(lambda x, n: F.scaled_dot_product_attention(x[0], x[1], x[2], x[3]), heads_apart),
    "layers.multi_head_attention": of(multi_head, heads_made),
    "layers.transformer_encoder_layer": of(encoder, encoder_made),
    "layers.max_pool1d": of(pool(lambda *x, **how: F.max_pool1d(*x, **how)), images(1, *WINDOW)),
    "layers.max_pool2d": of(pool(lambda *x, **how: F.max_pool2d(*x, **how)), images(2, *WINDOW)),
    "layers.avg_pool1d": of(pool(lambda *x, **how: F.avg_pool1d(*x, **how)), images(1, *WINDOW, (0, 1))),
    "layers.avg_pool2d": of(pool(lambda *x, **how: F.avg_pool2d(*x, **how)), images(2, *WINDOW, (0, 1))),
    "layers.adaptive_avg_pool2d": of(lambda x, n: F.adaptive_avg_pool2d(x[0], (int(n[0]), int(n[1]))),
                                     images(2, (1, 2, 3), (1, 2, 4))),
    "layers.adaptive_max_pool2d": of(lambda x, n: F.adaptive_max_pool2d(x[0], (int(n[0]), int(n[1]))),
                                     images(2, (1, 2, 3), (1, 2, 4))),
    "layers.interpolate_nearest": of(lambda x, n: F.interpolate(x[0], (int(n[0]), int(n[1]))), images(2, (1, 3, 8), (2, 5, 9))),
    "layers.interpolate_linear": of(
        lambda x, n: F.interpolate(x[0], (int(n[0]), int(n[1])), mode="bilinear", align_corners=n[2] != 0),
        images(2, (1, 3, 8), (2, 5, 9), (0, 1))),
    "layers.pixel_shuffle": of(lambda x, n: F.pixel_shuffle(x[0], int(n[0])), shuffled),
    "layers.unfold": of(lambda x, n: F.unfold(x[0], int(n[0]), int(n[3]), int(n[2]), int(n[1])),
                        images(2, (1, 2, 3), (1, 2), (0, 1), (1, 2))),
    "layers.softmax": of(lambda x, n: F.softmax(x[0], int(n[0])), along()),
    "layers.log_softmax": of(lambda x, n: F.log_softmax(x[0], int(n[0])), along()),
    "layers.glu": of(lambda x, n: F.glu(x[0], int(n[0])), along(even=True)),
    "layers.prelu": of(lambda x, n: F.prelu(x[0], x[1]), prelu_made),
    "layers.activations": Function(lambda arrays, n, _: bounded(activations, arrays),
                                   make=lambda draw, codes: ([drawn(draw, codes[0], "normal", random_shape(draw))], ())),
} if torch else {}
