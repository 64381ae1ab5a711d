#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What two object files of one source, compiled for two instruction sets, would share when they are linked.

A function that both define under one name is taken from either of them. That is harmless as long as it leads to no kernel:
a name without an instruction set must not refer to a name with one. Prints every breach.

usage: shared_code.py <baseline object> <wide object>
"""

import re
import subprocess
import sys

# How the inline namespaces of core/config.hpp are mangled: length and name.
TAG = re.compile(r"(?:8baseline|4avx2|6avx512)")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def shared_names(path):
    """The weak symbols that an object defines."""
    names = set()
    for line in run("nm", "--defined-only", path).splitlines():
        kind, name = line.split()[-2:]
        if kind in "WVuw":
            names.add(name)
    return names


def references(path):
    """Section name -> the symbols that its relocations name."""
    found = {}
    section = None
    for line in run("readelf", "--wide", "--relocs", path).splitlines():
        heading = re.match(r"Relocation section '\.rela\.(.*)' at", line)
        if heading:
            section = heading.group(1)
            continue
        words = line.split()
        if section is not None and len(words) >= 5 and words[2].startswith("R_X86_64"):
            found.setdefault(section, set()).add(words[4])
    return found


def owner(section):
    """The symbol that a section of one symbol is named after."""
    match = re.match(r"(?:text(?:\.unlikely|\.hot|\.startup)?|data\.rel\.ro(?:\.local)?|data\.rel(?:\.local)?|data|rodata|bss)\.(.+)", section)
    return match.group(1) if match else None


def main(baseline, wide):
    shared = shared_names(baseline) & shared_names(wide)
    breaches = {}
    for section, names in references(wide).items():
        symbol = owner(section)
        if symbol is None or symbol not in shared or TAG.search(symbol):
            continue
        tagged = sorted(name for name in names if TAG.search(name))
        if tagged:
            breaches[symbol] = tagged[0]
    tagged_and_shared = [name for name in shared if TAG.search(name)]
    for symbol, target in sorted(breaches.items()):
        names = run("c++filt", symbol, target).splitlines()
        print(f"{names[0][:300]}\n    refers to {names[1][:200]}")
    for symbol in tagged_and_shared:
        print(f"shared in spite of its instruction set: {symbol}")
    print(f"{len(shared)} shared names, {len(breaches)} lead to kernels")
    return 1 if breaches or tagged_and_shared or not shared else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
