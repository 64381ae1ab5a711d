# SPDX-License-Identifier: Apache-2.0
"""Losses beside torch.nn.functional's."""

from bounded import drawn, given
from cases import random_shape
from matrices import generator
from networks import of as of_network
from networks import torch

if torch:
    import torch.nn.functional as F

REDUCE = ("mean", "sum", "none")


def of(f, make, by=None, **how):
    """A loss, which is float32 of predictions of 16 bits."""
    return of_network(f, make, by, first="f4", **how)


def reduction(n):
    return REDUCE[int(n[0])]


def rows_shape(draw):
    shape = random_shape(draw, draw.choice((1, 2, 2, 3)))
    return shape


def equal(pools, *options, rank=None):
    """Operands of one shape, and a reduction with other options."""

    def made(draw, codes):
        shape = rows_shape(draw) if rank is None else random_shape(draw, rank)
        reduce = draw.randrange(3)
        if 0 in shape and reduce == 0:
            reduce = 1  # a mean of nothing is NaN
        operands = [drawn(draw, code, pool, shape) for code, pool in zip(codes, pools)]
        return operands, (reduce, *(draw.choice(choices) for choices in options))

    return made


def labels(draw, shape, classes):
    return generator(draw).integers(0, classes, shape)


def classified(*options, weight=False, axes=(-1,), logits="normal", leaves_out=None):
    def made(draw, codes):
        classes = draw.choice((2, 3, 5, 10))
        rows = draw.choice(((1,), (3,), (7,), (2, 3)) if axes != (-1,) else ((1,), (3,), (7,), (16,)))
        chosen = [draw.choice(choices) for choices in options]
        reduce = draw.randrange(3)
        shape = rows + (classes,)
        if axes != (-1,):
            axis = 1 if len(shape) > 1 and draw.random() < 0.5 else -1
            shape = rows[:1] + (classes,) + rows[1:] if axis == 1 else shape
            chosen.append(axis)
        operands = [drawn(draw, codes[0], logits, shape), given(draw, "i8", labels(draw, rows, classes))]
        if weight:
            operands.append(drawn(draw, codes[2], "scale", (classes,)))
        return operands, (reduce, *chosen)

    return made


def cross_entropy(x, n):
    axis = int(n[2])
    logits = x[0].movedim(axis, 1) if axis == -1 and x[0].ndim > 2 else x[0]
    return F.cross_entropy(logits, x[1], label_smoothing=n[1], reduction=reduction(n))


def focal(x, n):
    p = torch.sigmoid(x[0])
    loss = F.binary_cross_entropy_with_logits(x[0], x[1], reduction="none")
    loss = loss * (1 - (p * x[1] + (1 - p) * (1 - x[1]))) ** n[2]
    loss = (n[1] * x[1] + (1 - n[1]) * (1 - x[1])) * loss if n[1] >= 0 else loss
    return loss.mean() if n[0] == 0 else loss.sum() if n[0] == 1 else loss


def ctc_made(draw, codes):
    steps, batch, classes = draw.choice((4, 6, 9)), draw.choice((1, 2, 3)), draw.choice((3, 5))
    lengths = [draw.randrange(0, 3) for _ in range(batch)]
    most = max(max(lengths), 1)
    rng = generator(draw)
    return ([drawn(draw, codes[0], "normal", (steps, batch, classes)), given(draw, "i8", rng.integers(1, classes, (batch, most))),
             given(draw, "i8", [draw.choice((steps, steps - 1)) for _ in range(batch)]), given(draw, "i8", lengths)],
            (draw.randrange(3), draw.randrange(2)))


def sigmoid_pair(draw, codes):
    operands, numbers = equal(("probability", "probability"), (1.0, 0.5))(draw, codes)
    return operands, numbers


def kl(x, n):
    how = ("mean", "sum", "none", "batchmean")[int(n[0])]
    return F.kl_div(x[0], x[1], reduction=how, log_target=n[1] != 0)


def kl_made(draw, codes):
    operands, numbers = equal(("normal", "probability"), (0, 1), rank=2)(draw, codes)
    if operands and numbers[0] == 0 and draw.random() < 0.4 and 0 not in operands[0].shape:
        numbers = (3, numbers[1])
    return operands, numbers


def margin_rows(pools, *options):
    """Rows of vectors, and one number for each row."""

    def made(draw, codes):
        rows, width = draw.choice((1, 2, 3, 7)), draw.choice((2, 3, 5, 8))  # of one element the cosine is a sign
        operands = [drawn(draw, code, pool, (rows, width) if pool == "normal" else (rows,)) for code, pool in zip(codes, pools)]
        return operands, (draw.randrange(3), *(draw.choice(choices) for choices in options))

    return made


def with_class_weights(draw, codes):
    shape = random_shape(draw, 2)
    if 0 in shape:
        raise ValueError("no rows")
    return ([drawn(draw, codes[0], "normal", shape), given(draw, codes[1], labels(draw, shape, 2)),
             drawn(draw, codes[2], "scale", shape[-1:])], (draw.randrange(3),))


