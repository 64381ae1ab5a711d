# SPDX-License-Identifier: Apache-2.0
"""Which share of a GPU's limits ("speed of light") workloads, training steps and their nodes reach.

The limits are those that the same run measured: the fastest copy on the device and the fastest matrix product of a type. Beside
them stand the figures of the card's maker, by its name. The work of a workload is the bytes of its operands and results, each
moved once, and the operations of its formulas; that of a node is what twill's plan counts. A step's limit is the sum of its
nodes' limits: no schedule of the same nodes is faster.
"""

import json
import statistics
from pathlib import Path
from typing import NamedTuple

# Of the makers' data sheets, dense: bytes a second, operations a second by type.
MAKERS = {
    "H200": (4.8e12, {"bfloat16": 989e12, "float16": 989e12, "float32": 67e12}),
    "H100 PCIe": (2.0e12, {"bfloat16": 756e12, "float16": 756e12, "float32": 51e12}),
    "H100": (3.35e12, {"bfloat16": 989e12, "float16": 989e12, "float32": 67e12}),
    "A100": (2.04e12, {"bfloat16": 312e12, "float16": 312e12, "float32": 19.5e12}),
}
PRODUCTS = {"gpu_matmul_bf16": "bfloat16", "gpu_matmul_f32": "float32"}
COPIED = {"gpu_chain": 20, "gpu_sum": 4, "gpu_softmax": 8, "gpu_layer_norm": 8, "gpu_bias_gelu": 8, "gpu_cross_entropy": 8}
MOST_NODES = 20


class Work(NamedTuple):
    bytes: float
    operations: float
    dtype: str


def convolution(passes):
    def work(size):
        channels, rest = size.split("x")
        extent, kernel = map(int, rest.split("k"))
        pixels, channels = 256 * extent * extent, int(channels)
        return Work(4 * pixels * channels * passes, 2 * pixels * channels * channels * kernel * kernel * passes, "bfloat16")
    return work


def attention(products):
    """Causal, 8 x 16 heads of width 64: so many products of queries and keys, of which a half is needed."""
    def work(size):
        tokens = int(size)
        return Work(2 * 4 * 128 * tokens * 64, products * 128 * tokens * tokens * 64, "bfloat16")
    return work


WORK = {name: (lambda size, each=each: Work(each * int(size), 0, "float32")) for name, each in COPIED.items()} | {
    "gpu_matmul_bf16": lambda size: Work(6 * int(size) ** 2, 2 * int(size) ** 3, "bfloat16"),
    "gpu_matmul_bias_gelu_bf16": lambda size: Work(6 * int(size) ** 2, 2 * int(size) ** 3, "bfloat16"),
    "gpu_matmul_f32": lambda size: Work(12 * int(size) ** 2, 2 * int(size) ** 3, "float32"),
    "gpu_convolution_bf16": convolution(1),
    "gpu_convolution_gradients_bf16": convolution(3),
    "gpu_attention_bf16": attention(2),
    "gpu_attention_gradients_bf16": attention(7),
}


class Limits(NamedTuple):
    bytes_per_s: float
    operations_per_s: dict

    def seconds(self, moved, operations, dtype):
        """The least that the work takes, 0 where no limit is known, and which of them binds."""
        rate = self.operations_per_s.get(dtype, 0)
        moving = moved / self.bytes_per_s if self.bytes_per_s else 0
        computing = operations / rate if rate else 0
        if computing > moving:
            return computing, "arithmetic"
        return moving, "bandwidth" if moving > 0 else "–"


class Explained(NamedTuple):
    """What files of benchmarks on a GPU tell beside times."""

    steps: dict  # {"workload/size": {"peak_bytes": ..., "nodes": [...]}}, traced by twill
    peak_bytes: dict  # {"workload/contender/size": bytes} of the others
    failures: dict  # {"workload/contender/size": message}


def read(paths):
    """Takes what several files tell together; bench.json is one of them."""
    explained = Explained({}, {}, {})
    for path in paths:
        content = json.loads(Path(path).read_text())
        for name, part in explained._asdict().items():
            part.update(content.get(name, {}))
        explained.failures.update((run["name"], run.get("error_message", "failed"))
                                  for run in content.get("benchmarks", []) if run.get("error_occurred"))
    return explained


