#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Paths that Markdown files name in code spans exist: `include/twill/expr/node.hpp`, `tests/gpu`. So do those of files that
comments of headers name ("Read next: expr/node.hpp").

A span is a path when it begins with a folder of the tree and a slash. `*` and `<name>` stand for any name; what follows a
blank, such as a program's arguments, is not looked at. Layers may be named without include/twill.
"""

import re

import readme
import tree

FOLDERS = ("include", "tests", "bench", "examples", "tools", "cmake", "docs", *tree.LAYERS)
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
PATH = re.compile(rf"(?:{'|'.join(FOLDERS)})/[\w./*<>-]*$")
COMMENT = re.compile(r"//(.*)$", re.MULTILINE)
FILE = re.compile(rf"(?<![\w./<])(?:{'|'.join(FOLDERS)})/(?:[\w.]+/)*\w[\w.]*\.(?:hpp|cuh|cpp|cu|py|md|txt)\b")
# What the build or a program makes, and folders of programs that the examples write.
MADE = ("bench/results/local",)


def check(root):
    for document in readme.documents(root):
        text = re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.DOTALL | re.MULTILINE)
        for span in SPAN.findall(text):
            path = span.split()[0].rstrip("/.") if span.split() else ""
            if not PATH.match(path) or path.startswith(MADE):
                continue
            pattern = re.sub(r"<[^>]*>", "*", path)
            places = [base for base in (root, root / "include" / "twill") if any(base.glob(pattern))]
            # An example is named without its extension, as the program is called.
            if not places and not any(root.glob(pattern + ".c*")):
                yield f"{document.relative_to(root)}: `{span}` names {path}, which does not exist"
    for header in sorted((root / "include").glob("**/*.*")):
        for comment in COMMENT.findall(header.read_text()) if header.is_file() else ():
            for path in FILE.findall(comment):
                if not any((base / path).exists() for base in (root, root / "include" / "twill")):
                    yield f"{header.relative_to(root)}: a comment names {path}, which does not exist"


if __name__ == "__main__":
    tree.run(check)
