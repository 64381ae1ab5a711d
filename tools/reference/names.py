# SPDX-License-Identifier: Apache-2.0
"""Public names as the reference shows them: from Doxygen's XML to entries with short signatures, options and sentences.

docs/Doxyfile says what is public. Read next: reference_writer.py.
"""

import re
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

ENGINE = r"twill::elementwise::(apply|compose\w*|has_algebra|kind_of\w*)"  # Doxygen leaves out only types by EXCLUDE_SYMBOLS
HIDDEN_TEMPLATES = ("Isa",)
SPELLED = {"KeepDims": "keepdims", "NormOrder<P>": "order<p>", "OrderOfMax": "order_inf", "OrderOfMin": "order_negative_inf"}  # types of objects
HIDDEN_PARAMETERS = ("line", "here", "where")  # places of calls, which the compiler fills in


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
    text = re.sub(r"^::\w+ ", "", text)  # the end of a clause
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


def without_arguments(kind: str, templates: set[str]) -> str:
    """`ParallelModel` for `ParallelModel<M, S, C>`, where the arguments are those of the function itself."""
    known = templates | {"BasicPipeline"}
    kind = kind.replace("pipeline::BasicPipeline", "BasicPipeline")
    while True:
        shorter = re.sub(r"\b(?!(?:Tensor|Shape|Zero|vector|array|span|tuple|shared_ptr|optional|List|Buffer)<)(\w+)<(Network|[\w.]+(?:, [\w.]+)+)>",
                         lambda m: m[1] if all(a.strip(" .") in known for a in m[2].split(",")) else m[0], kind)
        if shorter == kind:
            return kind.replace("BasicPipeline", "Pipeline")
        kind = shorter


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
        kind = without_arguments(short_type(p.type), concepts)
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
    returns = without_arguments(returns, {p.name for p in overload.templates})
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
        name = full.removeprefix("twill::").replace("parallel::pipeline::", "pipeline::")  # which twill has too
        if header.startswith("ops/pooling") or name == "graph::Scope":  # nn has these, too
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
            if re.match(r"KernelOf|split_in_|.*_operation$|.*<", name) or re.fullmatch(ENGINE, full):
                continue
            if kind == "function":
                entry = self.add("function", full, header, member)
                entry.overloads.append(overload_of(member))
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

    def is_nested(self, full: str) -> bool:
        outer = full.rsplit("::", 1)[0]
        return bool(re.search(r"::[A-Z]\w*$", outer))


def run_doxygen(root: Path, folder: Path) -> None:
    settings = ["@INCLUDE = docs/Doxyfile", f'OUTPUT_DIRECTORY = "{folder}"', "GENERATE_HTML = NO", "GENERATE_XML = YES",
                "XML_PROGRAMLISTING = NO"]
    subprocess.run(["doxygen", "-"], input="\n".join(settings), text=True, cwd=root, capture_output=True, check=False)
