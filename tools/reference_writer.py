#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages of the reference, one for each area, from the comments of the headers and lines of compiled code.

Doxygen reads the headers (docs/Doxyfile says what is public), tools/reference_layout.py says which header belongs to which
page, and tests/reference/<page>*.cpp and gpu*.cu have the code. A line there shows the first name of its page that no line above it shows:
`{ const Tensor y = exp(x); }` shows `exp`. Comments of these files become text: `// Losses: ...` under a section's heading, and
`// PyTorch: ...` above a line under the name that the line shows.
`reference_writer.py` writes docs/reference; tools/checks/reference_pages.py compares.
"""

import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import defaultdict
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from reference_layout import EXTENDING, MADE_BY, PAGES, WITHOUT_CODE, Page, Section

ROOT = Path(__file__).resolve().parents[1]
KEYWORDS = ("float", "double", "int", "bool")
HIDDEN_TEMPLATES = ("Isa",)
SPELLED = {"KeepDims": "keepdims", "OrderOfMax": "order_inf", "OrderOfMin": "order_negative_inf"}  # types of objects
HIDDEN_PARAMETERS = ("line", "here", "where")  # places of calls, which the compiler fills in


# What Doxygen says.


@dataclass
class Parameter:
    type: str
    name: str
    default: str


@dataclass
class Overload:
    templates: list[Parameter]
    parameters: list[Parameter]
    returns: str
    text: list[str]


@dataclass
class Entry:
    kind: str                    # function, object, class, enum, alias, concept
    name: str                    # as programs write it
    header: str                  # below include/twill
    text: list[str]
    overloads: list[Overload] = field(default_factory=list)
    fields: list[Parameter] = field(default_factory=list)
    meanings: dict[str, str] = field(default_factory=dict)
    members: list["Entry"] = field(default_factory=list)
    has_constructor: bool = False
    line: int = 0                # of its first declaration
    full: str = ""
    bases: str = ""
    is_trait: bool = False       # a variable template


def plain(element) -> str:
    """Text of an element with code in backticks."""
    if element is None:
        return ""
    parts = [element.text or ""]
    for child in element:
        inner = plain(child)
        parts.append(f"`{inner}`" if child.tag == "computeroutput" else inner)
        parts.append(child.tail or "")
    return "".join(parts)


def squeeze(text: str) -> str:
    return " ".join(text.split())


def sentences(member) -> list[str]:
    """Paragraphs of a comment; `throws:`, `requires:` and `cost:` begin one of their own."""
    found = []
    for tag in ("briefdescription", "detaileddescription"):
        for paragraph in member.find(tag).iter("para") if member.find(tag) is not None else ():
            found.append(squeeze(plain(paragraph)))
    text = " ".join(found)
    parts = re.split(r"\s*\b(?=(?:throws|requires|cost|source|errors): )", text)
    parts = [part.strip().rstrip(";") for part in parts if part.strip()]
    parts = [part[0].upper() + part[1:] if re.match(r"(throws|requires|cost|source|errors):", part) else part for part in parts]
    return [part + ("" if part.endswith((".", ":", "!", "?")) else ".") for part in parts]


def phrase(member) -> str:
    """A comment beside a member, which is no sentence."""
    return " ".join(sentences(member)).removesuffix(".")


STANDARD = ("As the concept", "As that of the standard library")  # what docs/filter.awk says of members that a role asks for


def short_type(text: str) -> str:
    """A type without what only the compiler needs."""
    text = squeeze(text)
    text = re.sub(r"::is_static |\b(typename|constexpr|consteval|static|explicit|inline|const|mutable|friend|virtual)\b ?", "", text)
    text = re.sub(r"\b(std|twill|v0|graph|expr|detail|chrono)::", "", text)
    text = text.replace("< ", "<").replace(" >", ">").replace(" &&", "").replace(" &", "").replace("&&", "")
    text = re.sub(r"remove_cvref_t<(\w+)>", r"\1", text)
    return text.rstrip("&").strip()


def short_default(text: str) -> str:
    text = squeeze(text).removeprefix("=").strip()
    text = re.sub(r"\b(std|twill|graph|expr|detail)::", "", text)
    text = re.sub(r"(?<!<)< | (?=>)", lambda match: match[0].strip(), text)
    if re.match(r"current_device<", text):
        return "current"
    return re.sub(r"numeric_limits<[\w: ]+>::max\(\)", "no limit", text)


def parameter_of(param) -> Parameter:
    kind = plain(param.find("type")) + (param.findtext("array") or "")
    name = param.findtext("declname") or ""
    if not name and (match := re.match(r"^(.*[\s.&])(\w+)$", kind)) and not kind.startswith("std::"):
        kind, name = match[1].strip(), match[2]
    return Parameter(kind, name, plain(param.find("defval")))


def overload_of(member) -> Overload:
    templates = [parameter_of(p) for p in member.findall("templateparamlist/param")]
    templates = [p for p in templates if p.name not in HIDDEN_TEMPLATES]
    parameters = [parameter_of(p) for p in member.findall("param")]
    parameters = [p for p in parameters if not (p.name in HIDDEN_PARAMETERS and p.default or p.type == "void" or
                                                re.search(r"\b(Here|source_location)\b", p.type))]
    return Overload(templates, parameters, plain(member.find("type")), sentences(member))


def call_of(name: str, overload: Overload) -> str:
    """`softmax<Axis = -1>(x)`: template arguments that have to be given, and arguments."""
    types = " ".join(p.type for p in overload.parameters)
    concepts = {p.name for p in overload.templates}
    given = [i for i, p in enumerate(overload.templates) if p.name and not re.search(rf"\b{p.name}\b", types)]
    shown = overload.templates[:given[-1] + 1] if given else []
    arguments = ", ".join((p.name + "..." if "..." in p.type else p.name) +
                          (f" = {short_default(p.default)}" if p.default else "") for p in shown if p.name)
    values = []
    for p in overload.parameters:
        kind = short_type(p.type)
        bare = kind.replace("...", "").strip()
        text = p.name or SPELLED.get(bare) or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", bare).lower()
        if "(&)[" in bare or "[" in bare:
            values.append(p.name + bare[bare.index("["):])
            continue
        if bare not in concepts and bare not in ("auto", "Value", "Tensor<T, D, S>", p.name) and p.name and not (p.default and "current" in p.default):
            text = f"{kind} {p.name}"
        if kind.endswith("..."):
            text = f"{p.name}..."
        if p.default:
            text += f" = {short_default(p.default)}"
        values.append(text)
    return f"{name}{f'<{arguments}>' if arguments else ''}({', '.join(values)})"


def signature(name: str, overload: Overload) -> str:
    returns = short_type(overload.returns)
    kept = returns not in ("", "auto", "Value", "void", "decltype(auto)") and len(returns) < 50 and "requires" not in returns
    return call_of(name, overload) + (f" -> {returns}" if kept else "")


class Reference:
    """All public names, by header."""

    def __init__(self, root: Path, xml: Path):
        self.root = root
        self.entries: list[Entry] = []
        self.by_full_name: dict[str, Entry] = {}
        index = ET.parse(xml / "index.xml").getroot()
        for compound in index.findall("compound"):
            kind = compound.get("kind")
            if kind == "namespace":
                self.namespace(ET.parse(xml / f"{compound.get('refid')}.xml").getroot().find("compounddef"))
            elif kind in ("struct", "class", "concept", "union"):
                self.compound(kind, ET.parse(xml / f"{compound.get('refid')}.xml").getroot().find("compounddef"))

    def shown_name(self, full: str, header: str) -> str:
        """A name as programs write it after `using namespace twill`."""
        name = full.removeprefix("twill::")
        if header.startswith("ops/pooling"):
            return name.replace("graph::", "nn::")
        return re.sub(r"^(elementwise|graph|algorithms)::(?=[a-z])", "", name)

    def add(self, kind: str, full: str, header: str, member) -> Entry:
        header = re.sub(r"^.*twill/", "", header)
        key = f"{kind} {header} {full}"
        if key not in self.by_full_name:
            entry = Entry(kind, self.shown_name(full, header), header, sentences(member))
            entry.line = int(member.find("location").get("line"))
            entry.full = full
            self.by_full_name[key] = entry
            self.entries.append(entry)
        return self.by_full_name[key]

    def namespace(self, compound):
        space = compound.findtext("compoundname")
        for member in compound.iter("memberdef"):
            name, kind = member.findtext("name"), member.get("kind")
            header = member.find("location").get("file")
            full = f"{space}::{name}"
            if kind == "function" and name[0].isupper():
                continue  # a guide that deduces a class's arguments
            if name.startswith("KernelOf") or name.endswith("_operation") or name.startswith("split_in_"):
                continue
            if kind == "function":
                entry = self.add("function", full, header, member)
                entry.overloads.append(overload_of(member))
                first = entry.overloads[0].parameters[:1]
                if full.startswith("twill::graph::") and first and "initializer_list" in first[0].type:
                    entry.name = full.removeprefix("twill::")  # no argument whose namespace is looked up
            elif kind == "enum":
                entry = self.add("enum", full, header, member)
                for value in member.findall("enumvalue"):
                    entry.fields.append(Parameter("", value.findtext("name"), ""))
                    entry.meanings[value.findtext("name")] = phrase(value)
            elif kind == "typedef":
                entry = self.add("alias", full, header, member)
                entry.overloads.append(Overload([], [], plain(member.find("type")), []))
            elif kind == "variable":
                kind_of = plain(member.find("type"))
                formula = re.search(r"Loss<\s*detail::(\w+)", kind_of)
                templates = [parameter_of(p) for p in member.findall("templateparamlist/param")]
                entry = self.add("function" if formula else "object", full, header, member)
                if formula:
                    entry.overloads.append(self.formula(entry.header, formula[1], templates))
                else:
                    entry.overloads.append(Overload(templates, [], kind_of, []))
                    entry.is_trait = bool(templates)

    def formula(self, header: str, name: str, templates: list[Parameter]) -> Overload:
        """Arguments of a loss, which its formula takes."""
        text = (self.root / "include/twill" / header).read_text()
        body = text[text.index(f"struct {name} "):]
        arguments = squeeze(re.search(r"operator\(\)\(([^)]*)\)", body)[1])
        parameters = []
        for argument in arguments.split(", "):
            left, _, default = argument.partition(" = ")
            kind, _, called = left.rpartition(" ")
            parameters.append(Parameter(kind, called, default))
        return Overload(templates, parameters, "auto", [])

    def compound(self, kind: str, compound):
        full = compound.findtext("compoundname")
        header = compound.find("location").get("file")
        if "<" in full or "KernelOf" in full or self.is_nested(full):
            return
        entry = self.add("concept" if kind == "concept" else "class", full, header, compound)
        if kind == "concept" and not entry.text:
            entry.text = self.comment_above(entry)
        entry.bases = " ".join(plain(base) for base in compound.findall("basecompoundref"))
        own = full.rsplit("::", 1)[1]
        by_name: dict[str, Entry] = {}
        templates = [parameter_of(p) for p in compound.findall("templateparamlist/param")]
        entry.overloads.append(Overload(templates, [], "", []))
        for member in compound.iter("memberdef"):
            name, what = member.findtext("name"), member.get("kind")
            if member.get("prot") != "public" or name.startswith(("~", "@")) or name.endswith("_") or name == "explicit" or \
                    phrase(member).startswith(STANDARD):
                continue
            if what == "variable":
                entry.fields.append(Parameter(plain(member.find("type")), name, plain(member.find("initializer"))))
                entry.meanings[name] = phrase(member)
            elif what == "function":
                if name == own:
                    entry.has_constructor = True
                if name.startswith("operator") and name != "operator()" or name in ("begin", "end", "list_options"):
                    continue
                if name not in by_name:
                    by_name[name] = Entry("function", name, entry.header, sentences(member))
                    entry.members.append(by_name[name])
                by_name[name].overloads.append(overload_of(member))

    def comment_above(self, entry: Entry) -> list[str]:
        """The comment of a concept on one line, which Doxygen loses."""
        text = (self.root / "include/twill" / entry.header).read_text()
        match = re.search(rf"((?:^/// .*\n)+)template <[^\n]*concept {entry.full.rsplit('::', 1)[-1]} ", text, re.MULTILINE)
        return [squeeze(match[1].replace("/// ", " "))] if match else []

    def is_nested(self, full: str) -> bool:
        outer = full.rsplit("::", 1)[0]
        return bool(re.search(r"::[A-Z]\w*$", outer))


def run_doxygen(root: Path, folder: Path) -> None:
    settings = ["@INCLUDE = docs/Doxyfile", f'OUTPUT_DIRECTORY = "{folder}"', "GENERATE_HTML = NO", "GENERATE_XML = YES",
                "XML_PROGRAMLISTING = NO"]
    subprocess.run(["doxygen", "-"], input="\n".join(settings), text=True, cwd=root, capture_output=True, check=False)


# What the compiled code says.


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


# Pages.


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
                entry.name in MADE_BY or entry.name in WITHOUT_CODE:
            return False
        return entry.kind in ("function", "object") or entry.kind == "class" and entry.has_constructor

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
        if entry.kind == "class" and entry.fields:
            out += self.fields_table(entry, line)
        own = last_of(entry.name)
        for member in entry.members:
            if member.name == own and entry.name in MADE_BY:
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
        out = ["# Reference", "", "<!-- Written by tools/reference_writer.py. -->", "",
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
        out = [f"# {page.title}", "", f"<!-- Written by tools/reference_writer.py from the headers and tests/reference/{page.file}*.cpp. -->",
               "", f"{page.opening} The guide is [{page.guide}](../{page.guide})." if page.file != "extending" else page.opening, ""]
        present = [s for s in page.sections if by_section.get(s.title)]
        out += [" · ".join(f"[{s.title}](#{anchor(s.title)})" for s in present), ""]
        for section in present:
            out += self.section(page, section, by_section[section.title], code, lines)
        return "\n".join(out).rstrip() + "\n"


def section_of(entry: Entry):
    header = entry.header
    full = entry.full.removeprefix("twill::")
    pages = PAGES[-1:] if any(re.fullmatch(pattern, full) for pattern in EXTENDING) else PAGES
    for page in pages:
        for section in page.sections:
            if any(fnmatchcase(header, pattern) and header.count("/") == pattern.count("/") for pattern in section.headers):
                return page, section
    return None


def order_of(section: Section, entry: Entry, shown):
    """As the headers have them; what has no line of code, or comes out of functions, after them."""
    position = next(i for i, p in enumerate(section.headers)
                    if fnmatchcase(entry.header, p) and entry.header.count("/") == p.count("/"))
    is_result = entry.kind != "function" and not entry.has_constructor or entry.name in MADE_BY
    return is_result and (section.title, entry.name) not in shown, position, entry.header, entry.line


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
            writer.faults.append(f"tools/reference_layout.py: no page for {entry.header}")
            continue
        there = placed[place[0].file][place[1].title]
        twin = next((other for other in there if other.name == entry.name), None)
        if twin is None:
            there.append(entry)
        elif twin.kind == entry.kind == "function":
            twin.overloads += entry.overloads
    pages = {}
    for page in PAGES:
        code = code_of(root, page)
        shown = assign({title: [entry.name for entry in entries] for title, entries in placed[page.file].items()}, code.lines)
        for section in page.sections:
            placed[page.file][section.title].sort(key=lambda entry: order_of(section, entry, shown))
        pages[f"docs/reference/{page.file}.md"] = writer.page(page, placed[page.file], code, shown)
    pages["docs/reference/README.md"] = writer.contents()
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
