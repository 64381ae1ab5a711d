# SPDX-License-Identifier: Apache-2.0
"""What the checks share: the headers of a tree, their includes, and how a check reports and ends."""

import re
import sys
from pathlib import Path

# A file includes its own layer or an earlier one.
LAYERS = [
    "core", "device", "memory", "kernel", "elementwise", "tensor", "graph", "compile", "expr",
    "ops", "linalg", "fft", "sparse", "nn", "optim", "training", "data", "io", "parallel", "profile",
    "algorithms",
]
# Layers that <twill/twill.hpp> leaves to <twill/all.hpp>.
BESIDE = ["linalg", "fft", "sparse", "data", "io", "parallel", "profile"]
# Layers whose .cuh headers no other umbrella includes, because they need a library that takes long to compile.
APART = ["algorithms"]

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def headers(root: Path) -> list[str]:
    """Paths of all headers, relative to include/, sorted."""
    base = root / "include"
    found = [p for pattern in ("*.hpp", "*.cuh") for p in (base / "twill").rglob(pattern)]
    return sorted(p.relative_to(base).as_posix() for p in found)


def bodies(root: Path) -> list[str]:
    """Paths of all files with the bodies of a header's functions, relative to include/, sorted."""
    base = root / "include"
    return sorted(p.relative_to(base).as_posix() for p in (base / "twill").rglob("*.ipp"))


def includes(root: Path, header: str) -> list[str]:
    """What a header includes, in order, as written."""
    return INCLUDE.findall((root / "include" / header).read_text())


def sources(root: Path) -> list[Path]:
    """Every C++ and CUDA source file that the project wrote."""
    folders = ("include", "src", "tests", "bench", "examples", "tools")
    kinds = (".hpp", ".ipp", ".cuh", ".cpp", ".cu")
    found = [p for f in folders for p in (root / f).rglob("*") if p.suffix in kinds and p.is_file()]
    return sorted(p for p in found if not is_built(root, p))


def is_built(root: Path, path: Path) -> bool:
    """Whether a file lies in a build folder, where somebody has built a sample of the tree in its place."""
    return any(part.startswith("build") for part in path.relative_to(root).parts[:-1])


def run(check) -> None:
    """Runs `check(root)`, which yields one sentence for each fault, and ends with 1 if there was any."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    faults = list(check(root))
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)
