"""The page docs/reference/python.md: the public Python API, from its docstrings and signatures."""

import ast
import inspect
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

import magicbyte as mb
import magicbyte.messages
import magicbyte.spark
from magicbyte.verification import restore_check
from magicbyte_tools.reference.anchors import anchored
from magicbyte_tools.reference.docstring_sections import DocstringSections, split_docstring

NOTE = "<!-- Generated from the docstrings in runtime/magicbyte by `make docs`. Do not edit. -->"

INTRODUCTION = """\
# Python API

`import magicbyte as mb`. The examples read `log-0`, a log directory of a real broker in `tests/data/4.3/transactions`; they run in the
tests. Names that begin with an underscore, and modules that are not on this page, may change in any release.
"""

FUNCTION_GROUPS: dict[str, tuple[str, ...]] = {
    "Read": ("open", "from_bytes", "plan", "read_split", "sql", "companion", "read_pcap"),
    "Check and count": (
        *("verify", "stats", "check_produced", "check_produced_file", "store_requests"),
        "spec_files",
    ),
    "Write": (
        *("write", "rewrite", "convert", "salvage", "erase", "erasure_of", "search_erased"),
        *("compact", "restore"),
    ),
}
"""Functions of `magicbyte` by what they are for."""

LONG_LINE = 88


@dataclass(frozen=True, slots=True)
class PublicName:
    """A name that users may import, with the module that they import it from."""

    module: str
    name: str
    value: Any

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}"


def public_names() -> dict[str, list[PublicName]]:
    """Return the public names by the heading that they are under."""
    of_mb = {name: getattr(mb, name) for name in mb.__all__ if name != "__version__"}
    groups = {heading: list(names) for heading, names in FUNCTION_GROUPS.items()}
    classes = [name for name, value in of_mb.items() if inspect.isclass(value)]
    groups["Results and settings"] = [name for name in classes if not name.endswith("Error")]
    groups["Errors"] = [name for name in classes if name.endswith("Error")]
    found = {
        heading: [PublicName("mb", name, of_mb[name]) for name in names]
        for heading, names in groups.items()
    }
    found["Spark: magicbyte.spark"] = [
        PublicName("magicbyte.spark", name, getattr(magicbyte.spark, name))
        for name in magicbyte.spark.__all__
    ]
    found["Internal topics: magicbyte.messages"] = [
        PublicName("magicbyte.messages", name, getattr(magicbyte.messages, name))
        for name in ("read_record", "read", "Record", "DecodedMessage", "MessageError")
    ]
    found["Restore: magicbyte.verification.restore_check"] = [
        PublicName("magicbyte.verification.restore_check", name, getattr(restore_check, name))
        for name in ("restore_check", "RestoreTarget", "RestoreCheck")
    ]
    return found


def python_page() -> str:
    """Return the page as Markdown."""
    lines = [NOTE, INTRODUCTION]
    groups = public_names()
    for heading, names in groups.items():
        links = " ".join(f"[`{each.name}`](#{each.path})" for each in names)
        lines += [f"**{heading}.** {links}", ""]
    for heading, names in groups.items():
        lines += [f"## {heading}", ""]
        for each in names:
            lines += _entry(each)
        if heading == "Errors":
            lines += ["`mb.CODES` is a dict of all [findings](../findings.md) by code.", ""]
    return "\n".join(lines).rstrip() + "\n"


def _entry(public_name: PublicName) -> Iterator[str]:
    value = public_name.value
    yield from (f'### <a id="{public_name.path}"></a>{public_name.name}', "")
    sections = split_docstring(inspect.getdoc(value) or "")
    is_error = inspect.isclass(value) and issubclass(value, Exception)
    if not is_error:
        yield from _signature_block(f"{public_name.module}.{public_name.name}", value)
    else:
        bases = ", ".join(f"`{base.__name__}`" for base in value.__bases__)
        yield from (f"Subclass of {bases}.", "")
    yield from _sections(sections)
    if inspect.isclass(value) and not is_error:
        yield from _members(public_name)


def _sections(sections: DocstringSections) -> Iterator[str]:
    yield from (paragraphs(sections.text), "")
    for heading, name in (("Attributes", "attribute"), ("Args", "argument")):
        yield from _entry_table(name, sections.entries(heading))
    if sections.words("Returns"):
        yield from (f"**Returns:** {inline(sections.words('Returns'))}", "")
    yield from _entry_table("raises", sections.entries("Raises"))
    if "Example" in sections.sections:
        yield from ("```pycon", sections.sections["Example"], "```", "")


def _entry_table(heading: str, entries: dict[str, str]) -> Iterator[str]:
    if entries:
        yield from (f"| {heading} | |", "|---|---|")
        yield from (f"| `{name}` | {cell(sentence)} |" for name, sentence in entries.items())
        yield ""


