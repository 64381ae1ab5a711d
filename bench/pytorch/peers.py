#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The host benchmarks in PyTorch, eager and as its users write them: what Python costs is part of it.

    peers.py OUT.json [--threads 1] [--repetitions 5] [--min-time 0.05] [--filter NAME]

Names and sizes are those of bench/*/*.bench.cpp, so the tables have them in one row; bench/run alternates the processes. Each
result is compared with float64 before it is timed. One number of threads holds for a process, because changing it costs. Ends
with 4 where PyTorch is not installed.
"""

import copy
import os
import sys
from pathlib import Path

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(4)

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import timing  # noqa: E402: found beside the other benchmarks


def require_close(found, expected, tolerance, what):
    error = ((found.double() - expected).abs() / expected.abs().clamp(min=1)).max().item()
    if not error <= tolerance:
        sys.exit(f"{what}: the result is wrong by {error}")


def checked(name, run, expected, tolerance=1e-5):
    require_close(run(), expected, tolerance, name)
    return run


def elementwise(threads):
    of = "" if threads == 1 else f"/{threads}"
    for n in (1_000, 100_000, 10_000_000):
        a, b, c, d = (torch.rand(n) * 4 - 2 for _ in range(4))

        def chain(a=a, b=b, c=c, d=d):
            return torch.tanh(a * b + c) * d - 0.5 * a
        yield f"expression/pytorch/{n}{of}", checked("chain", chain, chain(*(x.double() for x in (a, b, c, d))))
    for n in (100_000, 10_000_000):
        x, y = torch.rand(n), torch.rand(n)
        checked("axpy", lambda x=x, y=y: y.clone().add_(x, alpha=0.25), y.double() + 0.25 * x.double())
        yield f"axpy/pytorch/{n}/{threads}", lambda x=x, y=y: y.add_(x, alpha=1e-9)
    for n in (131_072, 10_485_760):
        x = torch.rand(n)
        checked("sum", lambda x=x: x.sum() / len(x), x.double().mean())
        yield f"sum/pytorch/{n}/{threads}", lambda x=x: x.sum().item()


def row_programs(threads):
    x, y = torch.rand(1024, 1024) * 4 - 2, torch.empty(1024, 1024)
    scale, shift = torch.rand(1024) * 4 - 2, torch.rand(1024) * 4 - 2
    xd, scaled, shiftd = x.double(), scale.double(), shift.double()

    def softmax():
        return torch.softmax(x, 1, out=y)

    def layer_norm():
        return F.layer_norm(x, (1024,), scale, shift)
    checked("softmax", softmax, torch.softmax(xd, 1))
    checked("layer norm", layer_norm, F.layer_norm(xd, (1024,), scaled, shiftd), 1e-4)
    yield f"row_softmax/pytorch/{threads}", softmax
    yield f"row_layer_norm/pytorch/{threads}", layer_norm
    if threads == 1:
        yield "softmax/pytorch", softmax
        yield "layer_norm/pytorch", layer_norm
    yield f"bias_gelu/pytorch/{threads}", checked("bias and gelu", lambda: F.gelu(x + shift), F.gelu(xd + shiftd))


def products(threads):
    for n in (64, 256, 1024):
        a, b, c = torch.rand(n, n) * 2 - 1, torch.rand(n, n) * 2 - 1, torch.empty(n, n)
        product = checked("product", lambda a=a, b=b, c=c: torch.mm(a, b, out=c), a.double() @ b.double(), 1e-3)
        yield f"matrix_product/pytorch/{n}/{threads}", product
    if threads < (os.cpu_count() or 1):
        return
    for rows, inputs, outputs in ((32, 256, 256), (1024, 64, 1024), (4096, 128, 512)):
        x, w, bias = torch.rand(rows, inputs) - 0.5, torch.rand(outputs, inputs) - 0.5, torch.rand(outputs) - 0.5
        layer = checked("layer", lambda x=x, w=w, bias=bias: torch.relu(F.linear(x, w, bias)),
                        torch.relu(F.linear(x.double(), w.double(), bias.double())), 1e-3)
        yield f"dense_layer/pytorch/{rows}/{inputs}/{outputs}/{threads}", layer


def convolutions(threads):
    for channels, extent, kernel in ((64, 56, 3), (256, 14, 3), (256, 28, 1)):
        size = f"{channels}x{extent}k{kernel}/{threads}"
        for contender, order in (("pytorch", torch.contiguous_format), ("pytorch_last", torch.channels_last)):
            x = (torch.rand(8, channels, extent, extent) * 4 - 2).to(memory_format=order).requires_grad_()
            w = (torch.rand(channels, channels, kernel, kernel) * 4 - 2).to(memory_format=order).requires_grad_()
            dy = (torch.rand(8, channels, extent, extent) * 4 - 2).to(memory_format=order)

            def forward(x=x, w=w, kernel=kernel):
                with torch.no_grad():
                    return F.conv2d(x, w, padding=kernel // 2)

            def with_gradients(x=x, w=w, dy=dy, kernel=kernel):
                return torch.autograd.grad(F.conv2d(x, w, padding=kernel // 2), (x, w), dy)
            exact = [value.detach().double().requires_grad_() for value in (x, w)]
            scale = channels * kernel * kernel  # of the sums, whose terms nearly cancel
            y = F.conv2d(*exact, padding=kernel // 2)
            require_close(forward(), y.detach(), 1e-6 * scale, size)
            gradients = torch.autograd.grad(y, exact, dy.double())
            require_close(with_gradients()[0], gradients[0], 1e-6 * scale, size)
            require_close(with_gradients()[1], gradients[1], 1e-6 * 8 * extent * extent, size)
            yield f"convolution/{contender}/{size}", forward
            yield f"convolution_with_gradients/{contender}/{size}", with_gradients


def decompositions():
    for n in (64, 512):
        a = torch.rand(n, n) * 2 - 1 + n * torch.eye(n)
        b, symmetric, plain = torch.rand(n, 16), (a + a.T) / 2, torch.rand(n, n) * 2 - 1
        yield f"solve/pytorch/{n}", checked("solve", lambda a=a, b=b: torch.linalg.solve(a, b), torch.linalg.solve(a.double(), b.double()))
        yield f"cholesky/pytorch/{n}", checked("cholesky", lambda s=symmetric: torch.linalg.cholesky(s),
                                               torch.linalg.cholesky(symmetric.double()), 1e-4)
        u, s, vh = torch.linalg.svd(plain, full_matrices=False)
        require_close((u * s) @ vh, plain.double(), 1e-4, "svd")
        yield f"svd/pytorch/{n}", lambda plain=plain: torch.linalg.svd(plain, full_matrices=False)


def transforms():
    for n in (1 << 10, 1 << 15, 1 << 20, 10_007):
        x = torch.complex(torch.rand(n) * 2 - 1, torch.rand(n) * 2 - 1)
        for name, run, values in (("fft", torch.fft.fft, x), ("rfft", torch.fft.rfft, x.real.contiguous())):
            exact = run(values.to(torch.complex128 if values.is_complex() else torch.float64))
            error = (run(values).to(torch.complex128) - exact).abs().max().item() / n ** 0.5
            if not error <= 1e-5:
                sys.exit(f"{name}: the result is wrong by {error}")
            yield f"{name}/pytorch/{n}", lambda run=run, values=values: run(values)


def derivatives():
    def network(x, first, second, third):
        return torch.tanh(torch.tanh(x @ first) @ second) @ third

    def loss(weights, image, label):
        hidden = torch.relu(image @ weights[0])
        return F.cross_entropy((hidden @ weights[1]).unsqueeze(0), label.unsqueeze(0))
    layers = [(torch.rand(rows, columns) - 0.5) * 4 / rows ** 0.5 for rows, columns in ((64, 128), (128, 128), (128, 32))]
    x = torch.rand(64) - 0.5
    jacobian = torch.func.jacrev(network)
    exact = jacobian(*(value.double() for value in (x, *layers)))
    yield "jacobian/pytorch", checked("jacobian", lambda: jacobian(x, *layers), exact, 1e-4)
    weights = tuple((torch.rand(rows, columns) - 0.5) * 4 / rows ** 0.5 for rows, columns in ((784, 256), (256, 10)))
    images, labels = torch.rand(64, 784) * 4 - 2, torch.arange(64) * 7 % 10
    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))
    exact = each(tuple(w.double() for w in weights), images.double(), labels)
    for found, expected in zip(each(weights, images, labels), exact):
        require_close(found, expected, 1e-4, "gradients of each example")
    yield "per_example_gradients/pytorch", lambda: each(weights, images, labels)


def copies():
    for size in (1 << 16, 1 << 20, 1 << 26):
        x, y = torch.rand(size // 4), torch.zeros(size // 4)
        yield f"copy/pytorch/{size}", checked("copy", lambda x=x, y=y: y.copy_(x), x.double(), 0)
    for n in (256, 1024, 4096):
        x, y = torch.rand(n, n), torch.zeros(n, n)
        yield f"copy_transposed/pytorch/{n}", checked("transposed", lambda x=x, y=y: y.copy_(x.T), x.T.double(), 0)
    for size in (4096, 1 << 20):
        yield f"allocation/pytorch/{size}", lambda size=size: torch.empty(size, dtype=torch.uint8)


def training_step(model, loss, rate, x, target):
    """A step of SGD; that of a copy in float64 leaves the same weights after some."""
    def step_of(model, x, target):
        optimiser = torch.optim.SGD(model.parameters(), lr=rate)

        def step():
            optimiser.zero_grad(set_to_none=True)
            loss(model(x), target).backward()
            optimiser.step()
        return step
    ours, exact = copy.deepcopy(model), copy.deepcopy(model).double()
    steps = [step_of(ours, x, target),
             step_of(exact, x.double(), target.double() if target.is_floating_point() else target)]
    for _ in range(5):
        for step in steps:
            step()
    for found, expected in zip(ours.parameters(), exact.parameters()):
        require_close(found.detach(), expected.detach(), 1e-4, "weights after five steps")
    return step_of(model, x, target)


def training_steps():
    tiny = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
    yield "tiny_step/pytorch", training_step(tiny, F.mse_loss, 0.05, torch.rand(4, 2), torch.rand(4, 1))
    for rows in (1, 32, 256):
        mlp = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
        labels = torch.arange(rows) * 7 % 10
        yield f"mlp_step/pytorch/{rows}", training_step(mlp, F.cross_entropy, 0.01, torch.rand(rows, 784) * 2 - 1, labels)


def all_workloads(threads):
    for part in (elementwise, row_programs, products, convolutions):
        yield from part(threads)
    if threads == 1:
        for part in (copies, training_steps, decompositions, transforms, derivatives):
            yield from part()


def main():
    options = timing.options_of(__doc__.splitlines()[0])
    torch.manual_seed(1)
    torch.set_num_threads(options.threads)
    workloads = {name: run for name, run in all_workloads(options.threads) if options.filter.search(name)}
    timing.write(options.out, timing.measure(workloads, options), f"PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
