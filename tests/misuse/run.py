#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs misuse tests: `run.py file.cpp compiler flags...`, or with `--together` or `--twins`
`run.py --twins files.cpp... -- compiler flags...`.

With -DMISUSE the compiler refuses a file, and the first line of its output that contains `error` contains the text of every
`// expect: text` comment of the file. A comment `// expect[g++]: text` (or clang, or nvcc) counts for that compiler only. A
file that begins its paragraph with `// nvcc` is for nvcc too. All that g++ or clang says, as a user sees it, has at most
`most_lines` lines, or those of a comment `// lines: 60`, or `// lines[clang]: 60`.

With `--together` the files are compiled as one, each in a namespace of its own, and each has an error with its texts: for
nvcc, which takes ten seconds for each call.

Without -DMISUSE each file compiles: its legal twin. Those, too, are compiled as one.
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


def errors(output: str):
    """The lines with an error, as g++ prints numbers and texts."""
    for line in output.splitlines():
        if re.search(r"\berror:", line):
            line = re.sub(r"\b(\d+)[uUlL]+\b", r"\1", line)  # nvcc prints 12L
            yield re.sub(r"\{((?:'.', )*)'\\000'\}", as_text, line)


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
    first = next(errors(output), "")
    for text in expected:
        if text not in first:
            yield f"the first line with `error` lacks the sentence\n  expected: {text}\n  got:      {first[:2000]}"
    count, allowed = output.count("\n"), lines_allowed(source, command[0])
    if count > allowed:
        yield f"the compiler says {count} lines, at most {allowed} are wanted:\n{output[:4000]}"
    if not first:
        yield f"the compiler failed without a line that contains `error`:\n{output[:4000]}"


def together(files: list[Path], command: list[str]) -> tuple[int, str]:
    """Compiles many as one source. Their includes stand before the namespaces, and so do nothing inside of them."""
    includes = {line for file in files for line in file.read_text().splitlines() if line.startswith("#include")}
    parts = [f'namespace file_{number} {{\n#include "{file}"\n}}\n' for number, file in enumerate(files)]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "together.cpp"
        source.write_text("\n".join([*sorted(includes), *parts]))
        return run_compiler([*command, str(source)])


def faults_together(files: list[Path], command: list[str]):
    """Takes rounds: nvcc instantiates functions at the end of a source only where it has found no error before."""
    left, was = files, len(files) + 1
    while left and len(left) < was:
        was = len(left)
        status, output = together(left, [*command, "-DMISUSE"])
        lines = list(errors(output))
        wanted = {file: expectations(file.read_text(), command[0]) for file in left}
        left = [file for file, texts in wanted.items()
                if not any(texts and all(text in line for text in texts) for line in lines)]
    for file in left:
        yield f"{file.name}: no error has its sentence\n  expected: {wanted[file]}\n{output[:4000]}"


def faults_of_twins(files: list[Path], command: list[str]):
    status, output = together(files, command)
    if status != 0:
        yield f"a legal twin does not compile:\n{output[:8000]}"


def main() -> int:
    if sys.argv[1] in ("--together", "--twins"):
        split = sys.argv.index("--")
        check = faults_together if sys.argv[1] == "--together" else faults_of_twins
        found = list(check([Path(name) for name in sys.argv[2:split]], sys.argv[split + 1:]))
    else:
        file, command = Path(sys.argv[1]), sys.argv[2:]
        found = [f"{file.name}: {fault}" for fault in faults(file, command)]
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
