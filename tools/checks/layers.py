#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Layer order: a header includes its own layer or an earlier one of tree.LAYERS, never an umbrella of its own layer, and uses
no `detail` of another one: `x::detail::` belongs to the layers that open that namespace."""

import re
from collections import Counter, defaultdict

import tree

OPENED = re.compile(r"^((?:(?:inline )?namespace \w+ \{ ?)+)|^(\}+)", re.MULTILINE)
USED = re.compile(r"\b(\w+)::detail::")
# Uses that are left, by layer and namespace. These numbers only become smaller.
LEFT = {("parallel", "graph"): 1}


def layer_of(header: str) -> str:
    """`twill/tensor/view.hpp` and the umbrella `twill/tensor.hpp` belong to `tensor`; `twill/twill.hpp` to none."""
    parts = header.split("/")
    name = parts[1] if len(parts) > 2 else parts[1].rsplit(".", 1)[0]
    return name if name in tree.LAYERS else ""


def check(root):
    for header in tree.headers(root) + tree.bodies(root):
        own = layer_of(header)
        is_umbrella = header.count("/") == 1
        if not own and not is_umbrella:
            yield f"{header}: its folder is none of the layers {', '.join(tree.LAYERS)}"
        for included in tree.includes(root, header):
            if not included.startswith("twill/"):
                if included.endswith((".hpp", ".cuh")) and (root / "include" / header).parent.joinpath(included).exists():
                    yield f"{header}: includes {included}; write the full path from twill/"
                continue
            other = layer_of(included)
            if own and not other:
                yield f"{header}: includes {included}, which belongs to no layer"
            elif own and tree.LAYERS.index(other) > tree.LAYERS.index(own):
                yield f"{header}: layer {own} includes {included} of the later layer {other}"
            elif own and not is_umbrella and included == f"twill/{own}.hpp":
                yield f"{header}: includes the umbrella of its own layer"
            elif "/detail/" in included and own != other:
                yield f"{header}: includes {included}, a detail of another layer"


    yield from foreign_details(root)


def detail_owners(texts: dict[str, str]) -> dict[str, set[str]]:
    """For each namespace with a `detail` in it, the layers that open it."""
    owners = defaultdict(set)
    for header, text in texts.items():
        stack = []
        for opened, closed in OPENED.findall(text):
            if closed:
                del stack[-len(closed):]
                continue
            for name in re.findall(r"namespace (\w+) \{", opened):
                if name == "detail":
                    owners[next((n for n in reversed(stack) if n not in ("v0", "TWILL_ISA")), "")].add(layer_of(header))
                stack.append(name)
    return owners


def foreign_details(root):
    texts = {h: re.sub(r"//.*", "", (root / "include" / h).read_text()) for h in tree.headers(root) + tree.bodies(root)}
    owners = detail_owners(texts)
    uses, places = Counter(), {}
    for header, text in texts.items():
        for namespace in USED.findall(text):
            if namespace != "std" and layer_of(header) not in owners[namespace]:
                uses[layer_of(header), namespace] += 1
                places[layer_of(header), namespace] = header
    for (layer, namespace), count in uses.items():
        most = LEFT.get((layer, namespace), 0)
        if count > most:
            yield (f"{places[layer, namespace]}: layer {layer} uses {namespace}::detail:: of another layer {count} times, at "
                   f"most {most} are left; give what is shared a name outside of detail")
        elif count < most:
            print(f"note: layer {layer} uses {namespace}::detail:: of another layer {count} times, layers.py says {most}")


if __name__ == "__main__":
    tree.run(check)
