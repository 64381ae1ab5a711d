#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs misuse tests: `run.py file.cpp compiler flags...`, or `run.py --twins files.cpp... -- compiler flags...`.

With -DMISUSE the compiler refuses a file, and the first line of its output that contains `error` contains the text of every
`// expect: text` comment of the file. A comment `// expect[g++]: text` (or clang, or nvcc) counts for that compiler only. A
file that begins its paragraph with `// nvcc` is for nvcc too. All that g++ or clang says, as a user sees it, has at most
`most_lines` lines, or those of a comment `// lines: 60`, or `// lines[clang]: 60`.

Without -DMISUSE each file compiles: its legal twin. Those are compiled many at once, each in a namespace of its own, which
takes a quarter of the time.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


most_lines = 40


def family(compiler: str) -> str:
    name = Path(compiler).name
    return "clang" if "clang" in name else "nvcc" if "nvcc" in name else "g++"


def expectations(text: str, compiler: str) -> list[str]:
    found = re.findall(r"^// expect(?:\[([\w+]+)\])?: (.*)$", text, re.MULTILINE)
    return [expected.strip() for only, expected in found if only in ("", family(compiler))]


def lines_allowed(text: str, compiler: str) -> int:
    found = re.findall(r"^// lines(?:\[([\w+]+)\])?: (\d+)$", text, re.MULTILINE)
    return max([most_lines, *(int(lines) for only, lines in found if only in ("", family(compiler)))])


def run_compiler(command: list[str]) -> tuple[int, str]:
    result = subprocess.run(command, text=True, errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, env={**os.environ, "LC_ALL": "C"})
    return result.returncode, result.stdout


def as_text(characters: re.Match) -> str:
    """nvcc prints {'a', 'b', '\\000'} where the others print "ab"."""
    return '"' + "".join(re.findall(r"'(.)', ", characters[1])) + '"'


def faults(file: Path, command: list[str]):
    source = file.read_text()
    expected = expectations(source, command[0])
    if not expected:
        yield "it has no `// expect:` comment"
        return
    status, output = run_compiler([*command, "-DMISUSE", str(file)])
    if status == 0:
        yield "the misuse compiles"
        return
    first = next((line for line in output.splitlines() if re.search(r"\berror:", line)), "")
    first = re.sub(r"\b(\d+)[uUlL]+\b", r"\1", first)  # nvcc prints 12L where the others print 12
    first = re.sub(r"\{((?:'.', )*)'\\000'\}", as_text, first)
    for text in expected:
        if text not in first:
            yield f"the first line with `error` lacks the sentence\n  expected: {text}\n  got:      {first[:2000]}"
    count, allowed = output.count("\n"), lines_allowed(source, command[0])
    if family(command[0]) != "nvcc" and count > allowed:
        yield f"the compiler says {count} lines, at most {allowed} are wanted:\n{output[:4000]}"
    if not first:
        yield f"the compiler failed without a line that contains `error`:\n{output[:4000]}"


def twins(files: list[Path]) -> str:
    """One source of many. Their includes stand before the namespaces, and so do nothing inside of them."""
    includes = {line for file in files for line in file.read_text().splitlines() if line.startswith("#include")}
    parts = [f'namespace twin_{number} {{\n#include "{file}"\n}}\n' for number, file in enumerate(files)]
    return "\n".join([*sorted(includes), *parts])


def faults_of_twins(files: list[Path], command: list[str]):
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "twins.cpp"
        source.write_text(twins(files))
        status, output = run_compiler([*command, str(source)])
    if status != 0:
        yield f"a legal twin does not compile:\n{output[:8000]}"


def main() -> int:
    if sys.argv[1] == "--twins":
        split = sys.argv.index("--")
        found = list(faults_of_twins([Path(name) for name in sys.argv[2:split]], sys.argv[split + 1:]))
    else:
        file, command = Path(sys.argv[1]), sys.argv[2:]
        found = [f"{file.name}: {fault}" for fault in faults(file, command)]
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