def measured(samples):
    """The limits that a run measured."""
    copies = [COPIED[workload] * int(size) / (1e-9 * statistics.median(times)) for workload in COPIED
              for size, times in samples.get(workload, {}).get("reference", {}).items()]
    rates = {dtype: max((2 * int(size) ** 3 / (1e-9 * statistics.median(times)) for by_size in samples.get(workload, {}).values()
                         for size, times in by_size.items()), default=0) for workload, dtype in PRODUCTS.items()}
    return Limits(max(copies, default=0), rates)


def of_maker(contexts):
    """The limits in the data sheet of the card that the contexts name."""
    names = " ".join(context.get("machine", "") for context in contexts)
    return next((Limits(*limits) for card, limits in MAKERS.items() if all(word in names for word in card.split())), None)


def percent(seconds, time_ns):
    return f"{100 * seconds / (1e-9 * time_ns):.0f}%" if seconds > 0 and time_ns > 0 else "–"


def workloads(samples, limits, maker):
    """A line for each workload and size of twill's."""
    lines = ["### speed of light", "", "| workload | size | bound by | of what was measured | of the maker's figures |", "|---|---|---|---|---|"]
    for workload, work in WORK.items():
        for size, times in samples.get(workload, {}).get("twill", {}).items():
            needed, bound = limits.seconds(*work(size))
            best = maker.seconds(*work(size))[0] if maker else 0
            time = statistics.median(times)
            lines.append(f"| {workload} | {size} | {bound} | {percent(needed, time)} | {percent(best, time)} |")
    return lines if len(lines) > 4 else []


def peaks_of(workload, size, own, peaks):
    """The peak of a step's memory beside those of the peers."""
    parts = [f"twill {1e-6 * own:.0f} MB"]
    for name, other in sorted(peaks.items()):
        of, contender, of_size = name.split("/", 2)
        if (of, of_size) == (workload, size):
            parts.append(f"{contender} {1e-6 * other:.0f} MB ({own / other:.2f}x)")
    return ", ".join(parts)


def step(name, explained, samples, limits, maker):
    """The nodes of a step, the most expensive first, with its whole."""
    workload, size = name.split("/", 1)
    own = explained.steps[name]
    nodes = own["nodes"]
    times = samples.get(workload, {}).get("twill", {}).get(size)
    traced = sum(node["ns"] for node in nodes)
    needed = [limits.seconds(node["bytes"], node["flops"], node["dtype"]) for node in nodes]
    best = [maker.seconds(node["bytes"], node["flops"], node["dtype"])[0] if maker else 0 for node in nodes]
    lines = [f"### nodes of {name}", "", f"Peak memory: {peaks_of(workload, size, own['peak_bytes'], explained.peak_bytes)}.", "",
             "Times of nodes are those of a traced run, launch by launch; the last line is the step as it was timed.", "",
             "| operation | layer | type | launches | time | of all | bound by | of what was measured | of the maker's figures |",
             "|---|---|---|---|---|---|---|---|---|"]
    for node, (seconds, bound), least in list(zip(nodes, needed, best))[:MOST_NODES]:
        lines.append(f"| {node['operation']} | {node['layer']} | {node['dtype']} | {node['launches']} | {1e-3 * node['ns']:.1f} µs "
                     f"| {100 * node['ns'] / traced:.1f}% | {bound} | {percent(seconds, node['ns'])} | {percent(least, node['ns'])} |")
    if len(nodes) > MOST_NODES:
        lines.append(f"| {len(nodes) - MOST_NODES} others | | | | {1e-3 * sum(node['ns'] for node in nodes[MOST_NODES:]):.1f} µs | | | | |")
    if times:
        time, whole, least = statistics.median(times), sum(seconds for seconds, _ in needed), sum(best)
        lines.append(f"| **step** | | | | {1e-3 * time:.1f} µs | | | {percent(whole, time)} | {percent(least, time)} |")
    return lines


def document(samples, contexts, explained):
    """All of it in Markdown; what failed comes first."""
    limits, maker = measured(samples), of_maker(contexts)
    parts = []
    if explained.failures:
        lines = [f"- `{name}`: {message}" for name, message in sorted(explained.failures.items())]
        parts.append(["### wrong or failed", "", *lines])
    if limits.bytes_per_s:
        rates = ", ".join(f"{1e-12 * rate:.0f} TFLOP/s of {dtype}" for dtype, rate in limits.operations_per_s.items() if rate)
        parts.append([f"Measured: copies at {1e-12 * limits.bytes_per_s:.2f} TB/s{', products at ' + rates if rates else ''}."])
    parts.append(workloads(samples, limits, maker))
    parts += [step(name, explained, samples, limits, maker) for name in explained.steps]
    return "\n".join("\n".join(part) + "\n" for part in parts if part)
