# SPDX-License-Identifier: Apache-2.0
"""torch.nn.functional.ctc_loss of log_softmax(logits): losses, and gradients by the logits. Lengths of 0, repeated labels,
a target without an alignment, every reduction."""

import torch
from torch.nn import functional as F


def make(save):
    logits = torch.randn(7, 5, 4)
    targets = torch.tensor([[1, 2, 3], [2, 2, 0], [3, 3, 3], [1, 1, 1], [2, 0, 0]])
    inputs, lengths = torch.tensor([7, 5, 6, 4, 3]), torch.tensor([3, 2, 3, 3, 0])
    weights = torch.randn(5)
    for name, tensor in [("logits", logits), ("targets", targets), ("inputs", inputs), ("lengths", lengths),
                         ("weights", weights)]:
        save(name, tensor)

    def case(name, blank, rows, **options):
        rows = torch.tensor(rows)
        x = logits[:, rows].clone().requires_grad_()
        labels = (targets[rows] + blank) % 4 if blank else targets[rows]
        losses = F.ctc_loss(F.log_softmax(x, 2), labels, inputs[rows], lengths[rows], blank=blank, **options)
        save(f"{name}_loss", losses)
        # An infinite loss has no gradient in PyTorch, so such rows stand alone.
        if losses.isfinite().all():
            total = (losses * weights[rows]).sum() if losses.dim() else losses
            save(f"{name}_slope", torch.autograd.grad(total, x)[0])

    fit = [0, 1, 2, 4]
    case("mean", 0, fit)
    case("sum", 0, fit, reduction="sum")
    case("none", 0, fit, reduction="none")
    case("last_is_blank", 3, [0, 1], reduction="none")
    case("infinite", 0, [0, 3], reduction="none")
    case("zero_infinity", 0, [0, 3, 1], reduction="none", zero_infinity=True)

    line = torch.cat([targets[row, :lengths[row]] for row in fit])
    save("line", line)
    for name, reduction in (("line_mean", "mean"), ("line_none", "none")):
        x = logits[:, fit].clone().requires_grad_()
        losses = F.ctc_loss(F.log_softmax(x, 2), line, inputs[fit], lengths[fit], reduction=reduction)
        save(f"{name}_loss", losses)
        save(f"{name}_slope", torch.autograd.grad((losses * weights[fit]).sum() if losses.dim() else losses, x)[0])
