"""Assembles viewer.html from the parsers, the specification, libraries and the scripts beside it."""

import base64
import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any

from magicbyte_cli.file_formats import FORMATS_BY_NAME, FORMATS_BY_SUFFIX
from magicbyte_tools.generate import source
from magicbyte_tools.generate.kaitai import CHECKOUT, INSTALLED, install
from magicbyte_tools.generate.parsers import camel
from magicbyte_tools.parsers.compiler_output import VISUAL, compile_targets
from magicbyte_tools.viewer.specification import viewer_specification

PAGE = CHECKOUT / "generated" / "magicbyte_formats" / "viewer" / "viewer.html"
HERE = Path(__file__).with_name("page")

CORE = (
    *("source.js", "checksums.js", "codecs.js", "fields.js"),
    *("framing.js", "records.js", "entries.js", "entry_index.js", "documents.js"),
)
"""Scripts that need no page, in the order in which they are to be run."""

UI = ("dom.js", "virtual_list.js", "tree_view.js", "hex_view.js", "pane.js", "app.js")

LIBRARIES = {
    "kaitai-struct": ("KaitaiStream.js", None),
    "fflate": ("umd/index.js", None),
    "fzstd": ("umd/index.js", None),
    "snappyjs": ("snappy_decompressor.js", "snappy"),
}
"""Script of each package, and the name that the page gives to a CommonJS module; None if it has its own."""

LICENSES = ("Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause")

NOT_SHOWN = VISUAL | {"kafka_record_batch_kip_931"}
"""Specifications that no file or payload is opened with."""

DOC_COMMENT = re.compile(r"^ *\n?[ \t]*/\*\*.*?\*/\n", re.MULTILINE | re.DOTALL)


def is_current() -> bool:
    """Return whether the stored page was built from the present sources."""
    return PAGE.is_file() and f"sha256 {digest_of_sources()} " in PAGE.read_text("utf-8")


def digest_of_sources() -> str:
    """Return the digest of everything that the page is made of."""
    sources = [
        *sorted(source.SPEC.glob("*.ksy")),
        *sorted(HERE.iterdir()),
        *sorted(HERE.parent.glob("*.py")),
        CHECKOUT / "tools" / "magicbyte_cli" / "file_formats.py",
        CHECKOUT / "tools" / "magicbyte_tools" / "generate" / "package-lock.json",
    ]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


def page() -> str:
    """Return the viewer as an HTML page that loads nothing."""
    scripts = [libraries(), parsers(), script((*CORE, *UI))]
    style = (HERE / "style.css").read_text("utf-8")
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"script-src {' '.join(map(_digest, scripts))}; style-src {_digest(style)}"
    )
    values = {
        "ORIGIN": f"sources sha256 {digest_of_sources()} ",
        "POLICY": policy,
        "STYLE": style,
        "NOTICES": html.escape(notices()),
        "SCRIPTS": "\n".join(f"<script>{text}</script>" for text in scripts),
    }
    template = (HERE / "viewer.html").read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], template)


def script(names: tuple[str, ...]) -> str:
    """Return the scripts *names* as one that adds nothing to the global scope."""
    text = "\n".join((HERE / name).read_text("utf-8") for name in names)
    return _embeddable(f'"use strict";\n(() => {{\n{constants()}{text}}})();\n')


def core_script() -> str:
    """Return the scripts that need no page, as declarations of the global scope, for tests."""
    return constants() + "\n".join((HERE / name).read_text("utf-8") for name in CORE)


def constants() -> str:
    """Return the specification's sentences and the names of files as JavaScript."""
    shown = {name: spec for name, spec in source.specs().items() if name not in NOT_SHOWN}
    file_names: dict[str, Any] = {
        "names": FORMATS_BY_NAME,
        "suffixes": FORMATS_BY_SUFFIX,
        "titles": {name: spec["meta"]["title"] for name, spec in shown.items()},
    }
    return (
        f"const SPECIFICATION = {json.dumps(viewer_specification(shown), ensure_ascii=False)};\n"
        f"const FORMATS = {json.dumps(file_names, ensure_ascii=False)};\n"
    )


def parsers() -> str:
    """Return the parsers that Kaitai's compiler writes, which keep the position of each field."""
    files = compile_targets(["javascript"], debug=True)["javascript"]
    texts = [files[f"{camel(name)}.js"] for name in source.specs() if name not in NOT_SHOWN]
    return _embeddable("\n".join(DOC_COMMENT.sub("", text) for text in texts))


def libraries() -> str:
    """Return the scripts of the packages that the page needs at run time, with their notices."""
    install()
    texts = []
    for name, (file, global_name) in LIBRARIES.items():
        folder = INSTALLED / "node_modules" / name
        text = (folder / file).read_text("utf-8")
        if global_name is not None:
            text = f"(function (exports) {{\n{text}}})(this.{global_name} = {{}});\n"
        texts.append(f"/*! {_title(name)} */\n{text}")
    return _embeddable(";\n".join(texts))


def notices() -> str:
    """Return the licences of the packages in the page."""
    return "\n\n".join(
        f"{_title(name)}\n\n{(INSTALLED / 'node_modules' / name / 'LICENSE').read_text('utf-8').strip()}"
        for name in LIBRARIES
    )


def _title(name: str) -> str:
    about = json.loads((INSTALLED / "node_modules" / name / "package.json").read_text("utf-8"))
    if about["license"] not in LICENSES:
        raise ValueError(f"{name} is licensed under {about['license']}, not one of {LICENSES}")
    return f"{name} {about['version']} ({about['license']})"


def _embeddable(text: str) -> str:
    """Return *text*, a script, so that nothing in it ends the element around it."""
    return text.replace("</script", r"<\/script").replace("<!--", r"<\!--")


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
