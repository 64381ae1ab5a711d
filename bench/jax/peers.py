#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The host benchmarks in JAX, each workload compiled whole before it is timed: what Python costs is part of it.

    peers.py OUT.json [--threads 1] [--repetitions 5] [--min-time 0.05] [--filter NAME]

Names and sizes are those of bench/*/*.bench.cpp, so the tables have them in one row; bench/run alternates the processes. Each
result is compared with float64 before it is timed, and a run ends when its result is there. JAX takes as many threads as it may
use cores. Copies and allocation are not compared: its arrays do not change, and it has no allocator to call. Ends with 4 where
JAX is not installed.
"""

import functools
import os
import sys
from pathlib import Path

try:
    import jax
    import numpy as np
    from jax import numpy as jnp
except ImportError:
    print("skipped: JAX is not installed")
    sys.exit(4)

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import exact  # noqa: E402: found beside the other benchmarks
import functions  # noqa: E402
import timing  # noqa: E402
import training  # noqa: E402

random = np.random.default_rng(1)


def numbers(*shape):
    """Of either sign, below two."""
    return (random.random(shape, np.float32) - 0.5) * 4


def compiled(function, *inputs):
    """A call that waits for its result, on the device's copies of the inputs."""
    function = jax.jit(function)
    inputs = [jnp.asarray(x) for x in inputs]
    return waiting(lambda: function(*inputs))


def waiting(run):
    return lambda: jax.block_until_ready(run())


def checked(name, run, expected, tolerance=1e-5):
    exact.require_close(run(), expected, tolerance, name)
    return run


def in_place(function, x, y):
    """Calls whose result takes the place of y, as function(x, y) gives it."""
    function, x, state = jax.jit(function, donate_argnums=1), jnp.asarray(x), [jnp.array(y)]

    def run():
        state[0] = jax.block_until_ready(function(x, state[0]))
        return state[0]
    return run


def elementwise(threads):
    of = "" if threads == 1 else f"/{threads}"
    for n in (1_000, 100_000, 10_000_000):
        inputs = [numbers(n) for _ in range(4)]
        yield f"expression/jax/{n}{of}", checked("chain", compiled(functions.chain, *inputs), exact.chain(*inputs))
    for n in (100_000, 10_000_000):
        x, y = numbers(n), numbers(n)
        checked("axpy", in_place(lambda x, y: y + 0.25 * x, x, y), np.float64(y) + 0.25 * np.float64(x))
        yield f"axpy/jax/{n}/{threads}", in_place(lambda x, y: y + 1e-9 * x, x, y)
    for n in (131_072, 10_485_760):
        x = random.random(n, np.float32)
        total = compiled(jnp.sum, x)
        checked("sum", lambda total=total, n=n: total() / n, x.mean(dtype=np.float64))
        yield f"sum/jax/{n}/{threads}", lambda total=total: total().item()


def row_programs(threads):
    x, scale, shift = numbers(1024, 1024), numbers(1024), numbers(1024)
    softmax = checked("softmax", compiled(functions.softmax, x), exact.softmax(x))
    layer_norm = checked("layer norm", compiled(functions.layer_norm, x, scale, shift), exact.layer_norm(x, scale, shift), 1e-4)
    yield f"row_softmax/jax/{threads}", softmax
    yield f"row_layer_norm/jax/{threads}", layer_norm
    if threads == 1:
        yield "softmax/jax", softmax
        yield "layer_norm/jax", layer_norm
    bias_gelu = compiled(functions.bias_gelu, x, shift)
    yield f"bias_gelu/jax/{threads}", checked("bias and gelu", bias_gelu, exact.bias_gelu(x, shift))


def products(threads):
    for n in (64, 256, 1024):
        a, b = numbers(n, n) / 2, numbers(n, n) / 2
        product = checked("product", compiled(jnp.matmul, a, b), np.float64(a) @ np.float64(b), 1e-3)
        yield f"matrix_product/jax/{n}/{threads}", product
    if threads < (os.cpu_count() or 1):
        return
    for rows, inputs, outputs in ((32, 256, 256), (1024, 64, 1024), (4096, 128, 512)):
        x, weights, bias = numbers(rows, inputs) / 4, numbers(inputs, outputs) / 4, numbers(outputs) / 4
        layer = checked("layer", compiled(functions.dense_layer, x, weights, bias),
                        np.maximum(np.float64(x) @ np.float64(weights) + bias, 0), 1e-3)
        yield f"dense_layer/jax/{rows}/{inputs}/{outputs}/{threads}", layer


def convolutions(threads):
    for channels, extent, kernel in ((64, 56, 3), (256, 14, 3), (256, 28, 1)):
        size = f"{channels}x{extent}k{kernel}/{threads}"
        x, dy = numbers(8, extent, extent, channels), numbers(8, extent, extent, channels)
        weights = numbers(kernel, kernel, channels, channels)
        y, (dx, dw) = exact.convolution(x, weights), exact.convolution_gradients(x, weights, dy)
        scale = 1e-6 * channels * kernel * kernel  # of the sums, whose terms nearly cancel
        for contender, order in (("jax", "NCHW"), ("jax_last", "NHWC")):
            image, filters = ((0, 1, 2, 3), (0, 1, 2, 3)) if order == "NHWC" else ((0, 3, 1, 2), (3, 2, 0, 1))
            forward = compiled(functools.partial(functions.convolution, order=order), x.transpose(image), weights.transpose(filters))
            with_gradients = compiled(functools.partial(functions.convolution_with_gradients, order=order),
                                      x.transpose(image), weights.transpose(filters), dy.transpose(image))
            exact.require_close(forward(), y.transpose(image), scale, size)
            for found, expected, tolerance in zip(with_gradients(), (y.transpose(image), dx.transpose(image), dw.transpose(filters)),
                                                  (scale, scale, 1e-6 * 8 * extent * extent)):
                exact.require_close(found, expected, tolerance, size)
            yield f"convolution/{contender}/{size}", forward
            yield f"convolution_with_gradients/{contender}/{size}", with_gradients


def training_steps():
    yield "tiny_step/jax", waiting(training.tiny_step(0.05))
    for rows in (1, 32, 256):
        yield f"mlp_step/jax/{rows}", waiting(training.mlp_step(rows, 0.01))


def decompositions():
    for n in (64, 512):
        a, b, plain = numbers(n, n) / 2 + n * np.eye(n, dtype=np.float32), numbers(n, 16), numbers(n, n) / 2
        symmetric = (a + a.T) / 2
        yield f"solve/jax/{n}", checked("solve", compiled(jnp.linalg.solve, a, b), np.linalg.solve(np.float64(a), np.float64(b)))
        yield f"cholesky/jax/{n}", checked("cholesky", compiled(jnp.linalg.cholesky, symmetric), np.linalg.cholesky(np.float64(symmetric)), 1e-4)
        svd = compiled(functools.partial(jnp.linalg.svd, full_matrices=False), plain)
        u, s, vh = svd()
        exact.require_close((np.float64(u) * np.float64(s)) @ np.float64(vh), np.float64(plain), 1e-4, "svd")
        yield f"svd/jax/{n}", svd


def transforms():
    for n in (1 << 10, 1 << 15, 1 << 20, 10_007):
        x = (numbers(n) + 1j * numbers(n)).astype(np.complex64)
        for name, run, reference, values in (("fft", jnp.fft.fft, np.fft.fft, x), ("rfft", jnp.fft.rfft, np.fft.rfft, x.real.copy())):
            transform = compiled(run, values)
            difference = np.abs(np.asarray(transform()) - reference(values.astype(np.complex128 if name == "fft" else np.float64)))
            exact.require_close(difference.max() / n ** 0.5, 0.0, 1e-5, name)
            yield f"{name}/jax/{n}", transform


def derivatives():
    def jacobian(x, *layers):
        return jax.jacrev(functions.tanh_network)(x, *layers)

    def gradients(weights, images, labels):
        return jax.vmap(jax.grad(functions.loss_of_one), in_axes=(None, 0, 0))(weights, images, labels)
    layers = [numbers(rows, columns) / rows ** 0.5 for rows, columns in ((64, 128), (128, 128), (128, 32))]
    x = numbers(64) / 4
    yield "jacobian/jax", checked("jacobian", compiled(jacobian, x, *layers), exact.jacobian(x, layers), 1e-4)
    weights = [numbers(rows, columns) / rows ** 0.5 for rows, columns in ((784, 256), (256, 10))]
    images, labels = numbers(64, 784), np.arange(64) * 7 % 10
    function, inputs = jax.jit(gradients), jax.device_put((weights, images, labels))
    each = waiting(lambda: function(*inputs))
    for found, expected in zip(each(), exact.gradients_of_examples(*weights, images, labels)):
        exact.require_close(found, expected, 1e-4, "gradients of each example")
    yield "per_example_gradients/jax", each


def all_workloads(threads):
    for part in (elementwise, row_programs, products, convolutions):
        yield from part(threads)
    if threads == 1:
        for part in (training_steps, decompositions, transforms, derivatives):
            yield from part()


def main():
    options = timing.options_of(__doc__.splitlines()[0])
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])  # before JAX starts its threads
    jax.config.update("jax_platforms", "cpu")
    workloads = {name: run for name, run in all_workloads(options.threads) if options.filter.search(name)}
    timing.write(options.out, timing.measure(workloads, options), f"JAX {jax.__version__}")


if __name__ == "__main__":
    main()
