#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each file by itself: its length, its SPDX line, #pragma once, an opening paragraph, lines of 120 columns, namespaces as
ctags reads them, and no CUDA macros."""

import re

import tree

MOST_LINES = 500
MANY_LINES = 350
MOST_COLUMNS = 120
OPENING = re.compile(r"// (The same|What|Of|Who|Where|How|Which|As)\b")
OVERRIDE = re.compile(r"^(?!.*TWILL_BODY).*\b(\w+)\([^;{]*override;", re.MULTILINE)
COMPILER_MACRO = re.compile(r"\b(__CUDACC__|__CUDA_ARCH__)\b")


def without_comments(text: str) -> str:
    return re.sub(r"//.*", "", text)


def check(root):
    for path in tree.sources(root):
        name = path.relative_to(root).as_posix()
        text = path.read_text()
        lines = text.splitlines()
        is_header = path.suffix in (".hpp", ".ipp", ".cuh")
        if len(lines) > MOST_LINES:
            yield f"{name}: {len(lines)} lines; {MOST_LINES} are the most, one idea a file"
        elif len(lines) > MANY_LINES:
            print(f"note: {name} has {len(lines)} lines; {MANY_LINES} are many")
        if "SPDX-License-Identifier: Apache-2.0" not in "\n".join(lines[:2]):
            yield f"{name}: no SPDX line among the first two"
        if is_header and not text.startswith("#pragma once\n"):
            yield f"{name}: does not begin with #pragma once"
        if name.startswith("include/"):
            if len(lines) < 4 or not lines[3].startswith("// "):
                yield f"{name}: no opening paragraph"
            elif OPENING.match(lines[3]):
                yield f"{name}: the opening paragraph does not begin with a noun phrase: {lines[3]}"
            if re.search(r"^(inline )?namespace \w+::", text, re.MULTILINE):
                yield f"{name}: write `namespace a {{ namespace b {{` on one line: ctags and IDEs lose what is in a::b"
            for line in re.sub(r"// clang-format off.*?// clang-format on", "", text, flags=re.DOTALL).splitlines():
                if len(line) > MOST_COLUMNS:
                    yield f"{name}: {len(line)} columns, {MOST_COLUMNS} are the most: {line.strip()[:60]}"
            macro = COMPILER_MACRO.search(without_comments(text))
            if macro and name != "include/twill/core/config.hpp":
                yield f"{name}: {macro.group()} belongs to core/config.hpp only"
            body = path.with_suffix(".ipp")
            for function in OVERRIDE.findall(without_comments(text)) if path.suffix == ".hpp" and body.exists() else []:
                if f"::{function}(" in body.read_text():
                    yield f"{name}: {function}: TWILL_BODY before it, or each file gets the virtual table (core/config.hpp)"
            # The records of a table are listed once, by a macro that is expanded where they are declared and copied.
            if re.search(r"^\s*#\s*define (?!TWILL_LIST\(|TWILL_[A-Z]+_LISTS\()", text, re.MULTILINE) and \
                    name != "include/twill/core/config.hpp":
                yield f"{name}: defines a macro; those live in core/config.hpp"


if __name__ == "__main__":
    tree.run(check)
