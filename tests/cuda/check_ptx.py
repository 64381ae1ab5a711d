#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what nvcc made of kernels: check_ptx.py <ptxas> <file.ptx>... Ends with 1 unless every kernel stores something, calls
nothing, keeps everything in registers, touches memory by global accesses, never divides integers, and contains the
instruction that its program's exponentials need (a call of a function that is host-only vanishes without a warning). Kernels
that NAMED knows by what they compute have to be there exactly once and to be as good as it says."""

import re
import subprocess
import sys

# Enumerators of kernel::Primitive whose code has to contain ex2.
EXPONENTIALS = {11: "exp", 27: "tanh"}

# What a kernel's program is, and the most registers that it may need: with 40 of them 1536 threads share a processor, with 32
# all 2048. Each of them loads and stores 16 bytes at a time.
ELEMENTWISE = r"Elementwise<.*"
NAMED = {
    "tanh(a * b + c) * d - 0.5 * a": (ELEMENTWISE + r"Step<45,.*Step<43,.*Step<27,.*Step<45,.*Step<44,", 40),
    "a + b of bfloat16": (ELEMENTWISE + r"In<bfloat16.*Step<43, 0, 1>, Out<bfloat16, 2>", 40),
}

# Rows in registers: 64 registers let a block have 1024 threads.
NAMED |= {
    "softmax": (r"RowBody<Program<In<float, 0>, Reduce<2, 0>, Step<44, 0, 1>, Step<11, 2>, .*, 0>$", 64),
    "layer norm": (r"RowBody<Program<In<float, 0>, In<float, 0>, In<float, 0>, .*Step<5, 11>, .*, 0>$", 96),
}

# Rows in shared memory or in chunks: one pointer is to either.
MAY_MIX = r"RowBody<.*, 1>$"


def kernels(text: str):
    """Name and body of every kernel."""
    parts = re.split(r"^\s*(?:\.visible |\.weak )?\.entry ", text, flags=re.MULTILINE)[1:]
    for part in parts:
        yield re.match(r"\w+", part).group(), part


def readable(name: str) -> str:
    """A kernel's name as a program is written, with numbers for enumerators."""
    text = subprocess.run(["c++filt", name], capture_output=True, text=True, check=True).stdout.strip()
    text = re.sub(r"\((?:\w+::)+\w+\)", "", text)
    text = re.sub(r"(?:\w+::)+", "", text)
    return re.sub(r"^void run_body<|, \w*Parameters<\d+>.*", "", text)


def report(ptxas: str, path: str, text: str):
    """Registers and bytes of local memory of every kernel, from ptxas."""
    target = re.search(r"^\.target (\w+)", text, re.MULTILINE).group(1)
    found = subprocess.run(
        [ptxas, "-v", f"-arch={target}", path, "-o", "/dev/null"], capture_output=True, text=True, check=True
    )
    entries = re.split(r"Compiling entry function '", found.stdout + found.stderr)[1:]
    for entry in entries:
        local = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", entry)
        registers = re.search(r"Used (\d+) registers", entry)
        yield re.match(r"\w+", entry).group(), int(registers.group(1)), sum(int(n) for n in local.groups())


def faults_of(program: str, body: str):
    """What is wrong with the code of any kernel."""
    if "st.global" not in body:
        yield "stores nothing"
    if re.search(r"^\s*(?:@!?%p\d+ )?call", body, re.MULTILINE):
        yield "calls a function"
    if re.search(r"\b(?:ld|st)\.local\b", body):
        yield "uses local memory"
    mixes = re.match(MAY_MIX, program)
    if not mixes and re.search(r"\b(?:ld|st)\.(?!global|param|shared|const|volatile|acquire|relaxed|release)", body):
        yield "does not know that its operands lie in global memory"
    if re.search(r"\b(?:div|rem)\.[us]\d+", body):
        yield "divides integers"
    for number, primitive in EXPONENTIALS.items():
        if re.search(rf"Step<{number}[,>]", program) and "ex2" not in body:
            yield f"computes no {primitive}"


def main() -> int:
    ptxas, faults, bodies, registers = sys.argv[1], [], {}, {}
    for path in sys.argv[2:]:
        text = open(path).read()
        programs = {}
        for name, body in kernels(text):
            programs[name] = readable(name)
            bodies[programs[name]] = body
            faults += [f"{programs[name]} {fault}" for fault in faults_of(programs[name], body)]
        for name, used, local in report(ptxas, path, text):
            registers[programs[name]] = used
            if local != 0:
                faults.append(f"{programs[name]} has {local} bytes of stack and spills")
    for title, (pattern, most) in NAMED.items():
        found = [program for program in bodies if re.match(pattern, program)]
        if len(found) != 1:
            faults.append(f"{title}: {len(found)} kernels, expected one")
        for program in found:
            if not re.search(r"ld\.global(\.nc)?\.v4\.[ubf]32", bodies[program]):
                faults.append(f"{title}: loads no 16 bytes at a time")
            if not re.search(r"st\.global\.v4\.[ubf]32", bodies[program]):
                faults.append(f"{title}: stores no 16 bytes at a time")
            if registers[program] > most:
                faults.append(f"{title}: {registers[program]} registers, more than {most}")
    for program, used in sorted(registers.items(), key=lambda item: -item[1]):
        print(f"{used:4} registers  {program[:140]}")
    print(f"{len(bodies)} kernels")
    print("\n".join(faults))
    return 1 if faults or not bodies else 0


if __name__ == "__main__":
    sys.exit(main())
