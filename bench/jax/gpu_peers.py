#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workloads of bench_gpu in JAX, each compiled whole: gpu_peers.py OUT.json [--trial]

Names, sizes and numbers of bytes are those of bench/gpu/*.bench.cu; the file it writes has the same form. Many runs are queued
before the last is waited for, and a result is compared with float64 before anything is timed. JAX has no allocator to call, so
allocation is not compared. --trial runs small sizes on whatever device there is, to show that the program works. Without JAX or
a GPU it ends with 4.
"""

import argparse
import sys
import time
from pathlib import Path

try:
    import jax
    import numpy as np
    from jax import numpy as jnp
except ImportError:
    print("skipped: JAX is not installed")
    sys.exit(4)

sys.path += [str(Path(__file__).resolve().parents[1] / folder) for folder in ("support", "gpu")]
import exact  # noqa: E402: found beside the other benchmarks
import functions  # noqa: E402
import training  # noqa: E402
from arrays import Peers  # noqa: E402
from report import Report  # noqa: E402


def measure(run, count, on_host):
    """Nanoseconds of one run. A device runs in the order of the calls, so the last result is there last."""
    start = time.perf_counter_ns()
    for _ in range(count):
        result = run()
    jax.block_until_ready(result)
    return (time.perf_counter_ns() - start) / count


def products(peers, n):
    random = np.random.default_rng(1)
    a, b, bias = (jnp.asarray(random.standard_normal(shape, np.float32) / scale, jnp.bfloat16)
                  for shape, scale in (((n, n), 1), ((n, n), n**0.5), (n, 1)))
    rows = slice(0, 8)
    expected = np.asarray(a[rows], np.float64) @ np.asarray(b, np.float64)
    peers.compare("gpu_matmul_bf16", n, [a, b], lambda y: (y[rows], expected), 0.02)
    peers.compare("gpu_matmul_bias_gelu_bf16", n, [a, b, bias],
                  lambda y: (y[rows], exact.bias_gelu(expected, np.asarray(bias, np.float64))), 0.02)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--trial", action="store_true", help="small sizes on any device: its times say nothing")
    options = parser.parse_args()
    if not options.trial and jax.default_backend() != "gpu":
        print("skipped: JAX finds no GPU")
        sys.exit(4)
    workloads = {"gpu_chain": functions.chain, "gpu_sum": jnp.sum, "gpu_softmax": functions.softmax,
                 "gpu_layer_norm": functions.layer_norm, "gpu_bias_gelu": functions.bias_gelu,
                 "gpu_cross_entropy": jax.value_and_grad(functions.cross_entropy), "gpu_matmul_bf16": jnp.matmul,
                 "gpu_matmul_bias_gelu_bf16": functions.matmul_bias_gelu}
    report = Report(measure, options.out, jax.devices()[0].device_kind, f"JAX {jax.__version__}")
    peers = Peers(report, {"jax": {name: jax.jit(function) for name, function in workloads.items()}}, jnp.asarray, np.asarray)
    for n in (1 << 14,) if options.trial else (1 << 20, 1 << 27):
        peers.memory_bound(n)
    for n in (64,) if options.trial else (1024, 8192):
        products(peers, n)
    report.compare("gpu_mlp_step", 32, {"jax": training.mlp_step(32, 0.01)})
    report.compare("gpu_tiny_step", 4, {"jax": training.tiny_step(0.01)})
    sys.exit(1 if report.has_failed else 0)


if __name__ == "__main__":
    main()
