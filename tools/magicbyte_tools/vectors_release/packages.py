"""Lays out the vectors as a tarball, a wheel, an npm package, a jar with its POM, and a Go module."""

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from magicbyte_tools.vectors_release.archives import tar_gz, zip_file

VECTORS = Path(__file__).parents[3] / "tests" / "vectors"
TEMPLATES = Path(__file__).with_name("templates")

NAME = "kafka-record-vectors"
PYTHON_NAME = NAME.replace("-", "_")
GO_NAME = NAME.replace("-", "")

VERSION_MARK = "@VERSION@"


def release_archives() -> dict[str, bytes]:
    """Return the archives of a release by file name."""
    vectors = vector_files()
    version = str(json.loads(vectors["manifest.json"])["version"])
    return {
        f"{NAME}-{version}.tar.gz": tar_gz(below(f"{NAME}-{version}", vectors)),
        f"{PYTHON_NAME}-{version}-py3-none-any.whl": wheel(version, vectors),
        f"{NAME}-{version}.0.tgz": tar_gz(node_package(version, vectors)),
        f"{NAME}-{version}.jar": zip_file(jar(version, vectors)),
        f"{NAME}-{version}.pom": templates("java", version)["pom.xml"],
        f"{NAME}-go-{version}.zip": zip_file(go_module(version, vectors)),
    }


def vector_files() -> dict[str, bytes]:
    """Return the files of tests/vectors by relative path, sorted, without caches of Python."""
    paths = [path for path in sorted(VECTORS.rglob("*")) if path.is_file()]
    return {
        path.relative_to(VECTORS).as_posix(): path.read_bytes()
        for path in paths
        if "__pycache__" not in path.parts
    }


def templates(language: str, version: str) -> dict[str, bytes]:
    """Return the files of the package for *language* that are not vectors."""
    root = TEMPLATES / language
    return {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        .replace(VERSION_MARK, version)
        .encode()
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def below(folder: str, content_by_path: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return *content_by_path* with all paths below *folder*."""
    return {f"{folder}/{name}": content for name, content in content_by_path.items()}


def wheel(version: str, vectors: Mapping[str, bytes]) -> bytes:
    """Return the wheel: the module, the vectors in its folder, and the metadata of PEP 427."""
    metadata = templates("python", version)
    information = f"{PYTHON_NAME}-{version}.dist-info"
    members = {
        f"{PYTHON_NAME}/__init__.py": metadata["__init__.py"],
        **below(f"{PYTHON_NAME}/vectors", vectors),
        f"{information}/METADATA": metadata["METADATA"] + b"\n" + vectors["README.md"],
        f"{information}/WHEEL": metadata["WHEEL"],
    }
    record = f"{information}/RECORD"
    lines = [f"{name},sha256={digest(data)},{len(data)}\n" for name, data in members.items()]
    return zip_file({**members, record: "".join([*lines, f"{record},,\n"]).encode()})


def digest(content: bytes) -> str:
    """Return the SHA-256 of *content* as a wheel's RECORD has it: base64 for URLs, unpadded."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")


def node_package(version: str, vectors: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of the npm package; npm wants all below `package`."""
    members = {**templates("node", version), "README.md": vectors["README.md"]}
    return below("package", {**members, **below("vectors", vectors)})


def jar(version: str, vectors: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the entries of the jar: resources below the name of the package."""
    java = templates("java", version)
    return {
        "META-INF/MANIFEST.MF": java["MANIFEST.MF"],
        f"META-INF/maven/{NAME}/{NAME}/pom.xml": java["pom.xml"],
        **below(NAME, vectors),
    }


def go_module(version: str, vectors: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of the Go module, in a folder of its name.

    Examples and runners are beside the embedded folder: some are modules of their own, which cannot be embedded.
    """
    programs = {
        name: data for name, data in vectors.items() if name.startswith(("examples/", "runners/"))
    }
    embedded = {name: data for name, data in vectors.items() if name not in programs}
    members = {**templates("go", version), "README.md": vectors["README.md"], **programs}
    return below(GO_NAME, {**members, **below("vectors", embedded)})
