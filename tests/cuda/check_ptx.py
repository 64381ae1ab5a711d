#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what nvcc made of kernels: check_ptx.py <ptxas> <file>... takes .ptx files, and objects with uncompressed PTX
(nvcc --no-compress). Ends with 1 unless no kernel traps or calls anything, none of twill's has shared memory that its launch
does not know of, and all keep everything in registers on GPUs of 2020 to 2025, but for those that SPILLS names.

Kernels of .ptx files, which are made of the programs in this folder, also store something, touch memory by global accesses,
never divide integers, and contain the instruction that their program's exponentials need (a call of a function that is
host-only vanishes without a warning). Those that NAMED knows by what they compute have to be there exactly once and to be as
good as it says."""

import concurrent.futures
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# One for each generation that a portable build names and whose registers are allotted differently. PTX of a later one is
# translated for an earlier one, too: no kernel uses what only the later has, but for those before sm_80.
ARCHITECTURES = ("sm_80", "sm_90", "sm_120")

HEADER = Path(__file__).resolve().parents[2] / "include/twill/kernel/primitive.hpp"


def numbers_of_primitives() -> dict[str, int]:
    """The enumerators of kernel::Primitive, for which names of kernels have numbers."""
    body = re.search(r"enum class Primitive : std::uint8_t \{(.*?)\};", HEADER.read_text(), re.DOTALL)[1]
    return {name: number for number, name in enumerate(re.findall(r"^\s*(\w+),", body, re.MULTILINE))}


NUMBER = numbers_of_primitives()


def step(primitive: str) -> str:
    """The beginning of a program's line that computes a primitive."""
    return f"Step<{NUMBER[primitive]},"


# Kernels that may spill, by what they compute, and why.
SPILLS = {
    r"RowBody<.*\bdouble\b": "rows of float64: a block's threads have half the registers that two words an element want",
    r"Elementwise<.*In<double, 0>.*Out<double, 18>, Out<double, 29>": "gradients of two batch norms in float64: 14 pointers",
    r"Elementwise<Program<In<float, 0>, In<float, 0>, .*Out<float, 51>, Out<float, 54> >": "two functions of complex numbers in one: 32 bytes",
    r"RowBody<Program<(?:(?!Out).)*(?:, Out<float, \d+>){8} >, 0>": "what hooks on a layer are shown: eight results a row",
    r"RowBody<Program<In<float, 0>, Reduce<2, 0>, .*In<long, 1>": "cross entropy in blocks of 1024: 16 bytes on sm_120",
    rf"RowBody<Program<In<float, 1>, In<float, 0>, In<float, 1>, {step('multiply')} 1, 2>.*Reduce<0, 6>": "gradients of norms with several sums",
    r"RowBody<Program<In<bool, 1>, .*Reduce<0, 7>.*Reduce<0, 10>.*Reduce<0, 16>.*Reduce<0, 18>": "gradients of products of spectra: four sums",
}

# Primitives whose code has to contain ex2.
EXPONENTIALS = ("exp", "tanh")

# What a kernel's program is, and the most registers that it may need: with 40 of them 1536 threads share a processor, with 32
# all 2048. Each of them loads and stores 16 bytes at a time.
ELEMENTWISE = r"Elementwise<.*"
NAMED = {
    "tanh(a * b + c) * d - 0.5 * a": (ELEMENTWISE + ".*".join(map(step, ("multiply", "add", "tanh", "multiply", "subtract"))), 40),
    "a + b of bfloat16": (ELEMENTWISE + rf"In<bfloat16.*{step('add')} 0, 1>, Out<bfloat16, 2>", 40),
}

# Rows in registers: 64 registers let a block have 1024 threads.
NAMED |= {
    "softmax": (rf"RowBody<Program<In<float, 0>, Reduce<2, 0>, {step('subtract')} 0, 1>, {step('exp')} 2>, .*, 0>$", 64),
    "layer norm": (rf"RowBody<Program<In<float, 0>, In<float, 0>, In<float, 0>, .*{step('rsqrt')} 11>, .*, 0>$", 96),
}

# Rows in shared memory or in chunks: one pointer is to either.
MAY_MIX = r"RowBody<.*, 1>$"


def texts_of(path: str):
    """The PTX in a file, each with its own .version: one of a .ptx file, several of an object."""
    data = Path(path).read_bytes()
    if path.endswith(".ptx"):
        return [data.decode()]
    found = [match.group().decode() for match in re.finditer(rb"\.version \d+\.\d+\s[^\0]*", data)]
    return [text for text in found if ".target" in text]


def end_of_body(text: str, start: int) -> int:
    """Where the first block in braces after a place ends."""
    depth = 0
    for brace in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    raise ValueError(f"a kernel without an end: {text[start:start + 80]}")


def kernels(text: str):
    """Name and body of every kernel."""
    for entry in re.finditer(r"^\s*(?:\.visible |\.weak )?\.entry (\w+)", text, re.MULTILINE):
        yield entry[1], text[entry.start(1):end_of_body(text, entry.end())]


