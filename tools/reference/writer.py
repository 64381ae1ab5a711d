#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages of the reference, one for each area, from the comments of the headers and lines of compiled code.

reference_names.py reads the headers, reference_layout.py says which header belongs to which page, and reference_lines.py reads
the code in tests/reference. A line shows the first name of its section that no line above it shows: `{ const Tensor y =
exp(x); }` shows `exp`. `// Losses: ...` there is the text under a section's heading, and `// PyTorch: ...` above a line that
of the name. `reference_writer.py` writes docs/reference; tools/checks/reference_pages.py compares.
"""

import re
import sys
import tempfile
from collections import defaultdict
from fnmatch import fnmatchcase
from pathlib import Path

from layout import EXTENDING, MADE_BY, PAGES, THROWN_BY, WITHOUT_CODE, Page, Section
from lines import Code, Line, assign, code_of
from names import Entry, Reference, call_of, run_doxygen, short_default, short_type, signature

ROOT = Path(__file__).resolve().parents[2]
KEYWORDS = ("float", "double", "int", "bool")


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def escaped(text: str) -> str:
    """Prose in which Markdown sees no emphasis, no HTML and no links."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else
                   re.sub(r"([*<]|(?<!\w)_|_(?!\w)|\](?=\())", r"\\\1", part) for part in parts)


def anchor(title: str) -> str:
    """GitHub's anchor of a heading."""
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def last_of(name: str) -> str:
    return name.rsplit("::", 1)[-1]


