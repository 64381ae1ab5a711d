#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what including and using twill costs: wall seconds and peak memory of one compiler run, the median of several.

    measure.py [--compiler g++]... [--repeat 5] [--short] [--json file] [--check] [--budgets]

The rows: an empty file, fifteen standard headers, each umbrella, every program of bench/compile_time and every example,
at -O2 and with -g, what each further distinct statement costs (sixteen more in one file, over sixteen), and the peers that
are installed. --short leaves out what has no bar, except empty file, standard headers and peers. With --compiler nvcc the
rows are the .cu files, for one architecture. The JSON is the source; the table is printed. --check ends with 1 where a bar below is missed,
--budgets where a compiler needs more memory for a program than its budget: what a change must not make worse. Time decides no
budget, because other work on the machine would; memory follows it, and is the same in every run of one compiler to within a hundredth. Budgets are those of g++ 12.2 and nvcc 13.0
for x86-64, where the kernel gives large pages to everybody.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

STANDARD = ["algorithm", "array", "atomic", "chrono", "cmath", "functional", "memory", "mutex", "optional", "span",
            "string", "thread", "tuple", "variant", "vector"]

# Seconds and MB on the machine that the bars of the project are stated for.
BARS = {"#include <twill/twill.hpp>": (1.5, 300), "#include <twill/tensor.hpp>": (1.0, None), "fused_chain.cpp": (1.7, None),
        "mlp.cpp": (3.0, None), "resnet50.cpp": (6.0, 600), "gpt2.cpp": (6.0, 600), "each further fused statement": (0.060, None),
        "each further row statement": (0.110, None)}
BARS_OF_NVCC = {"fused_chain.cu": (3.0, None), "mlp.cu": (20.0, None)}
BUDGETS = {"#include <twill/twill.hpp>": 585, "fused_chain.cpp": 295, "mlp.cpp": 790}  # MB at -O2, a seventh above today's
BUDGETS_OF_NVCC = {"fused_chain.cu": 670, "mlp.cu": 2330}
BARS_WITH_G = {"each further fused statement": (0.090, None)}

NVCC_FLAGS = ["-std=c++20", "--expt-relaxed-constexpr", "-Xcudafe", "--max_cost_constexpr_call=200000000", "-arch=sm_90",
              f"-I{ROOT / 'include'}", f"-I{ROOT}", "-c", "-o", "/dev/null"]

# What the CMake target hands on to its users, by a part of the compiler's name: deep models take more than the default.
FLAGS_OF = {"clang": ["-fconstexpr-steps=268435456"], "": ["-fconstexpr-ops-limit=1073741824"]}  # "c++" may be any g++

# Name, header, where it is looked for, and one fused chain.
PEERS = [
    ("Eigen", "Eigen/Core", ["/usr/include/eigen3", "/usr/local/include/eigen3"],
     "void chain(const Eigen::ArrayXf& a, const Eigen::ArrayXf& b, const Eigen::ArrayXf& c, const Eigen::ArrayXf& d, "
     "Eigen::ArrayXf& y) { y = (a * b + c).tanh() * d - 0.5F * a; }\n"),
    ("xtensor", "xtensor/xtensor.hpp", ["/usr/include", "/usr/local/include"],
     "#include <xtensor/xmath.hpp>\nusing X = xt::xtensor<float, 1>;\n"
     "void chain(const X& a, const X& b, const X& c, const X& d, X& y) { y = xt::tanh(a * b + c) * d - 0.5F * a; }\n"),
    ("libtorch", "torch/torch.h", ["/usr/include/torch/csrc/api/include", "/usr/local/include/torch/csrc/api/include"],
     None),
]
# Statements that differ in their functions and so in their kernels.
FUNCTIONS = ["tanh", "exp", "sin", "abs", "sqrt", "log", "cos", "square", "erf", "floor", "expm1", "log1p"]
FURTHER = {"each further fused statement": "y = {f}(a * b + c) * {g}(c) - 0.5 * a;",
           "each further row statement": "y = {f}(a - max<1>(a, keepdims)) / sum<1>({g}(b), keepdims);"}
FURTHER_COUNT = 16
LONG_SECONDS = 2  # rows that take longer are measured three times only


