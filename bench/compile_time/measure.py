#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what including and using twill costs: processor seconds, the same in units of fifteen standard headers that are
compiled in turn with it, and peak memory of one compiler run; the median of several.

    measure.py [--compiler g++]... [--repeat 3] [--short] [--json file] [--budgets]

The rows: an empty file, fifteen standard headers, each umbrella, every program of bench/compile_time and every example,
header-only and with the compiled library at -O2, and as a quick build at -O0, without and with -g; what each further distinct
statement costs (sixteen more in one file, over sixteen); and the peers that are installed. --short leaves out what has no bar,
except empty file, standard headers and peers. With --compiler nvcc the rows are the .cu files, for one architecture. The JSON is the source; the table is printed.
--budgets ends with 1 where a program takes more than its budget of units or memory. A budget is the bar, or a fifth above
what was measured where a bar is missed, and only shrinks: units and memory of g++ 12.2 and clang 16, memory of nvcc 13.0, for
x86-64, where the kernel gives large pages to everybody. Units depend on the processor: an MLP takes 16 of them with g++ on one
of Intel's, 18.6 on one of AMD's (clang 11 and 14.2), so that what was measured is the most of both.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from bench_table import LARGEST_SPREAD, spread

STANDARD = ["algorithm", "array", "atomic", "chrono", "cmath", "functional", "memory", "mutex", "optional", "span",
            "string", "thread", "tuple", "variant", "vector"]

MODES = {"header-only": ["-O2"], "compiled": ["-O2", "-DTWILL_COMPILED=1"], "quick": ["-O0", "-DTWILL_COMPILED=1", "-DTWILL_QUICK=1"]}
# Units of the fifteen standard headers and MB, by mode.
BARS = {"#include <twill/tensor.hpp>": {"header-only": (1.3, None), "compiled": (1.2, None)},
        "#include <twill/twill.hpp>": {"header-only": (3, 300), "compiled": (2.2, None), "quick": (2.2, None)},
        "fused_chain.cpp": {"header-only": (2.6, None), "compiled": (2.2, None), "quick": (2, None)},
        "mlp.cpp": {"header-only": (8, 450), "compiled": (5.5, None), "quick": (4, None)},
        "resnet50.cpp": {"header-only": (25, 900), "compiled": (14, None), "quick": (6, None)},
        "gpt2.cpp": {"header-only": (25, 900), "compiled": (14, None), "quick": (6, None)},
        "each further fused statement": {"header-only": (0.08, None), "compiled": (0.08, None)},
        "each further row statement": {"header-only": (0.15, None), "compiled": (0.15, None)}}
BUDGETS = {"#include <twill/tensor.hpp>": {"header-only": (1.8, 220), "compiled": (1.4, 190)},
           "#include <twill/twill.hpp>": {"header-only": (5.5, 425), "compiled": (3.7, 370), "quick": (4.4, 370)},
           "fused_chain.cpp": {"header-only": (4.6, 305), "compiled": (2.2, 235), "quick": (2, 235)},
           "mlp.cpp": {"header-only": (22, 670), "compiled": (6.6, 450), "quick": (6, 430)},
           "resnet50.cpp": {"compiled": (26, 1250), "quick": (12.3, 700)},
           "gpt2.cpp": {"compiled": (26, 960), "quick": (9.2, 500)}}
BUDGETS_WITH_G = {"mlp.cpp": {"compiled": (7.5, 560), "quick": (6.5, 480)}}
BUDGETS_OF_CLANG = {"#include <twill/twill.hpp>": {"header-only": (5.7, 320)},
                    "mlp.cpp": {"header-only": (16.5, 460), "compiled": (5.4, 300), "quick": (5.4, 300)}}
BUDGETS_OF_CLANG_WITH_G = {"mlp.cpp": {"compiled": (6.3, 310)}}
BUDGETS_OF_STATEMENTS = {"each further fused statement": 0.28, "each further row statement": 0.4}  # units, compiled
BUDGETS_OF_NVCC = {"fused_chain.cu": 670, "mlp.cu": 2330}

NVCC_FLAGS = ["-std=c++20", "--expt-relaxed-constexpr", "-Xcudafe", "--max_cost_constexpr_call=200000000", "-arch=sm_90",
              f"-I{ROOT / 'include'}", f"-I{ROOT}", "-c", "-o", "/dev/null"]

# What the CMake target hands on to its users, by a part of the compiler's name: deep models take more than the default.
FLAGS_OF = {"clang": ["-fconstexpr-steps=268435456"], "": ["-fconstexpr-ops-limit=1073741824"]}  # "c++" may be any g++


def torch_includes() -> list[str]:
    """The headers of PyTorch's package for this Python, where it is installed."""
    package = importlib.util.find_spec("torch")
    return [f"{folder}/include" for folder in package.submodule_search_locations] if package else []