class Writer:
    def __init__(self, reference: Reference):
        self.reference = reference
        taken = {last_of(short_type(p.type)) for entry in reference.entries for o in entry.overloads
                 for p in o.parameters if p.name == "options"}
        self.options = {entry.name: entry for entry in reference.entries if entry.kind == "class" and entry.fields and
                        (entry.name.endswith("Options") or last_of(entry.name) in taken and not entry.has_constructor)}
        self.faults: list[str] = []
        self.index: list[tuple[str, str, str]] = []

    def options_of(self, entry: Entry) -> list[Entry]:
        """Structs of options that a function takes, or that the rule or step of that name takes."""
        own = last_of(entry.name)
        named = [own + "Options"] if entry.kind == "class" and (entry.bases or entry.has_constructor) else []
        named += re.findall(r"\w+Options", entry.bases)
        for overload in entry.overloads + [o for m in entry.members if m.name == own for o in m.overloads]:
            for parameter in [*overload.parameters, *overload.templates]:
                named += re.findall(r"[\w:]*\w+Options", f"{parameter.type} {parameter.default}")
                named += [short_type(parameter.type)] if parameter.name == "options" else []
        found: list[Entry] = []
        space = entry.full.rpartition("::")[0].removeprefix("twill").removeprefix("::")
        for name in named:
            name = name.removeprefix("twill::")
            for full in (f"{space}::{name}" if space else name, name, f"graph::{name}", f"nn::{last_of(name)}"):
                if full in self.options:
                    if self.options[full] not in found:
                        found.append(self.options[full])
                    break
        return found

    def fields_table(self, entry: Entry, line: Line | None = None) -> list[str]:
        is_written = line is not None and re.search(rf"{re.escape(entry.name)}(<.*>)?( \w+)?\{{", line.code)
        if entry.name not in self.options and (entry.has_constructor or not is_written):
            return [f"- `{f.name}`" + (f": {escaped(entry.meanings[f.name])}" if entry.meanings[f.name] else "")
                    for f in entry.fields]
        lines = [f"| `{entry.name}` | default | |", "|---|---|---|"]
        for f in entry.fields:
            default = short_default(f.default)
            default = "" if default in ("", "{}") else f"`{cell(default)}`"
            lines.append(f"| `{f.name}` | {default} | {cell(escaped(entry.meanings[f.name]))} |")
        return lines + [""]

    def needs_code(self, entry: Entry, section: Section) -> bool:
        """Functions, objects and types with constructors; not options, results, enumerations, aliases and concepts."""
        if not section.needs_code or last_of(entry.name).startswith("operator") or entry.is_trait or \
                entry.name in MADE_BY or entry.name in THROWN_BY or entry.name in WITHOUT_CODE:
            return False
        is_written = entry.has_constructor or section.types_need_code and entry.name not in self.options
        return entry.kind in ("function", "object") or entry.kind == "class" and is_written

    def merged_text(self, entry: Entry) -> list[str]:
        text = list(entry.text)
        for overload in entry.overloads:
            text += [part for part in overload.text if part not in text]
        return text

    def calls(self, name: str, entry: Entry) -> list[tuple[list[str], list[str]]]:
        """Calls of a function's overloads, those of one comment together."""
        found: list[tuple[list[str], list[str]]] = []
        for overload in entry.overloads:
            call = call_of(name, overload)
            text = overload.text or entry.text
            same = next((calls for calls, said in found if said == text), None)
            if same is None:
                found.append(([call], text))
            elif call not in same:
                same.append(call)
        return found

    def heading(self, entry: Entry, line: Line | None, tabled: set[str]) -> list[str]:
        out = [f"### {entry.name}", ""]
        block = []
        if entry.kind == "function":
            for overload in entry.overloads:
                text = signature(entry.name, overload)
                if text not in block:
                    block.append(text)
        elif entry.kind == "class" and entry.overloads[0].templates:
            arguments = ", ".join(p.name + (f" = {d}" if p.default and len(d := short_default(p.default)) < 20 else "")
                                  for p in entry.overloads[0].templates if p.name)
            block.append(f"{entry.name}<{arguments}>" if arguments else entry.name)
        if line is not None:
            block += ([""] if block else []) + [line.code]
        if block:
            out += ["```cpp", *block, "```", ""]
        text = self.merged_text(entry)
        if text:
            out += [escaped("\n".join(text)) if len(text) == 1 else "\\\n".join(escaped(t) for t in text), ""]
        if line is not None and line.note:
            out += [escaped(line.note), ""]
        for options in self.options_of(entry):
            if options.name in tabled:
                out += [f"Options: `{options.name}`, see above.", ""]
            else:
                tabled.add(options.name)
                out += self.fields_table(options)
        if entry.name in MADE_BY:
            out += [f"Made by `{MADE_BY[entry.name]}`.", ""]
        if entry.name in THROWN_BY:
            out += [f"Thrown by {THROWN_BY[entry.name]}.", ""]
        if entry.kind == "class" and entry.fields:
            out += self.fields_table(entry, line)
        own = last_of(entry.name)
        for member in entry.members:
            if member.name == own and (entry.name in MADE_BY or entry.name in THROWN_BY):
                continue
            words = [word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+", own)]
            name = member.name
            if name == "operator()":
                name = words[-1] if words[-1] not in KEYWORDS else "_".join(words)
            for calls, text in self.calls(name, member):
                said = " ".join(text)
                out.append(f"- {', '.join(f'`{c}`' for c in calls)}{': ' + escaped(said) if said else ''}")
        if out[-1]:
            out.append("")
        return out

    def mention(self, entry: Entry) -> str:
        """A type that needs no heading: an enumeration with its values, an alias, a concept, an object."""
        said = " ".join(self.merged_text(entry))
        out = f"- `{entry.name}`"
        if entry.kind == "alias" and len(kind := short_type(entry.overloads[0].returns)) < 60:
            out += f" = `{kind}`"
        out += f": {escaped(said)}" if said else ""
        if entry.kind == "enum":
            values = [f"`{f.name}`" + (f" ({escaped(entry.meanings[f.name]).rstrip('.')})" if entry.meanings[f.name] else "")
                      for f in entry.fields]
            out += " Values: " + ", ".join(values) + "."
        return out

    def row(self, entry: Entry, line: Line | None) -> str:
        calls = []
        for overload in entry.overloads:
            call = call_of(entry.name, overload) if entry.kind == "function" else entry.name
            if call not in calls:
                calls.append(call)
        text = escaped(" ".join(self.merged_text(entry)))
        if line is not None and line.note:
            text += f" {escaped(line.note)}"
        shown = "<br>".join(f"`{cell(c)}`" for c in calls)
        code = f"`{cell(line.code)}`" if line is not None else ""
        return f"| {shown} | {cell(text)} | {code} |"

    def section(self, page: Page, section: Section, entries: list[Entry], code: Code, lines: dict[tuple[str, str], Line]) -> list[str]:
        out = [f"## {section.title}", ""]
        if section.title in code.sections:
            said = code.sections[section.title]
            out += [escaped(said[0].upper() + said[1:]), ""]
        taken = {options.name for entry in entries if entry.kind in ("function", "class") for options in self.options_of(entry)}
        tabled: set[str] = set()
        rows, headings, mentions, operators = [], [], [], []
        for entry in entries:
            last = last_of(entry.name)
            if entry.kind == "function" and last.startswith("operator"):
                operators.append(entry)
                continue
            line = lines.get((section.title, entry.name))
            if line is None and self.needs_code(entry, section):
                self.faults.append(f"docs/reference/{page.file}.md: {entry.name} ({entry.header}) has no line of code in "
                                   f"tests/reference/{page.file}*.cpp")
            if page.file != "extending" and not self.merged_text(entry):
                self.faults.append(f"docs/reference/{page.file}.md: {entry.name} ({entry.header}) has no sentence")
            self.index.append((entry.name, page.file, section.title))
            if entry.name in taken:
                continue  # a table below the function that takes them
            if (entry.kind in ("enum", "alias", "concept") or entry.is_trait) and line is None:
                mentions.append(self.mention(entry))
                continue
            if section.rows and entry.kind in ("function", "object"):
                rows.append(self.row(entry, line))
                for options in self.options_of(entry):
                    if options.name not in tabled:
                        tabled.add(options.name)
                        headings += self.fields_table(options)
            else:
                headings += self.heading(entry, line, tabled)
        if rows:
            out += ["| call | | example |", "|---|---|---|", *rows, ""]
        if operators:
            spelled = sorted({last_of(e.name).removeprefix("operator").strip('"') for e in operators})
            said = operators[0].text[0] if operators[0].text else ""
            headings += ["Operators: " + ", ".join(f"`{s}`" for s in spelled) + f". {escaped(said)}", ""]
        return out + headings + (["### Types", "", *mentions, ""] if mentions else [])

    def contents(self) -> str:
        """The pages, and all names with the section that has them."""
        out = ["# Reference", "", "<!-- Written by tools/reference/writer.py. -->", "",
               "Every public name, with its signature, options and defaults, and a line of code that is compiled by the tests. "
               "Names are as after `using namespace twill`. The guides are in [docs](../README.md).", "",
               "| page | |", "|---|---|",
               *(f"| [{page.title}]({page.file}.md) | {page.opening.rstrip('.')} |" for page in PAGES), "",
               "## All names", ""]
        by_letter: dict[str, list[str]] = defaultdict(list)
        seen = set()
        for name, file, title in sorted(self.index, key=lambda item: (last_of(item[0]).lower(), item[0])):
            if file == "extending" or (name, file) in seen or last_of(name).startswith("operator"):
                continue
            seen.add((name, file))
            by_letter[last_of(name)[0].upper()].append(f"[{name}]({file}.md#{anchor(title)})")
        for letter, names in by_letter.items():
            out += [f"**{letter}** " + " · ".join(names), ""]
        return "\n".join(out).rstrip() + "\n"

    def page(self, page: Page, by_section: dict[str, list[Entry]], code: Code, lines: dict[tuple[str, str], Line]) -> str:
        out = [f"# {page.title}", "", f"<!-- Written by tools/reference/writer.py from the headers and tests/reference/{page.file}*.cpp. -->",
               "", f"{page.opening} The guide is [{page.guide}](../{page.guide})." if page.file != "extending" else page.opening, ""]
        present = [s for s in page.sections if by_section.get(s.title)]
        out += [" · ".join(f"[{s.title}](#{anchor(s.title)})" for s in present), ""]
        for section in present:
            out += self.section(page, section, by_section[section.title], code, lines)
        return "\n".join(out).rstrip() + "\n"


def position_in(section: Section, entry: Entry, of_names: bool) -> int | None:
    """The pattern of a section that an entry's header fits."""
    for i, pattern in enumerate(section.headers):
        header, _, names = pattern.partition("#")
        if bool(names) == of_names and fnmatchcase(entry.header, header) and entry.header.count("/") == header.count("/") and \
                (not names or re.fullmatch(names, last_of(entry.name))):
            return i
    return None


def section_of(entry: Entry) -> tuple[Page, Section] | None:
    full = entry.full.removeprefix("twill::").replace("parallel::pipeline::", "pipeline::")
    pages = PAGES[-1:] if any(re.fullmatch(pattern, full) for pattern in EXTENDING) else PAGES
    for of_names in (True, False):
        for page in pages:
            for section in page.sections:
                if position_in(section, entry, of_names) is not None:
                    return page, section
    return None


def order_of(section: Section, entry: Entry, shown):
    """As the headers have them; what has no line of code, or comes out of functions, after them."""
    places = (position_in(section, entry, of_names) for of_names in (True, False))
    is_result = entry.kind != "function" and not entry.has_constructor or entry.name in MADE_BY
    return (is_result and (section.title, entry.name) not in shown, next(p for p in places if p is not None), entry.header,
            entry.line)


def make(root: Path) -> tuple[dict[str, str], list[str]]:
    """The text of each page by its path, and the faults found on the way."""
    with tempfile.TemporaryDirectory() as folder:
        run_doxygen(root, Path(folder))
        reference = Reference(root, Path(folder) / "xml")
    writer = Writer(reference)
    placed: dict[str, dict[str, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for entry in sorted(reference.entries, key=lambda e: e.kind != "class"):  # before guides that deduce their arguments
        place = section_of(entry)
        if place is None:
            writer.faults.append(f"tools/reference/layout.py: no page for {entry.header}")
            continue
        there = placed[place[0].file][place[1].title]
        twin = next((other for other in there if other.name == entry.name), None)
        if twin is None:
            there.append(entry)
        elif twin.kind == entry.kind == "function":
            twin.overloads += entry.overloads
    pages = {}
    written: set[str] = set()
    used: set[str] = set()
    for page in PAGES:
        code = code_of(root, page)
        shown = assign({title: [entry.name for entry in entries] for title, entries in placed[page.file].items()}, code.lines)
        written |= {line.code for line in code.lines}
        used |= {line.code for line in shown.values()}
        for section in page.sections:
            placed[page.file][section.title].sort(key=lambda entry: order_of(section, entry, shown))
        pages[f"docs/reference/{page.file}.md"] = writer.page(page, placed[page.file], code, shown)
    writer.faults += [f"tests/reference: no page shows {{ {line} }}, whose name has another line or is none of the headers'"
                      for line in written - used]
    pages["docs/reference/README.md"] = writer.contents()
    if (root / "include/twill/all.hpp").exists():
        known = {entry.name for entry in reference.entries}
        writer.faults += [f"tools/reference/layout.py: there is no {name}" for name in (*MADE_BY, *THROWN_BY, *WITHOUT_CODE)
                          if name not in known]
    return pages, sorted(set(writer.faults))


def write(root: Path) -> int:
    """Writes the pages; 1 after naming the faults, if there are any."""
    pages, faults = make(root)
    (root / "docs/reference").mkdir(exist_ok=True)
    for path, text in pages.items():
        (root / path).write_text(text)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(write(ROOT))
