#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a CTest file with one entry for each test case of a Catch2 program, 2 or 3:

    discover_tests.py --out FILE --program PROGRAM --prefix TEXT [--property NAME=VALUE]...

Catch2's own CMake script of version 2.13 takes names apart at semicolons and brackets; test names here are sentences.
"""

import argparse
import re
import subprocess


def names(program: str) -> list[str]:
    """The test cases of a program, as they were written."""
    for flags in (["--list-test-names-only"], ["--list-tests", "--verbosity", "quiet"]):
        result = subprocess.run([program, *flags], capture_output=True, text=True)
        lines = [line for line in result.stdout.splitlines() if line.strip()]
        if lines and "nrecogni" not in result.stdout + result.stderr:  # version 3 does not know the first way
            return lines
    raise SystemExit(f"discover_tests.py: {program} lists no tests")


def pattern(name: str) -> str:
    """A name as Catch2's test specification takes it."""
    return re.sub(r'([\\,\[\]"*~])', r"\\\1", name.strip())


def quoted(text: str) -> str:
    """A bracket argument of CMake."""
    return f"[==[{text}]==]"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--prefix", default="")
    parser.add_argument("--property", action="append", default=[])
    options = parser.parse_args()
    properties = " ".join(quoted(part) for item in options.property for part in item.split("=", 1))
    with open(options.out, "w") as file:
        for name in names(options.program):
            test = quoted(options.prefix + name.strip())
            file.write(f"add_test({test} {quoted(options.program)} {quoted(pattern(name))} --warn NoTests)\n")
            if properties:
                file.write(f"set_tests_properties({test} PROPERTIES {properties})\n")


if __name__ == "__main__":
    main()
