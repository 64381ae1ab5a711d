#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source file is as clang-format 14 leaves it. Ends with 4 (skipped) where that version is not installed."""

import shutil
import subprocess
import sys

import tree

TOOL = shutil.which("clang-format-14")


def check(root):
    # not --dry-run, which in version 14 reports correct comments behind nested inline namespaces
    for path in tree.sources(root):
        formatted = subprocess.run([TOOL, path], cwd=root, capture_output=True, text=True, check=True).stdout
        if formatted != path.read_text():
            yield f"{path.relative_to(root).as_posix()}: run clang-format-14 -i on it"


if __name__ == "__main__":
    if TOOL is None:
        print("skipped: clang-format-14 is not installed")
        sys.exit(4)
    tree.run(check)
