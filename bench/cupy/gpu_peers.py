#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workloads of bench_gpu in CuPy, as they stand and with what is elementwise fused: gpu_peers.py OUT.json [--trial]

Names, sizes, numbers of bytes and ways of timing are those of bench/gpu/*.bench.cu; the file it writes has the same form. A
result is compared with float64 before anything is timed. Training steps are not compared, as CuPy has no gradients; that of
cross entropy is written out. Nor are products of bfloat16, which it has as an experiment. --trial runs small sizes in NumPy,
whose functions are called the same, to show that the program works. Without CuPy or a GPU it ends with 4.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[1] / folder) for folder in ("support", "gpu")]


def workloads(xp, erf, fuse):
    """By name. xp is the library of arrays; `fuse` makes one kernel of an elementwise function, or leaves it as it is."""
    @fuse
    def chain(a, b, c, d):
        return xp.tanh(a * b + c) * d - 0.5 * a

    @fuse
    def bias_gelu(x, shift):
        x = x + shift
        return 0.5 * x * (1 + erf(x * 0.5**0.5))

    @fuse
    def exponential(x, most):
        return xp.exp(x - most)

    @fuse
    def normalized(x, mean, variance, scale, shift):
        return (x - mean) / xp.sqrt(variance + 1e-5) * scale + shift

    def softmax(x):
        exponentials = exponential(x, x.max(-1, keepdims=True))
        return exponentials / exponentials.sum(-1, keepdims=True)

    def layer_norm(x, scale, shift):
        return normalized(x, x.mean(-1, keepdims=True), x.var(-1, keepdims=True), scale, shift)

    def cross_entropy(logits, labels):
        """The loss and its gradient."""
        gradient = softmax(logits)
        chosen = xp.arange(len(labels)), labels
        loss = -xp.log(gradient[chosen]).mean()
        gradient[chosen] -= 1
        gradient /= len(labels)
        return loss, gradient
    return {"gpu_chain": chain, "gpu_sum": xp.sum, "gpu_softmax": softmax, "gpu_layer_norm": layer_norm,
            "gpu_bias_gelu": bias_gelu, "gpu_cross_entropy": cross_entropy}


def by_events(cupy):
    """Nanoseconds of one run: between two events on the device, or by the host's clock."""
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()

    def measure(run, count, on_host):
        cupy.cuda.get_current_stream().synchronize()
        start = time.perf_counter_ns()
        begin.record()
        for _ in range(count):
            run()
        end.record()
        host = (time.perf_counter_ns() - start) / count
        end.synchronize()
        return host if on_host else 1e6 * cupy.cuda.get_elapsed_time(begin, end) / count
    return measure


def by_host(run, count, on_host):
    start = time.perf_counter_ns()
    for _ in range(count):
        run()
    return (time.perf_counter_ns() - start) / count


def compare(name, report, peers, sizes, empty):
    for n in sizes:
        peers.memory_bound(n)
    for size in (4096, 1 << 20):
        report.compare("gpu_allocation", size, {name: lambda: empty(size, "uint8")}, on_host=True)


def trial(out):
    import numpy
    from arrays import Peers
    from report import Report
    from scipy.special import erf

    report = Report(by_host, out, "NumPy in place of CuPy", f"NumPy {numpy.__version__}")
    functions = workloads(numpy, erf, lambda function: function)
    compare("numpy", report, Peers(report, {"numpy": functions}, numpy.asarray, numpy.asarray), (1 << 14,), numpy.empty)
    return 1 if report.has_failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--trial", action="store_true", help="small sizes in NumPy: its times say nothing")
    options = parser.parse_args()
    if options.trial:
        return trial(options.out)
    try:
        import cupy
        from arrays import Peers
        from cupyx.scipy.special import erf
        from report import Report
    except ImportError:
        print("skipped: CuPy is not installed")
        return 4
    if not cupy.cuda.is_available():
        print("skipped: CuPy finds no GPU")
        return 4
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    report = Report(by_events(cupy), options.out, name, f"CuPy {cupy.__version__}")
    contenders = {"cupy": workloads(cupy, erf, lambda function: function), "cupy_fuse": workloads(cupy, erf, cupy.fuse)}
    compare("cupy", report, Peers(report, contenders, cupy.asarray, cupy.asnumpy), (1 << 20, 1 << 27), cupy.empty)
    return 1 if report.has_failed else 0


if __name__ == "__main__":
    sys.exit(main())