# Name, header, where it is looked for, and one fused chain.
PEERS = [
    ("Eigen", "Eigen/Core", ["/usr/include/eigen3", "/usr/local/include/eigen3"],
     "void chain(const Eigen::ArrayXf& a, const Eigen::ArrayXf& b, const Eigen::ArrayXf& c, const Eigen::ArrayXf& d, "
     "Eigen::ArrayXf& y) { y = (a * b + c).tanh() * d - 0.5F * a; }\n"),
    ("xtensor", "xtensor/xtensor.hpp", ["/usr/include", "/usr/local/include"],
     "#include <xtensor/xmath.hpp>\nusing X = xt::xtensor<float, 1>;\n"
     "void chain(const X& a, const X& b, const X& c, const X& d, X& y) { y = xt::tanh(a * b + c) * d - 0.5F * a; }\n"),
    ("libtorch", "torch/torch.h", [f"{include}/torch/csrc/api/include" for include in
                                   ["/usr/include", "/usr/local/include", *torch_includes()]], None),
]
# Statements that differ in their functions and so in their kernels.
FUNCTIONS = ["tanh", "exp", "sin", "abs", "sqrt", "log", "cos", "square", "erf", "floor", "expm1", "log1p"]
FURTHER = {"each further fused statement": "y = {f}(a * b + c) * {g}(c) - 0.5 * a;",
           "each further row statement": "y = {f}(a - max<1>(a, keepdims)) / sum<1>({g}(b), keepdims);"}
FURTHER_COUNT = 16
LONG_SECONDS = 2  # rows that take longer are measured three times only
ATTEMPTS = 3  # at a row whose times spread over 20%


def compile_once(command, source: Path) -> tuple[float, float]:
    """Processor seconds and peak resident megabytes of the compiler proper and its children."""
    child = subprocess.Popen([*command, str(source)], stderr=subprocess.PIPE, text=True)
    errors = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        raise SystemExit(f"measure.py: {source.name} does not compile:\n{errors[:2000]}")
    return usage.ru_utime, usage.ru_maxrss / 1024


def flags_of(compiler: str) -> list[str]:
    flags = ["-std=c++20", f"-I{ROOT / 'include'}", f"-I{ROOT}", "-c", "-o", "/dev/null"]
    return flags + next((of for part, of in FLAGS_OF.items() if part in Path(compiler).name), [])


def rows(folder: Path, short: bool):
    """Name, file and further options of everything that is measured; peers have no modes."""

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
        search = [f"-isystem{folder}" for folder in (place, place.removesuffix("/torch/csrc/api/include")) if folder != "/usr/include"]
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


def sample(command, source: Path, unit, repeat: int) -> dict:
    """One row: each compilation stands beside one of the standard headers by the same compiler. Where the times spread as on
    a busy machine, all are taken again."""
    for _ in range(ATTEMPTS):
        pairs = []
        while len(pairs) < (min(repeat, 3) if pairs and pairs[0][1][0] > LONG_SECONDS else repeat):
            pairs.append((compile_once(*unit), compile_once(command, source)))
        seconds = [row[0] for _, row in pairs]
        if spread(seconds) <= LARGEST_SPREAD:
            break
    return {"seconds": statistics.median(seconds), "seconds_all": seconds,
            "units": statistics.median(row[0] / base[0] for base, row in pairs), "peak_mb": max(row[1] for _, row in pairs)}


def measure_further(command, unit, folder: Path, repeat: int):
    """What one more statement takes beside others: the difference of two files, over the number of statements."""
    for name, form in FURTHER.items():
        few, many = folder / "few.cpp", folder / "many.cpp"
        few.write_text(statements(form, 1))
        many.write_text(statements(form, 1 + FURTHER_COUNT))
        first, second = (sample(command, path, unit, min(repeat, 3)) for path in (few, many))
        yield {"what": name, "seconds": (second["seconds"] - first["seconds"]) / FURTHER_COUNT,
               "seconds_all": [(b - a) / FURTHER_COUNT for a, b in zip(first["seconds_all"], second["seconds_all"])],
               "units": (second["units"] - first["units"]) / FURTHER_COUNT, "peak_mb": second["peak_mb"]}


def is_nvcc(compiler: str) -> bool:
    return Path(compiler).name.startswith("nvcc")


def measure_nvcc(compiler: str, folder: Path, repeat: int):
    empty, umbrella, standard = folder / "empty.cu", folder / "include_cuda.cu", folder / "standard.cu"
    empty.write_text("int main() {}\n")
    umbrella.write_text("#include <twill/cuda.cuh>\nint main() {}\n")
    standard.write_text("".join(f"#include <{header}>\n" for header in STANDARD))
    command = [compiler, *NVCC_FLAGS]
    named = [("empty file (.cu)", empty), ("#include <twill/cuda.cuh>", umbrella)]
    named += [(path.name, path) for path in sorted((ROOT / "bench" / "compile_time").glob("*.cu"))]
    for name, path in named:
        yield {"what": name, "mode": "header-only", "compiler": "nvcc", "options": "-arch=sm_90",
               **sample(command, path, (command, standard), min(repeat, 3))}


