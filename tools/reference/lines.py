# SPDX-License-Identifier: Apache-2.0
"""Lines of code of the reference, from tests/reference, and which line shows which name.

A line is a block on one line, `{ const Tensor y = exp(x); }`; what comments above it and above functions say becomes text.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from layout import Page


@dataclass
class Line:
    code: str
    note: str     # a comment above it
    section: str  # under whose comment it stands


@dataclass
class Code:
    lines: list[Line] = field(default_factory=list)
    sections: dict[str, str] = field(default_factory=dict)


def code_of(root: Path, page: Page) -> Code:
    """Lines of the page's files: those in braces of their own, and what comments say of them and of sections."""
    code = Code()
    here = ""
    folder = root / "tests/reference"
    for path in [*sorted(folder.glob(f"{page.file}*.cpp")), *sorted(folder.glob("gpu*.cu"))]:
        comment: list[str] = []
        for line in path.read_text().splitlines():
            text = line.strip()
            if text.startswith("// "):
                comment.append(text[3:])
                continue
            said = " ".join(comment)
            comment = []
            title = said.split(": ")[0]
            if any(title == section.title for section in page.sections):
                here = title
                code.sections[title] = said[len(title) + 2:]
            elif text.startswith("{ ") and text.endswith(" }"):
                code.lines.append(Line(text[2:-2], said, here))
    return code


def words_of(line: Line) -> list[str]:
    """The names that a line spells, without those of its variables."""
    text = re.sub(r'"[^"]*"', '""', line.code)
    text = re.sub(r"(?<= )(?:\w+|\[[\w, ]+\]) = ", " = ", text)
    return re.findall(r"(?<![\w:.])[A-Za-z_]\w*(?:::\w+)*", text)


def assign(sections: dict[str, list[str]], lines: list[Line]) -> dict[tuple[str, str], Line]:
    """The line of each name of each section. A line shows the first name of its section that it spells and no line above it
    shows; what is left takes the first line that spells it, of its section or else of the page."""
    shown: dict[tuple[str, str], Line] = {}
    for line in lines:
        for word in words_of(line):
            if word in sections.get(line.section, ()) and (line.section, word) not in shown:
                shown[line.section, word] = line
                break
    for section, names in sections.items():
        for name in names:
            if (section, name) not in shown:
                fitting = [line for line in lines if name in words_of(line)]
                fitting.sort(key=lambda line: line.section != section)
                if fitting:
                    shown[section, name] = fitting[0]
    return shown
