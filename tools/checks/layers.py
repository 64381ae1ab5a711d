#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Layer order: a header includes its own layer or an earlier one of tree.LAYERS, and never an umbrella of its own layer."""

import tree


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


if __name__ == "__main__":
    tree.run(check)