def readable(names: list[str]) -> dict[str, str]:
    """The names of kernels as programs are written, with numbers for enumerators."""
    told = subprocess.run(["c++filt", "-r"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    result = {}
    for name, text in zip(names, told.splitlines()):
        text = re.sub(r"\((?:\w+::)+\w+\)", "", text)
        text = re.sub(r"(?:\w+::)+", "", text)
        result[name] = re.sub(r"^void run_body<|, \w*Parameters<\d+>.*", "", text)
    return result


def once(texts: list[str]):
    """The texts with twill's kernels only (CUB's take most of ptxas' time), and each of those in the first of them."""
    seen = set()
    for text in texts:
        parts, at, before = [], 0, len(seen)
        for entry in re.finditer(r"^\s*(?:\.visible |\.weak )?\.entry (\w+)", text, re.MULTILINE):
            if "run_body" in entry[1] and entry[1] not in seen:
                seen.add(entry[1])
            else:
                parts.append(text[at:entry.start()])
                at = end_of_body(text, entry.end())
        if len(seen) > before:
            yield "".join([*parts, text[at:]])


def architectures_of(text: str) -> tuple[str, ...]:
    """The architectures for which a text is translated: its own alone where that is older than the others."""
    own = re.search(r"^\.target (sm_(\d+))", text, re.MULTILINE)
    return (own[1],) if own and int(own[2]) < 80 else ARCHITECTURES


def report(ptxas: str, text: str, architecture: str):
    """Registers, bytes of local memory and bytes of static shared memory of every kernel, from ptxas."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(re.sub(r"^\.target sm_\w+", f".target {architecture}", text, flags=re.MULTILINE))
        file.flush()
        command = [ptxas, "-v", f"-arch={architecture}", file.name, "-o", "/dev/null"]
        found = subprocess.run(command, capture_output=True, text=True)
    if found.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{found.stdout}{found.stderr}")
    for entry in re.split(r"Compiling entry function '", found.stdout + found.stderr)[1:]:
        local = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", entry)
        registers = re.search(r"Used (\d+) registers", entry)
        shared = re.search(r"(\d+) bytes smem", entry)
        bytes_of_shared = int(shared.group(1)) if shared else 0
        yield re.match(r"\w+", entry).group(), int(registers.group(1)), sum(map(int, local.groups())), bytes_of_shared


def faults_of(body: str):
    """What is wrong with the code of any kernel."""
    if re.search(r"^\s*(?:@!?%p\d+\s+)?trap\b", body, re.MULTILINE):
        yield "traps: it reads a table of the compiler at a place known at run time, or divides by a constant zero"
    if re.search(r"^\s*(?:@!?%p\d+\s+)?call", body, re.MULTILINE):
        yield "calls a function"


def strict_faults_of(program: str, body: str):
    """What is wrong with the code of a kernel that is made of a program."""
    if "st.global" not in body:
        yield "stores nothing"
    if re.search(r"\b(?:ld|st)\.local\b", body):
        yield "uses local memory"
    mixes = re.match(MAY_MIX, program)
    if not mixes and re.search(r"\b(?:ld|st)\.(?!global|param|shared|const|volatile|acquire|relaxed|release)", body):
        yield "does not know that its operands lie in global memory"
    if re.search(r"\b(?:div|rem)\.[us]\d+", body):
        yield "divides integers"
    for primitive in EXPONENTIALS:
        if step(primitive) in program and "ex2" not in body:
            yield f"computes no {primitive}"


def named_faults(bodies: dict[str, str], registers: dict[str, int], enough: int):
    """What the kernels that NAMED knows lack. So many registers as are enough are not too many."""
    for title, (pattern, most) in NAMED.items():
        most = max(most, enough)
        found = [program for program in bodies if re.match(pattern, program)]
        if len(found) != 1:
            yield f"{title}: {len(found)} kernels, expected one"
        for program in found:
            if not re.search(r"ld\.global(\.nc)?\.v4\.[ubf]32", bodies[program]):
                yield f"{title}: loads no 16 bytes at a time"
            if not re.search(r"st\.global\.v4\.[ubf]32", bodies[program]):
                yield f"{title}: stores no 16 bytes at a time"
            if registers[program] > most:
                yield f"{title}: {registers[program]} registers, more than {most}"


def main() -> int:
    ptxas, paths = sys.argv[1], sys.argv[2:]
    faults, strict, registers, seen = [], {}, {}, set()
    texts = [(path, text) for path in paths for text in texts_of(path)]
    programs = readable(sorted({name for _, text in texts for name, _ in kernels(text)}))
    for path, text in texts:
        for name, body in kernels(text):
            seen.add(name)
            faults += [f"{programs[name]} {fault}" for fault in faults_of(body)]
            if path.endswith(".ptx") and "run_body" in name:  # not CUB's
                strict[programs[name]] = body
                faults += [f"{programs[name]} {fault}" for fault in strict_faults_of(programs[name], body)]
    jobs = [(text, architecture) for text in once([text for _, text in texts]) for architecture in architectures_of(text)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        reports = pool.map(lambda job: list(report(ptxas, *job)), jobs)
        for (_, architecture), kernels_of_job in zip(jobs, reports):
            for name, used, local, shared in kernels_of_job:
                program = programs[name]
                registers[program] = max(used, registers.get(program, 0))
                if local != 0 and not any(re.search(pattern, program) for pattern in SPILLS):
                    faults.append(f"{program} has {local} bytes of stack and spills on {architecture}")
                if shared != 0:
                    faults.append(f"{program} has {shared} bytes of shared memory that its launch does not know of")
    if strict: # a processor before sm_80 has at most 1024 threads, with 64 registers each
        is_old = all(architecture not in ARCHITECTURES for _, architecture in jobs)
        faults += named_faults(strict, registers, 64 if is_old else 0)
    for program in sorted(strict, key=lambda program: -registers[program]):
        print(f"{registers[program]:4} registers  {program[:140]}")
    print(f"{len(seen)} kernels")
    print("\n".join(dict.fromkeys(faults)))
    return 1 if faults or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