FUNCTIONS = {
    "losses.cross_entropy": of(cross_entropy, classified((0.0, 0.1), axes=(1, -1)), 1),
    "losses.cross_entropy_weighted": of(
        lambda x, n: F.cross_entropy(x[0], x[1], x[2], ignore_index=1, label_smoothing=n[1], reduction=reduction(n)),
        classified((0.0, 0.2), weight=True), 1),
    "losses.cross_entropy_probabilities": of(
        lambda x, n: F.cross_entropy(x[0], x[1], label_smoothing=n[1], reduction=reduction(n)),
        equal(("normal", "probability"), (0.0, 0.3), rank=2), 2),
    "losses.nll": of(lambda x, n: F.nll_loss(x[0], x[1], x[2], ignore_index=int(n[1]), reduction=reduction(n)),
                     classified((-100, 0), weight=True), 1),
    "losses.bce_with_logits": of(lambda x, n: F.binary_cross_entropy_with_logits(
        x[0], x[1], x[2], pos_weight=torch.tensor(n[1], dtype=torch.float64), reduction=reduction(n)),
        equal(("normal", "probability", "scale"), (1.0, 3.0)), 2),
    "losses.bce": of(lambda x, n: F.binary_cross_entropy(x[0], x[1], torch.full_like(x[0], n[1]), reduction=reduction(n)),
                     sigmoid_pair, 2),
    "losses.kl_divergence": of(kl, kl_made, 2),
    "losses.focal": of(focal, equal(("normal", "probability"), (0.25, -1.0), (2.0, 0.5)), 1),
    "losses.mse": of(lambda x, n: F.mse_loss(x[0], x[1], reduction=reduction(n)), equal(("normal", "normal")), 2),
    "losses.l1": of(lambda x, n: F.l1_loss(x[0], x[1], reduction=reduction(n)), equal(("normal", "normal")), 2),
    "losses.huber": of(lambda x, n: F.huber_loss(x[0], x[1], delta=n[1], reduction=reduction(n)),
                       equal(("normal", "normal"), (1.0, 0.3)), 2),
    "losses.smooth_l1": of(lambda x, n: F.smooth_l1_loss(x[0], x[1], beta=n[1], reduction=reduction(n)),
                           equal(("normal", "normal"), (1.0, 0.3)), 2),
    "losses.poisson_nll": of(
        lambda x, n: F.poisson_nll_loss(x[0], x[1], log_input=n[1] != 0, full=n[2] != 0, reduction=reduction(n)),
        equal(("scale", "scale"), (1, 0), (0, 1)), 1),
    "losses.gaussian_nll": of(lambda x, n: F.gaussian_nll_loss(x[0], x[1], x[2], full=n[1] != 0, reduction=reduction(n)),
                              equal(("normal", "normal", "scale"), (0, 1), rank=2)),
    "losses.hinge_embedding": of(lambda x, n: F.hinge_embedding_loss(x[0], x[1], n[1], reduction=reduction(n)),
                                 equal(("normal", "sign"), (1.0, 0.5)), 1),
    "losses.margin_ranking": of(lambda x, n: F.margin_ranking_loss(x[0], x[1], x[2], n[1], reduction=reduction(n)),
                                equal(("normal", "normal", "sign"), (0.0, 0.5), rank=1), 2),
    "losses.cosine_embedding": of(lambda x, n: F.cosine_embedding_loss(x[0], x[1], x[2], n[1], reduction=reduction(n)),
                                  margin_rows(("normal", "normal", "sign"), (0.0, 0.3)), 2, size=1),  # 1 less the cosine
    "losses.triplet_margin": of(
        lambda x, n: F.triplet_margin_loss(*x, margin=n[1], p=n[2], swap=n[3] != 0, reduction=reduction(n)),
        margin_rows(("normal", "normal", "normal"), (1.0, 0.2), (2.0, 1.0), (0, 1))),
    "losses.multi_margin": of(
        lambda x, n: F.multi_margin_loss(x[0], x[1], int(n[2]), n[1], x[2].detach(), reduction=reduction(n)),
        classified((1.0, 0.5), (1, 2), weight=True), 1),
    "losses.soft_margin": of(lambda x, n: F.soft_margin_loss(x[0], x[1], reduction=reduction(n)), equal(("normal", "sign")), 1),
    "losses.multilabel_soft_margin": of(
        lambda x, n: F.multilabel_soft_margin_loss(x[0], x[1], x[2], reduction=reduction(n)), with_class_weights, 1),
    "losses.ctc": of(lambda x, n: F.ctc_loss(
        F.log_softmax(x[0], -1), x[1], x[2], x[3], reduction=reduction(n), zero_infinity=n[1] != 0),
        ctc_made, 1, safety=64),  # its sums are logarithms of up to 16, whose roundings are parts of them
} if torch else {}
