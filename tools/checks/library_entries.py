#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each entry into a vendor's library has a caller in include/: what only tests call is dead weight that looks like an ability.

Entries are the functions of the headers in ENTRIES, but for those in a namespace `detail`, and the epilogues of products. A
function counts as called where its name stands before a parenthesis in another place than its own declaration.
"""

import re

import tree

ENTRIES = re.compile(r"twill/device/cuda/(cublas|cudnn)\w*\.cuh$")
FUNCTION = re.compile(r"^(?:\[\[\w+\]\] )?(?:TWILL_EXPORT )?(?:constexpr|inline)\b[^=;{]*?\b(\w+)\(", re.MULTILINE)
EPILOGUES = ("twill/device/cuda/gemm.hpp", re.compile(r"enum class GemmEpilogue[^{]*\{(.*?)\};", re.DOTALL))
DESCRIBED = {"properties_from"}  # plans for a GPU that is only described, which tests have and programs do not


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def functions(text):
    """The names of the functions outside of `detail`, sorted."""
    outside = re.sub(r"^namespace [^\n]*\bdetail \{.*?^\}+ // namespace", "", text, flags=re.MULTILINE | re.DOTALL)
    return sorted({match.group(1) for match in FUNCTION.finditer(without_comments(outside))})


def check(root):
    texts = {header: without_comments((root / "include" / header).read_text()) for header in tree.headers(root) + tree.bodies(root)}
    for header in filter(ENTRIES.search, texts):
        for name in functions((root / "include" / header).read_text()):
            calls = re.compile(rf"\b{name}\(")
            places = sum(len(calls.findall(text)) for text in texts.values())
            own = len([match for match in FUNCTION.finditer(texts[header]) if match.group(1) == name])
            if places <= own and name not in DESCRIBED:
                yield f"include/{header}: nothing in include/ calls {name}; let models take it, or delete it"
    header, enumerators = EPILOGUES
    if header not in texts:
        return
    for name in re.findall(r"^\s*(\w+),", enumerators.search(texts[header]).group(1), re.MULTILINE):
        callers = [other for other, text in texts.items() if "/device/cuda/" not in other and f"GemmEpilogue::{name}" in text]
        if not callers:
            yield f"include/{header}: no operation asks for the epilogue {name}; let models take it, or delete it"


if __name__ == "__main__":
    tree.run(check)
