#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workloads of bench_gpu in PyTorch, eager and compiled: peers.py OUT.json [--only PART]

Names, sizes, numbers of bytes and ways of timing are those of bench/gpu/*.bench.cu; the file it writes has the same form.
A contender is compared with float64 on some rows before it is timed. Without PyTorch or a GPU it ends with 4.
"""

import argparse
import sys
import time

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(4)

from models import gpt2, resnet50
from report import Report


class Clock:
    """Nanoseconds of one run: between two events on the device, or by the host's clock."""

    def __init__(self):
        self.begin = torch.cuda.Event(enable_timing=True)
        self.end = torch.cuda.Event(enable_timing=True)

    def __call__(self, run, count, on_host):
        torch.cuda.synchronize()
        start = time.perf_counter_ns()
        self.begin.record()
        for _ in range(count):
            run()
        self.end.record()
        host = (time.perf_counter_ns() - start) / count
        self.end.synchronize()
        return host if on_host else 1e6 * self.begin.elapsed_time(self.end) / count


def require_close(found, expected, tolerance):
    error = ((found.double() - expected).abs() / (1 + expected.abs())).max().item()
    if not error <= tolerance:
        raise ValueError(f"the result is wrong by {error}")


def both(report, workload, size, function, *inputs, check=None, tolerance=1e-5):
    """Eager and compiled; `check(result)` gives (found, expected in float64)."""
    compiled = torch.compile(function, dynamic=False)
    compare(report, workload, size, {"pytorch": lambda: function(*inputs), "torch_compile": lambda: compiled(*inputs)},
            check, tolerance)


def compare(report, workload, size, contenders, check=None, tolerance=1e-5):
    """Times the contenders whose results are right; the others are recorded as wrong."""
    right = {}
    for name, run in contenders.items():
        with report.guard(f"{workload}/{name}/{size}"):
            if check is not None:
                require_close(*check(run()), tolerance)
            right[name] = run
    report.compare(workload, size, right)


def memory_bound(report):
    for n in (1 << 20, 1 << 27):
        a, b, c, d = (torch.rand(n, device="cuda") for _ in range(4))
        part = slice(0, 100_000)

        def chain(a, b, c, d):
            return torch.tanh(a * b + c) * d - 0.5 * a
        both(report, "gpu_chain", n, chain, a, b, c, d, check=lambda y: (
            y[part], torch.tanh(a[part].double() * b[part].double() + c[part].double()) * d[part].double() - 0.5 * a[part].double()))
        both(report, "gpu_sum", n, torch.sum, a, check=lambda y: (y, a.double().sum()))
        del a, b, c, d

        x = torch.randn(n // 1024, 1024, device="cuda")
        scale, shift = torch.rand(1024, device="cuda"), torch.rand(1024, device="cuda")
        top = slice(0, 97)
        xd = x[top].double()
        both(report, "gpu_softmax", n, lambda x: torch.softmax(x, -1), x,
             check=lambda y: (y[top], torch.softmax(xd, -1)))
        both(report, "gpu_layer_norm", n, lambda x, scale, shift: F.layer_norm(x, (1024,), scale, shift), x, scale, shift,
             check=lambda y: (y[top], F.layer_norm(xd, (1024,), scale.double(), shift.double())), tolerance=1e-4)
        both(report, "gpu_bias_gelu", n, lambda x, shift: F.gelu(x + shift), x, shift,
             check=lambda y: (y[top], F.gelu(xd + shift.double())))
        del x

        count = n // 1000
        logits = torch.randn(count, 1000, device="cuda", requires_grad=True)
        labels = torch.arange(count, device="cuda") * 7919 % 1000

        def loss_and_gradient(logits, labels):
            return torch.autograd.grad(F.cross_entropy(logits, labels), logits)[0]

        def gradient_of(result):
            rows = logits[:97].detach().double()
            expected = torch.softmax(rows, -1)
            expected[torch.arange(97), labels[:97]] -= 1
            return result[:97] * count, expected
        compiled_loss = torch.compile(lambda logits, labels: F.cross_entropy(logits, labels), dynamic=False)
        contenders = {"pytorch": lambda: loss_and_gradient(logits, labels),
                      "torch_compile": lambda: torch.autograd.grad(compiled_loss(logits, labels), logits)[0]}
        compare(report, "gpu_cross_entropy", n, contenders, gradient_of, 1e-4)
        del logits


def products(report):
    for n in (1024, 8192):
        a = torch.randn(n, n, device="cuda", dtype=torch.bfloat16)
        b = torch.randn(n, n, device="cuda", dtype=torch.bfloat16) / n**0.5
        bias = torch.randn(n, device="cuda", dtype=torch.bfloat16)
        rows = slice(0, 8)
        expected = a[rows].double() @ b.double()
        both(report, "gpu_matmul_bf16", n, torch.matmul, a, b, check=lambda y: (y[rows], expected), tolerance=0.02)
        both(report, "gpu_matmul_bias_gelu_bf16", n, lambda a, b, bias: F.gelu(a @ b + bias), a, b, bias,
             check=lambda y: (y[rows], F.gelu(expected + bias.double())), tolerance=0.02)
    n = 4096
    a, b = torch.randn(n, n, device="cuda"), torch.randn(n, n, device="cuda")
    expected = a[:8].double() @ b.double()
    both(report, "gpu_matmul_f32", n, torch.matmul, a, b, check=lambda y: (y[:8], expected), tolerance=1e-3)


def convolution(report):
    """Channels last, as bench/gpu/convolution.bench.cu."""
    for channels, extent, kernel in ((64, 56, 3), (256, 14, 3), (256, 28, 1)):
        size = f"{channels}x{extent}k{kernel}"

        def images():
            x = torch.randn(256, channels, extent, extent, device="cuda", dtype=torch.bfloat16)
            return x.to(memory_format=torch.channels_last)
        x, g = images().requires_grad_(), images()
        w = torch.randn(channels, channels, kernel, kernel, device="cuda", dtype=torch.bfloat16)
        w = w.to(memory_format=torch.channels_last).requires_grad_()

        def forward(x, w):
            return F.conv2d(x, w, padding=kernel // 2)

        def gradients(forward):
            return torch.autograd.grad(forward(x, w), (x, w), g)
        first = F.conv2d(x[:1].detach().double(), w.detach().double(), padding=kernel // 2)
        terms = (channels * kernel * kernel) ** 0.5
        with torch.no_grad():
            both(report, "gpu_convolution_bf16", size, forward, x, w,
                 check=lambda y: (y[:1] / terms, first / terms), tolerance=0.02)
        compiled = torch.compile(forward, dynamic=False)
        compare(report, "gpu_convolution_gradients_bf16", size,
                {"pytorch": lambda: gradients(forward), "torch_compile": lambda: gradients(compiled)})


def attention(report):
    """Causal, 8 x 16 heads of width 64, as bench/gpu/attention.bench.cu."""
    tokens = 2048
    q, k, v, g = (torch.randn(8, 16, tokens, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(4))

    def forward(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    def gradients(forward):
        return torch.autograd.grad(forward(q, k, v), (q, k, v), g)
    last = [x[-1:, -1:].detach().double() for x in (q, k, v)]
    scores = last[0] @ last[1].transpose(-1, -2) / 8
    scores = scores.masked_fill(torch.ones(tokens, tokens, device="cuda", dtype=torch.bool).triu(1), float("-inf"))
    expected = torch.softmax(scores, -1) @ last[2]
    with torch.no_grad():
        both(report, "gpu_attention_bf16", tokens, forward, q, k, v, check=lambda y: (y[-1:, -1:], expected), tolerance=0.02)
    compiled = torch.compile(forward, dynamic=False)
    compare(report, "gpu_attention_gradients_bf16", tokens,
            {"pytorch": lambda: gradients(forward), "torch_compile": lambda: gradients(compiled)})


def step_of(report, workload, size, model, loss, x, y):
    """A whole step: eager, and compiled with a captured graph."""
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(compute):
        optimiser.zero_grad(set_to_none=True)
        compute(x, y).backward()
        optimiser.step()

    def plain(x, y):
        return loss(model(x), y)
    compiled = torch.compile(plain, mode="reduce-overhead", dynamic=False)
    captured = torch.cuda.CUDAGraph()
    for _ in range(3):
        step(plain)
    torch.cuda.synchronize()
    with torch.cuda.graph(captured):
        step(plain)
    report.compare(workload, size, {"pytorch": lambda: step(plain), "torch_compile": lambda: step(compiled),
                                    "pytorch_graph": captured.replay})


def steps(report):
    torch.manual_seed(1)
    x = torch.rand(32, 784, device="cuda")
    labels = torch.arange(32, device="cuda") * 7 % 10
    mlp = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(),
                              torch.nn.Linear(256, 10)).cuda()
    step_of(report, "gpu_mlp_step", 32, mlp, F.cross_entropy, x, labels)
    tiny = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 8), torch.nn.Tanh(),
                               torch.nn.Linear(8, 1)).cuda()
    step_of(report, "gpu_tiny_step", 4, tiny, F.mse_loss, torch.rand(4, 2, device="cuda"), torch.rand(4, 1, device="cuda"))


def allocation(report):
    for size in (4096, 1 << 20):
        report.compare("gpu_allocation", size, {"pytorch": lambda: torch.empty(size, dtype=torch.uint8, device="cuda")}, on_host=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--only", help="a group of workloads, as bench_gpu --list names them")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("skipped: this machine has no GPU")
        sys.exit(4)
    torch.backends.cuda.matmul.allow_tf32 = False
    report = Report(Clock(), options.out, torch.cuda.get_device_name(0), f"PyTorch {torch.__version__}")
    for part in (memory_bound, products, steps, resnet50, gpt2, attention, convolution, allocation):
        if options.only in (None, part.__name__):
            with report.guard(part.__name__):
                part(report)
    sys.exit(1 if report.has_failed else 0)


if __name__ == "__main__":
    main()
