# SPDX-License-Identifier: Apache-2.0
"""The workloads of bench/gpu/memory_bound.bench.cu for libraries in Python that take NumPy's arrays: the same names and sizes,
and what float64 makes of the first rows."""

import functools

import exact
import numpy as np


class Peers:
    """The contenders of a library, {name: {workload: function}}: `place` gives the device's copy of an array, `fetch` NumPy's."""

    def __init__(self, report, contenders, place, fetch):
        self.report = report
        self.contenders = contenders
        self.place = place
        self.fetch = fetch

    def compare(self, workload, size, inputs, check, tolerance=1e-5):
        """Times what has the workload. check(result) gives a part of what was found, and what float64 makes of that part."""
        inputs = [self.place(x) for x in inputs]
        runs = {}
        for name, functions in self.contenders.items():
            if workload not in functions:
                continue
            with self.report.guard(f"{workload}/{name}/{size}"):
                run = functools.partial(functions[workload], *inputs)
                found, expected = check(run())
                exact.require_close(self.fetch(found), expected, tolerance, "float64")
                runs[name] = run
        self.report.compare(workload, size, runs)

    def memory_bound(self, n):
        """Chains, sums and row programs of about n elements. That of cross entropy gives the loss and its gradient."""
        random = np.random.default_rng(1)
        part, top = slice(0, 100_000), slice(0, 97)
        inputs = [random.random(n, np.float32) for _ in range(4)]
        self.compare("gpu_chain", n, inputs, lambda y: (y[part], exact.chain(*(x[part] for x in inputs))))
        self.compare("gpu_sum", n, inputs[:1], lambda y: (y, inputs[0].sum(dtype=np.float64)))
        del inputs

        x = random.standard_normal((n // 1024, 1024), np.float32)
        scale, shift = random.random(1024, np.float32), random.random(1024, np.float32)
        self.compare("gpu_softmax", n, [x], lambda y: (y[top], exact.softmax(x[top])))
        self.compare("gpu_layer_norm", n, [x, scale, shift], lambda y: (y[top], exact.layer_norm(x[top], scale, shift)), 1e-4)
        self.compare("gpu_bias_gelu", n, [x, shift], lambda y: (y[top], exact.bias_gelu(x[top], shift)))
        del x

        count = n // 1000
        logits, labels = random.standard_normal((count, 1000), np.float32), np.arange(count) * 7919 % 1000
        expected = exact.cross_entropy_gradient(logits[top], labels[top]) * len(labels[top])
        self.compare("gpu_cross_entropy", n, [logits, labels], lambda result: (result[1][top] * count, expected), 1e-4)
