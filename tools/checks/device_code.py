#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Headers that device code includes hold nothing that nvcc translates to something wrong without a word.

These are the headers of core/ and kernel/ that those of kernel/gpu and kernel/cuda reach; memory/ and device/ are code of the
host. Refused are the counting functions of <bit>, which become constants for 64-bit numbers (core/bits.hpp has those that
kernels need), and functions that read a table of the compiler at a place which is only known at run time, which become `trap`:
whatever indexes `summary_of<P>.lines` and its kin by a variable has to be consteval.
"""

import re

import tree

ROOTS = ("twill/kernel/gpu/", "twill/kernel/cuda/")
LAYERS = ("core", "kernel")
COUNTS = re.compile(r"\bstd::(bit_width|bit_ceil|bit_floor|countl_\w+|countr_\w+|popcount|has_single_bit)\b")
# The value of a table that exists at compile time, indexed by a lower-case name: constants of templates are upper case.
TABLE = re.compile(r"\b\w*(?:summary|plan)_of<P>(?:\.lines)?\[(?:static_cast<\w+(?:::\w+)*>\()?[a-z]\w*\b")


def reached(root):
    """The headers that device code includes, sorted."""
    every = set(tree.headers(root))
    waiting = [header for header in every if header.startswith(ROOTS)]
    found = set()
    while waiting:
        header = waiting.pop()
        if header in every and header not in found:
            found.add(header)
            waiting += tree.includes(root, header)
    return sorted(header for header in found if header.split("/")[1] in LAYERS)


def check(root):
    for header in reached(root):
        lines = (root / "include" / header).read_text().splitlines()
        for number, line in enumerate(lines, 1):
            code = line.split("//")[0]
            for name in COUNTS.findall(code):
                yield f"include/{header}:{number}: std::{name} is wrong in device code; core/bits.hpp counts bits"
            if header.startswith(ROOTS) and TABLE.search(code) and not is_constant(lines, number - 1):
                yield (
                    f"include/{header}:{number}: reads a table of the compiler at a place known at run time, which traps in "
                    "device code; make the function consteval"
                )


def is_constant(lines, at):
    """Whether the line, or the head of a function or lambda around it, is consteval."""
    indent = len(lines[at]) - len(lines[at].lstrip())
    while True:
        if re.search(r"\bconsteval\b", lines[at]):
            return True
        above = [i for i in range(at) if lines[i].strip() and len(lines[i]) - len(lines[i].lstrip()) < indent]
        if not above or indent == 0:
            return False
        at = above[-1]
        indent = len(lines[at]) - len(lines[at].lstrip())


if __name__ == "__main__":
    tree.run(check)
