#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Umbrellas are complete: X.hpp beside X/ includes every public header of X, sorted, and holds nothing else.

`twill/twill.hpp` is tensors, models and training; `twill/all.hpp` adds the layers of tree.BESIDE. A header under detail/ is not
public. Those under gpu/ and all .cuh belong to `twill/cuda.cuh` and `twill/all.cuh`, so that programs without a GPU do not pay
for them. One that needs a third-party library says `Not in the umbrella` in its opening paragraph and is left out; one that most
programs do not need says `Not in twill.hpp`, and `twill/all.hpp` includes it by its name, as src/constexpr.cpp does where it has
functions with TWILL_CONSTEXPR. src/X.cpp includes every .ipp of X, for the compiled library. `umbrellas.py --write` brings the
include lists up to date.
"""

import re
import sys
from pathlib import Path

import tree

OPENING = """#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// {text}

"""


# Constexpr functions for use at run time, which programs of the compiled library call.
CONSTEXPR = "src/constexpr.cpp"
# What expressions over tensors of GPUs need.
EXPRESSION_LAYERS = ["device", "memory", "kernel", "tensor", "expr"]


def opening_of(root: Path, header: str) -> str:
    return (root / "include" / header).read_text().split("\n#include", 1)[0]


def is_public(root: Path, header: str) -> bool:
    return "/detail/" not in header and "Not in the umbrella" not in opening_of(root, header)


def is_apart(root: Path, header: str) -> bool:
    return "Not in twill.hpp" in opening_of(root, header)


def apart(root: Path) -> list[str]:
    """Headers of the layers of twill.hpp that it leaves to all.hpp, one by one."""
    return [h for h in tree.headers(root) if h.count("/") > 1 and is_apart(root, h)]


def is_of_gpus(header: str) -> bool:
    return "/gpu/" in header or "/cuda/" in header or header.endswith(".cuh")


def wanted(root: Path, layer: str) -> list[str]:
    return [h for h in tree.headers(root)
            if h.startswith(f"twill/{layer}/") and not is_of_gpus(h) and is_public(root, h) and not is_apart(root, h)]


def wanted_of_gpus(root: Path, layers: list[str]) -> list[str]:
    return [h for h in tree.headers(root) if h.count("/") > 1 and is_of_gpus(h) and is_public(root, h)
            and h.split("/")[1] in layers and h.split("/")[1] not in tree.APART]


def umbrellas(root: Path) -> dict[str, list[str]]:
    """Each umbrella that has to exist, with its includes."""
    result = {f"twill/{layer}.hpp": wanted(root, layer) for layer in tree.LAYERS}
    result = {name: content for name, content in result.items() if content}
    later = [f"twill/{layer}.hpp" for layer in tree.BESIDE if f"twill/{layer}.hpp" in result]
    result["twill/twill.hpp"] = sorted(set(result) - set(later))
    result["twill/all.hpp"] = sorted(["twill/twill.hpp", *later, *apart(root)])
    for layer in tree.APART:
        if of_layer := [h for h in tree.headers(root)
                        if h.startswith(f"twill/{layer}/") and is_of_gpus(h) and is_public(root, h)]:
            result[f"twill/{layer}.cuh"] = sorted([f"twill/{layer}.hpp", *of_layer])
    if of_gpus := wanted_of_gpus(root, [layer for layer in tree.LAYERS if layer not in tree.BESIDE]):
        result["twill/cuda.cuh"] = sorted(["twill/twill.hpp", *of_gpus])
        result["twill/all.cuh"] = sorted(["twill/all.hpp", "twill/cuda.cuh", *wanted_of_gpus(root, tree.BESIDE)])
        result["twill/expr.cuh"] = sorted(["twill/expr.hpp", *(h for h in wanted_of_gpus(root, EXPRESSION_LAYERS)
                                                               if "Not in expr.cuh" not in opening_of(root, h))])
    return result


def library_sources(root: Path) -> dict[str, list[str]]:
    """Each source of the compiled library that has to exist, with the bodies that it includes."""
    result = {f"src/{layer}.cpp": [b for b in tree.bodies(root) if b.startswith(f"twill/{layer}/")] for layer in tree.LAYERS}
    return {name: content for name, content in result.items() if content}


def check(root: Path):
    for name, content in library_sources(root).items():
        if not (root / name).exists() or tree.INCLUDE.findall((root / name).read_text()) != content:
            yield f"{name}: does not include all bodies of its layer and nothing else; run tools/checks/umbrellas.py --write"
    for header in apart(root):
        if "TWILL_CONSTEXPR" not in (root / "include" / header).read_text():
            continue
        if (root / CONSTEXPR).exists() and header not in tree.INCLUDE.findall((root / CONSTEXPR).read_text()):
            yield f"{CONSTEXPR}: does not include {header}, whose constexpr functions the compiled library has to have"
    for name, content in umbrellas(root).items():
        path = root / "include" / name
        if not path.exists():
            yield f"{name}: missing; run tools/checks/umbrellas.py --write"
            continue
        listed = tree.includes(root, name)
        for header in content:
            if header not in listed:
                yield f"{name}: does not include {header}"
        for header in listed:
            if header not in content:
                yield f"{name}: includes {header}, which is no public header of this layer"
        body = re.sub(r"^(#pragma once|#include .*|//.*|)$", "", path.read_text(), flags=re.MULTILINE)
        if body.strip():
            yield f"{name}: holds more than includes: {body.strip().splitlines()[0]}"


def write(root: Path) -> None:
    for name, content in umbrellas(root).items():
        path = root / "include" / name
        if path.exists():
            opening = path.read_text().split("#include", 1)[0]
        elif name == "twill/twill.hpp":
            opening = OPENING.format(text="Tensors, models and training on hosts. Each layer has an umbrella of its own, and every header can be included\n// alone.")
        elif name == "twill/all.hpp":
            opening = OPENING.format(text="Everything for hosts: twill.hpp with data sets, files, several devices and profiling.")
        elif name == "twill/cuda.cuh":
            opening = OPENING.format(text="Tensors, models and training on hosts and CUDA, for files that nvcc compiles.")
        elif name == "twill/all.cuh":
            opening = OPENING.format(text="Everything for hosts and CUDA, for files that nvcc compiles.")
        elif name == "twill/expr.cuh":
            opening = OPENING.format(text="Tensors and expressions for hosts and CUDA, without models, for files that nvcc compiles.")
        else:
            opening = OPENING.format(text=f"All of {path.stem}/." if path.suffix == ".hpp" else f"All of {path.stem}/, for files that nvcc compiles.")
        path.write_text(opening + "".join(f"#include <{header}>\n" for header in content))
    for name, content in library_sources(root).items():
        opening = f"// SPDX-License-Identifier: Apache-2.0\n//\n// Bodies of {Path(name).stem}/ in the compiled library.\n\n"
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(opening + "".join(f"#include <{body}>\n" for body in content))


if __name__ == "__main__":
    if "--write" in sys.argv:
        sys.argv.remove("--write")
        write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
    else:
        tree.run(check)
