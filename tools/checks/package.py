#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The version and the repository's address, which CMakeLists.txt names, are those of every file that programs and package
managers read. `package.py --write` copies them there, and into the
documents' blocks."""

import re
import sys
from pathlib import Path

import readme
import tree

ADDRESS, VERSION = r"(?<=GIT_REPOSITORY )\S+", r"(?<=GIT_TAG v)[\d.]+"
PLACES = [
    ("tests/consumer/fetch_content/CMakeLists.txt", ADDRESS, VERSION),
    ("examples/project/CMakeLists.txt", ADDRESS, VERSION),
    ("packaging/vcpkg/ports/twill/portfile.cmake", r"(?<= URL )\S+", None),
    ("packaging/vcpkg/ports/twill/vcpkg.json", r'(?<="homepage": ")[^"]*', r'(?<="version": ")[^"]*'),
    ("conanfile.py", r'(?<=homepage = ")[^"]*', None),
    ("include/twill/core/config.hpp", None, r'(?<=#define TWILL_VERSION ")[^"]*'),
]


def places(root):
    """Each file, what has to be in it, the pattern of its place, and the file that says so."""
    project = (root / "CMakeLists.txt").read_text()
    address = re.search(r"HOMEPAGE_URL (\S+)", project)[1]
    version = re.search(r"project\(twill VERSION ([\d.]+)", project)[1]
    for file, of_address, of_version in PLACES:
        for pattern, value in ((of_address, address), (of_version, version)):
            if pattern and (root / file).exists():
                yield root / file, pattern, value


def check(root):
    for path, pattern, value in places(root):
        found = re.findall(pattern, path.read_text())
        if found != [value]:
            yield (f"{path.relative_to(root)}: names {', '.join(found) or 'nothing'} where CMakeLists.txt has {value}; "
                   "run tools/checks/package.py --write")


def write(root):
    for path, pattern, value in places(root):
        text = path.read_text()
        if (changed := re.sub(pattern, value, text)) != text:
            path.write_text(changed)


if __name__ == "__main__":
    if "--write" in sys.argv:
        sys.argv.remove("--write")
        root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
        write(root)
        readme.write(root)
    tree.run(check)
