#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one misuse test: `run.py file.cpp compiler flags...`.

The file compiles as it stands. With -DMISUSE the compiler refuses it, and the first line of its output that contains
`error` contains the text of every `// expect: text` comment of the file. A comment `// expect[g++]: text` (or clang, or
nvcc) counts for that compiler only. A file that begins its paragraph with `// nvcc` is for nvcc too.
"""

import os
import re
import subprocess
import sys
from pathlib import Path


def family(compiler: str) -> str:
    name = Path(compiler).name
    return "clang" if "clang" in name else "nvcc" if "nvcc" in name else "g++"


def expectations(text: str, compiler: str) -> list[str]:
    found = re.findall(r"^// expect(?:\[([\w+]+)\])?: (.*)$", text, re.MULTILINE)
    return [expected.strip() for only, expected in found if only in ("", family(compiler))]


def compile_file(file: Path, command: list[str], defines: list[str]) -> tuple[int, str]:
    result = subprocess.run([*command, *defines, str(file)], text=True, errors="replace", stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "LC_ALL": "C"})
    return result.returncode, result.stdout


def faults(file: Path, command: list[str]):
    expected = expectations(file.read_text(), command[0])
    if not expected:
        yield "it has no `// expect:` comment"
        return
    status, output = compile_file(file, command, [])
    if status != 0:
        yield f"the legal twin does not compile:\n{output[:4000]}"
        return
    status, output = compile_file(file, command, ["-DMISUSE"])
    if status == 0:
        yield "the misuse compiles"
        return
    first = next((line for line in output.splitlines() if "error" in line), "")
    first = re.sub(r"\b(\d+)[uUlL]+\b", r"\1", first)  # nvcc prints 12L where the others print 12
    for text in expected:
        if text not in first:
            yield f"the first line with `error` lacks the sentence\n  expected: {text}\n  got:      {first[:2000]}"
    if not first:
        yield f"the compiler failed without a line that contains `error`:\n{output[:4000]}"


def main() -> int:
    file, command = Path(sys.argv[1]), sys.argv[2:]
    found = list(faults(file, command))
    for fault in found:
        print(f"{file.name}: {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