def measure(compiler: str, folder: Path, repeat: int, short: bool):
    if is_nvcc(compiler):
        yield from measure_nvcc(compiler, folder, repeat)
        return
    flags, files = flags_of(compiler), list(rows(folder, short))
    for debug in ([], ["-g"]):
        for mode, (level, *definitions) in MODES.items():
            unit = ([compiler, *flags, level, *debug], folder / "standard.cpp")
            command = [*unit[0], *definitions]
            about = {"mode": mode, "compiler": compiler, "options": " ".join([level, *debug])}
            for name, path, search in files:
                is_twill = name in BARS or path.is_relative_to(ROOT) or "<twill/" in name
                if (mode != "header-only" and not is_twill) or (debug and short and name not in BARS):
                    continue
                yield {"what": name, **about, **sample([*command, *search], path, unit, repeat)}
            for row in measure_further(command, unit, folder, repeat):
                yield {**row, **about}


def over_budget(compiler: str, folder: Path) -> int:
    """How many programs take more than they may; prints a line for each."""
    over = 0
    if is_nvcc(compiler):
        for path in (ROOT / "bench" / "compile_time").glob("*.cu"):
            _, peak = compile_once([compiler, *NVCC_FLAGS], path)
            over += peak > BUDGETS_OF_NVCC[path.name]
            print(f"{path.name}: {peak:.0f} MB of {BUDGETS_OF_NVCC[path.name]}")
        return over
    paths = {name: path for name, path, _ in rows(folder, short=True)}
    is_clang = "clang" in compiler
    plain, with_g = (BUDGETS_OF_CLANG, BUDGETS_OF_CLANG_WITH_G) if is_clang else (BUDGETS, BUDGETS_WITH_G)
    for debug, budgets in (([], plain), (["-g"], with_g)):
        for name, modes in budgets.items():
            for mode, (units, memory) in modes.items():
                level, *definitions = MODES[mode]
                unit = ([compiler, *flags_of(compiler), level, *debug], folder / "standard.cpp")
                for repeat in (1, 3): # again where it is over
                    row = sample([*unit[0], *definitions], paths[name], unit, repeat)
                    is_over = row["units"] > units or row["peak_mb"] > memory
                    if not is_over:
                        break
                over += is_over
                print(f"{name}, {' '.join([mode, *debug])}: {row['units']:.1f} units of {units}, {row['peak_mb']:.0f} MB of {memory}"
                      f"{': over its budget' if is_over else ''}", flush=True)
    if is_clang:
        return over
    level, *definitions = MODES["compiled"]
    unit = ([compiler, *flags_of(compiler), level], folder / "standard.cpp")
    for row in measure_further([*unit[0], *definitions], unit, folder, 2):
        is_over = row["units"] > BUDGETS_OF_STATEMENTS[row["what"]]
        over += is_over
        print(f"{row['what']}: {row['units']:.2f} units of {BUDGETS_OF_STATEMENTS[row['what']]}"
              f"{': over its budget' if is_over else ''}", flush=True)
    return over


def shown(seconds: float) -> str:
    return f"{seconds:.2f}" if seconds >= 0.5 else f"{seconds:.3f}"


def text_of(command) -> str:
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return result.stdout.strip().splitlines()[0] if result.returncode == 0 and result.stdout.strip() else "unknown"


def context(compilers):
    models = [l.split(":", 1)[1].strip() for l in Path("/proc/cpuinfo").read_text().splitlines() if l.startswith("model name")]
    return {"machine": f"{models[0] if models else 'unknown'}, {len(os.sched_getaffinity(0))} cores",
            "compilers": [text_of([c, "--version"]) for c in compilers], "commit": text_of(["git", "rev-parse", "--short", "HEAD"])}


def bar_of(row) -> str:
    units, memory = BARS.get(row["what"], {}).get(row["mode"], (None, None))
    if units is None:
        return ""
    is_missed = row["units"] > units or (memory is not None and row["peak_mb"] > memory)
    return f"{units}{f', {memory} MB' if memory else ''}: {'missed' if is_missed else 'kept'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", action="append", help="may be repeated; g++ unless given")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--budgets", action="store_true")
    options = parser.parse_args()
    compilers = options.compiler or ["g++"]
    with tempfile.TemporaryDirectory() as folder:
        if options.budgets:
            return 1 if sum(over_budget(compiler, Path(folder)) for compiler in compilers) else 0
        about = context(compilers)
        print(f"machine: {about['machine']}; compilers: {'; '.join(about['compilers'])}; commit: {about['commit']}\n")
        print("| what | mode | compiler | options | seconds (min to max) | units | peak MB | bar |\n" + "|---" * 8 + "|")
        results = []
        for compiler in compilers:
            for row in measure(compiler, Path(folder), options.repeat, options.short):
                results.append(row)
                low, high = min(row["seconds_all"]), max(row["seconds_all"])
                print(f"| `{row['what']}` | {row['mode']} | {row['compiler']} | {row['options']} | {shown(row['seconds'])} "
                      f"({shown(low)} to {shown(high)}) | {row['units']:.2f} | {row['peak_mb']:.0f} | {bar_of(row)} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps({"context": about, "rows": results}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