def compile_once(command, source: Path) -> tuple[float, float]:
    """Wall seconds and peak resident megabytes of the compiler proper and its children."""
    start = time.perf_counter()
    child = subprocess.Popen([*command, str(source)], stderr=subprocess.PIPE, text=True)
    errors = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        raise SystemExit(f"measure.py: {source.name} does not compile:\n{errors[:2000]}")
    return seconds, usage.ru_maxrss / 1024


def flags_of(compiler: str) -> list[str]:
    flags = ["-std=c++20", f"-I{ROOT / 'include'}", f"-I{ROOT}", "-c", "-o", "/dev/null"]
    return flags + next((of for part, of in FLAGS_OF.items() if part in Path(compiler).name), [])


def rows(folder: Path, short: bool):
    """Name, file and further options of everything that is measured."""

    def written(name: str, text: str):
        path = folder / name
        path.write_text(text)
        return path

    yield "empty file", written("empty.cpp", "int main() {}\n"), []
    yield "fifteen std headers", written("standard.cpp", "".join(f"#include <{h}>\n" for h in STANDARD) + "int main() {}\n"), []
    for umbrella in sorted((ROOT / "include" / "twill").glob("*.hpp")):
        name = f"#include <twill/{umbrella.name}>"
        if name in BARS or not short:
            yield name, written(f"include_{umbrella.stem}.cpp", f"#include <twill/{umbrella.name}>\nint main() {{}}\n"), []
    examples = [] if short else sorted((ROOT / "examples").glob("*.cpp"))
    for path in sorted((ROOT / "bench" / "compile_time").glob("*.cpp")) + examples:
        yield path.name, path, []
    for name, header, places, chain in PEERS:
        place = next((p for p in places if (Path(p) / header).exists()), None)
        if place is None:
            continue
        include = f"#include <{header}>\n"
        search = [] if place == "/usr/include" else [f"-isystem{place}"]
        yield f"#include <{header}>", written(f"include_{name}.cpp", include + "int main() {}\n"), search
        if chain:
            yield f"fused chain with {name}", written(f"chain_{name}.cpp", include + chain), search


