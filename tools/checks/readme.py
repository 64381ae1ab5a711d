#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Markdown files of the tree: code in them is a region of a file that is compiled and run, and links lead somewhere.

A block of C++, CMake or Python is announced by `<!-- examples/03_tour.cpp: region -->` on the line above it; the file marks the
region by the lines `// region: name` and `// end region` (`#` in Python). Indentation common to the region is removed before
both are compared. Python files have to parse. Blocks of other languages are free, but a block has to name its language,
and what the commands of a shell name in the tree exists.
Pages of docs/reference are written, and their blocks are compiled elsewhere. Relative links name a file or folder, and an anchor a heading of the Markdown file that they lead to. examples/README.md
lists all examples with what they print. README's table of results is what tools/readme_table.py makes. `--write` brings the announced blocks up to date with their regions.
"""

import ast
import re
import sys
import textwrap
from pathlib import Path

import tree

sys.path.append(str(Path(__file__).resolve().parents[1]))
import readme_table

BLOCK = re.compile(r"^(?:<!-- (\S+): ([\w-]+) -->\n)?```([\w+-]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\]\(\s*<?([^)\s>]*)>?[^)]*\)|^ {0,3}\[[^\]]+\]:\s*(\S+)|<(?:img|a)\b[^>]*?(?:src|href)=\"([^\"]*)\"", re.MULTILINE)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
ELSEWHERE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
REGION_LANGUAGES = ("cpp", "python", "cmake")
COMMAND = re.compile(r"(?<![\w./=-])(?:tools|bench|tests|examples|docs|\.ci)/[\w./-]*\w")
RUN = ("examples", "tests", "bench", "docs")  # folders whose programs are compiled and run


def documents(root):
    """Paths of all Markdown files, those of build folders and hidden ones apart."""
    for path in sorted(root.rglob("*.md")):
        parts = path.relative_to(root).parts
        if not any(part.startswith(("build", ".")) for part in parts[:-1]):
            yield path


def region(text: str, name: str) -> str | None:
    match = re.search(rf"^ *(?://|#) region: {re.escape(name)}\n(.*?)^ *(?://|#) end region", text, re.DOTALL | re.MULTILINE)
    return textwrap.dedent(match.group(1)) if match else None


def block_fault(root, file: str, name: str, language: str, block: str, is_written: bool) -> str | None:
    first = block.splitlines()[0] if block else ""
    if not file:
        if not language:
            return f"a block that does not name its language: {first}"
        if language in REGION_LANGUAGES and not is_written:
            return f"a block without `<!-- file: region -->` above it: {first}"
        commands = re.sub(r" #.*", "", block) if language == "sh" else ""
        missing = [path for path in COMMAND.findall(commands) if not (root / path).exists()]
        return f"a command names {missing[0]}, which does not exist" if missing else None
    if file.split("/")[0] not in RUN:
        return f"{file} is in none of the folders whose programs are run"
    if not (root / file).exists():
        return f"{file} does not exist"
    text = (root / file).read_text()
    if file.endswith(".py"):
        try:
            ast.parse(text)
        except SyntaxError as error:
            return f"{file}: {error}"
    expected = region(text, name)
    if expected is None:
        return f"{file} has no region {name}"
    if expected.rstrip() != block.rstrip():
        return f"the block differs from region {name} of {file}; it should read\n{expected}"
    return None


def prose(text: str) -> str:
    """The text without its blocks of code."""
    return BLOCK.sub("", text)


def anchors(text: str) -> set[str]:
    """The anchors that GitHub makes of headings."""
    found: set[str] = set()
    for heading in HEADING.findall(prose(text)):
        heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = 0
        while (slug if number == 0 else f"{slug}-{number}") in found:
            number += 1
        found.add(slug if number == 0 else f"{slug}-{number}")
    return found


def link_fault(root, path, link: str) -> str | None:
    place, _, anchor = link.partition("#")
    target = (path.parent / place).resolve() if place else path.resolve()
    if not target.is_relative_to(root.resolve()) or not target.exists():
        return f"the link {link} leads nowhere"
    if anchor and target.suffix == ".md" and anchor not in anchors(target.read_text()):
        return f"the link {link} names no heading of {target.relative_to(root.resolve())}"
    return None


def example_faults(root):
    """Each program of examples/ has a line in the list there, with what it has to print."""
    lines = (root / "examples/README.md").read_text().splitlines() if (root / "examples/README.md").exists() else []
    for path in sorted(p for p in (root / "examples").glob("**/*.c*") if p.suffix in (".cpp", ".cu") and not tree.is_built(root, p)):
        file = path.relative_to(root / "examples").as_posix()
        row = next((line for line in lines if line.startswith(f"| [{file}]")), None)
        if row is None:
            yield f"examples/README.md: {file} has no line"
            continue
        for text in re.findall(r"^// prints: (.*)$", path.read_text(), re.MULTILINE):
            if f"`{text}`" not in row:
                yield f"examples/README.md: the line of {file} lacks what it prints: {text}"


def check(root):
    yield from example_faults(root)
    for document in ("README.md", "CONTRIBUTING.md"):
        if not (root / document).exists():
            yield f"{document}: missing"
    if (wrong := readme_table.fault(root)) is not None:
        yield wrong
    for path in documents(root):
        text = path.read_text()
        is_written = path.parent == root / "docs/reference"  # tools/checks/reference_pages.py knows their code
        faults = [block_fault(root, *match.groups(), is_written) for match in BLOCK.finditer(text)]
        for found in LINK.findall(CODE_SPAN.sub("", prose(text))):
            link = "".join(found)
            if not ELSEWHERE.match(link):
                faults.append(link_fault(root, path, link))
        yield from (f"{path.relative_to(root)}: {fault}" for fault in faults if fault)


def write(root):
    """Replaces what stands in announced blocks by their regions, where there are such."""
    def current(match):
        file, name, language, block = match.groups()
        expected = region((root / file).read_text(), name) if file and (root / file).exists() else None
        return match[0] if expected is None else f"<!-- {file}: {name} -->\n```{language}\n{expected.rstrip()}\n```"

    for path in documents(root):
        text = path.read_text()
        if (changed := BLOCK.sub(current, text)) != text:
            path.write_text(changed)


if __name__ == "__main__":
    if "--write" in sys.argv:
        write(Path(__file__).resolve().parents[2])
        sys.argv.remove("--write")
    tree.run(check)