def _members(public_name: PublicName) -> Iterator[str]:
    """Yield the methods and properties of a class and of its base classes in this package."""
    for name, member in members(public_name.value).items():
        path = f"{public_name.path}.{name}"
        yield from (f"#### {anchored(path, f'{public_name.name}.{name}')}", "")
        sections = split_docstring(inspect.getdoc(member) or "")
        if isinstance(member, property):
            yield from (f"Property. {paragraphs(sections.text)}", "")
            yield from (
                _sections(DocstringSections("", sections.sections)) if sections.sections else ()
            )
        else:
            function = member.__func__ if isinstance(member, classmethod) else member
            yield from _signature_block(f"{public_name.name}.{name}", function)
            yield from _sections(sections)


def members(public_class: type) -> dict[str, Any]:
    """Return the public methods and properties of a class by name, in the order of the source.

    Those that a class of another package declares, such as Spark's data source, are left out.
    """
    of_others = {
        name
        for base in public_class.__mro__
        if not base.__module__.startswith("magicbyte")
        for name in vars(base)
    }
    attributes: dict[str, Any] = {}
    for base in reversed(public_class.__mro__):
        for name, value in vars(base).items():
            is_member = inspect.isfunction(value) or isinstance(value, property | classmethod)
            if is_member and not name.startswith("_") and name not in of_others:
                attributes[name] = value
    return attributes


def _signature_block(path: str, value: Any) -> Iterator[str]:
    text = signature(path, value)
    if text:
        yield from ("```python", text, "```", "")


def signature(path: str, value: Any) -> str:
    """Return the call of a function or class as its source declares it; empty for a class without a constructor."""
    function = value
    if inspect.isclass(value):
        function = vars(value).get("__init__")
        if not inspect.isfunction(function) or not inspect.getsourcefile(function):
            return ""
        if "dataclass" in inspect.getsource(value).partition("class ")[0]:
            return ""
    parameters = list(_parameters(function))
    returns = _definition(function).returns
    arrow = f" -> {ast.unparse(returns).strip(QUOTES)}" if returns and function is value else ""
    line = f"{path}({', '.join(parameters)}){arrow}"
    if len(line) <= LONG_LINE:
        return line
    body = "".join(f"    {parameter},\n" for parameter in parameters)
    return f"{path}(\n{body}){arrow}"


QUOTES = "'\""

SIMPLE = (bool, int, float, str, bytes, tuple)
"""Types of defaults that a signature shows as values; of others it has the words of the source."""


def _definition(function: Callable[..., Any]) -> ast.FunctionDef:
    (definition,) = ast.parse(dedent(inspect.getsource(function))).body
    assert isinstance(definition, ast.FunctionDef)
    return definition


def _parameters(function: Callable[..., Any]) -> Iterator[str]:
    """Yield the parameters as the source writes their types; a default is its value, not its name."""
    arguments = _definition(function).args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    annotations = {one.arg: one.annotation for one in every}
    defaults = _default_sources(arguments)
    star = False
    for name, parameter in inspect.signature(function).parameters.items():
        if name in ("self", "cls"):
            continue
        is_rest = parameter.kind is parameter.VAR_POSITIONAL
        prefix = "*" if is_rest else "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            yield "*"
        star = star or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        annotation = annotations[name]
        kind = f": {ast.unparse(annotation).strip(QUOTES)}" if annotation else ""
        value = parameter.default
        text = repr(value) if isinstance(value, SIMPLE) or value is None else defaults.get(name, "")
        text = json.dumps(value) if isinstance(value, str) else text
        default = "" if value is parameter.empty else f" = {text}"
        yield f"{prefix}{name}{kind}{default}"


def _default_sources(signature: ast.arguments) -> dict[str, str]:
    """Return the defaults of parameters as the source writes them."""
    positional = [*signature.posonlyargs, *signature.args]
    pairs = [*zip(reversed(positional), reversed(signature.defaults), strict=False)]
    pairs += [
        (name, default)
        for name, default in zip(signature.kwonlyargs, signature.kw_defaults, strict=True)
        if default is not None
    ]
    return {name.arg: ast.unparse(default) for name, default in pairs}


def paragraphs(text: str) -> str:
    """Return the paragraphs of a docstring as Markdown, each in one line."""
    return "\n\n".join(inline(" ".join(each.split())) for each in re.split(r"\n\s*\n", text))


def inline(text: str) -> str:
    """Return *text* of a docstring as Markdown: double backquotes are code, single stars arguments."""
    text = re.sub(r"``(.+?)``", r"`\1`", text)
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else re.sub(r"\*(\w+)\*", r"`\1`", part) for part in parts
    )


def cell(text: str) -> str:
    """Return *text* of a docstring as the cell of a table."""
    return inline(text).replace("|", "\\|")