def statements(form: str, count: int) -> str:
    lines = ["#include <twill/expr.hpp>", "using namespace twill;", "using Matrix = Tensor<float, Cpu, Shape<dyn, dyn>>;"]
    for i in range(count):
        f, g = FUNCTIONS[i % 12], FUNCTIONS[(i // 12 + i + 1) % 12]
        lines.append(f"void f{i}(const Matrix& a, const Matrix& b, const Matrix& c, Matrix& y) "
                     f"{{ static_cast<void>(c); {form.format(f=f, g=g)} }}")
    return "\n".join(lines) + "\n"


def measure_further(compiler: str, flags, folder: Path, repeat: int):
    """What one more statement takes beside others: the difference of two files, over the number of statements."""
    for name, form in FURTHER.items():
        few, many = folder / "few.cpp", folder / "many.cpp"
        few.write_text(statements(form, 1))
        many.write_text(statements(form, 1 + FURTHER_COUNT))
        for options in (["-O2"], ["-O2", "-g"]):
            command = [compiler, *flags, *options]
            pairs = [(compile_once(command, few), compile_once(command, many)) for _ in range(min(repeat, 3))]
            seconds = [(b[0] - a[0]) / FURTHER_COUNT for a, b in pairs]
            yield {"what": name, "compiler": compiler, "options": " ".join(options), "seconds": statistics.median(seconds),
                   "seconds_all": seconds, "peak_mb": max(b[1] for _, b in pairs)}


def is_nvcc(compiler: str) -> bool:
    return Path(compiler).name.startswith("nvcc")


def measure_nvcc(compiler: str, repeat: int):
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.cu"
        empty.write_text("int main() {}\n")
        umbrella = Path(folder) / "include_cuda.cu"
        umbrella.write_text("#include <twill/cuda.cuh>\nint main() {}\n")
        named = [("empty file (.cu)", empty), ("#include <twill/cuda.cuh>", umbrella)]
        named += [(path.name, path) for path in sorted((ROOT / "bench" / "compile_time").glob("*.cu"))]
        for name, path in named:
            samples = [compile_once([compiler, *NVCC_FLAGS], path) for _ in range(min(repeat, 3))]
            seconds = [s for s, _ in samples]
            yield {"what": name, "compiler": "nvcc", "options": "-arch=sm_90", "seconds": statistics.median(seconds),
                   "seconds_all": seconds, "peak_mb": max(m for _, m in samples)}


def over_budget(compiler: str) -> int:
    """How many programs take more memory than they may; prints a line for each."""
    over = 0
    with tempfile.TemporaryDirectory() as folder:
        if is_nvcc(compiler):
            command, budgets = [compiler, *NVCC_FLAGS], BUDGETS_OF_NVCC
            paths = {path.name: path for path in (ROOT / "bench" / "compile_time").glob("*.cu")}
        else:
            command, budgets = [compiler, *flags_of(compiler), "-O2"], BUDGETS
            paths = {name: path for name, path, _ in rows(Path(folder), short=True)}
        for name, budget in budgets.items():
            _, peak = compile_once(command, paths[name])
            over += peak > budget
            print(f"{name}: {peak:.0f} MB of {budget}{': over its budget' if peak > budget else ''}")
    return over


def measure(compiler: str, repeat: int, short: bool):
    if is_nvcc(compiler):
        yield from measure_nvcc(compiler, repeat)
        return
    flags = flags_of(compiler)
    with tempfile.TemporaryDirectory() as folder:
        for name, path, search in rows(Path(folder), short):
            for options in (["-O2"], ["-O2", "-g"]):
                if "-g" in options and short and name not in BARS:
                    continue
                command = [compiler, *flags, *search, *options]
                samples = [compile_once(command, path)]
                times = min(repeat, 3) if samples[0][0] > LONG_SECONDS else repeat
                samples += [compile_once(command, path) for _ in range(times - 1)]
                seconds = [s for s, _ in samples]
                yield {"what": name, "compiler": compiler, "options": " ".join(options),
                       "seconds": statistics.median(seconds), "seconds_all": seconds,
                       "peak_mb": max(m for _, m in samples)}
        yield from measure_further(compiler, flags, Path(folder), repeat)


def shown(seconds: float) -> str:
    return f"{seconds:.2f}" if seconds >= 0.5 else f"{seconds:.3f}"


def text_of(command) -> str:
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return result.stdout.strip().splitlines()[0] if result.returncode == 0 and result.stdout.strip() else "unknown"


def context(compilers):
    models = [l.split(":", 1)[1].strip() for l in Path("/proc/cpuinfo").read_text().splitlines() if l.startswith("model name")]
    return {"machine": f"{models[0] if models else 'unknown'}, {len(os.sched_getaffinity(0))} cores",
            "compilers": [text_of([c, "--version"]) for c in compilers], "commit": text_of(["git", "rev-parse", "--short", "HEAD"])}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", action="append", help="may be repeated; g++ unless given")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--budgets", action="store_true")
    options = parser.parse_args()
    if options.budgets:
        return 1 if sum(over_budget(compiler) for compiler in options.compiler or ["g++"]) else 0
    compilers = options.compiler or ["g++"]
    about = context(compilers)
    print(f"machine: {about['machine']}; compilers: {'; '.join(about['compilers'])}; commit: {about['commit']}\n")
    print("| what | compiler | options | seconds (min to max) | peak MB | bar |\n|---|---|---|---|---|---|")
    results, missed = [], 0
    for compiler in compilers:
        for row in measure(compiler, options.repeat, options.short):
            results.append(row)
            seconds, memory = (BARS_OF_NVCC if row["compiler"] == "nvcc" else BARS).get(row["what"], (None, None))
            if "-g" in row["options"]:
                seconds, memory = BARS_WITH_G.get(row["what"], (seconds, memory))
            is_missed = bool((seconds and row["seconds"] > seconds) or (memory and row["peak_mb"] > memory))
            missed += is_missed
            bar = "" if not seconds else f"{seconds} s{f', {memory} MB' if memory else ''}: {'missed' if is_missed else 'kept'}"
            low, high = min(row["seconds_all"]), max(row["seconds_all"])
            print(f"| `{row['what']}` | {compiler} | {row['options']} | {shown(row['seconds'])} ({shown(low)} to {shown(high)}) "
                  f"| {row['peak_mb']:.0f} | {bar} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps({"context": about, "rows": results}, indent=1) + "\n")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
