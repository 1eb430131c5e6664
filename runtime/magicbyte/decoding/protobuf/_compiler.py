"""Compiles `.proto` texts with protoc, in a process of its own and in a private temporary folder."""

import base64
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from magicbyte.decoding.message_indexes import IndexPath
from magicbyte.decoding.protobuf._known_files import KNOWN_FILES
from magicbyte.decoding.protobuf._library import EXTRA, MissingLibraryError, library
from magicbyte.decoding.schema_text import SchemaText
from magicbyte.errors import SchemaError

MAIN_FILE = "magicbyte_main_schema.proto"
"""Name of the schema itself: imported files have names, it has none."""
COMPILE_SECONDS = 60
MAX_TEXT_BYTES = 16 << 20
"""Bytes of the largest schema with its imports that is compiled."""


class ProtobufFiles:
    """A compiled Protobuf schema: the messages of its main file, by name and by index."""

    def __init__(self, descriptor_set: bytes, main_file: str | None, where: str) -> None:
        pool_module = library("google.protobuf.descriptor_pool")
        descriptors = library("google.protobuf.descriptor_pb2")
        message = library("google.protobuf.message")
        try:
            files = descriptors.FileDescriptorSet.FromString(descriptor_set)
            pool = pool_module.DescriptorPool()
            for file in files.file:
                pool.Add(file)
            if main_file is None:
                main_file = files.file[-1].name
            self.main = pool.FindFileByName(main_file)
        except (message.DecodeError, TypeError, KeyError, ValueError, IndexError) as error:
            raise SchemaError(
                f"no set of file descriptors: {error}", "a FileDescriptorSet of protoc", where=where
            ) from error
        self._pool = pool
        self._where = where
        self._source = descriptor_set, main_file
        self._by_index = dict(_messages(self.main))

    def __reduce__(self) -> tuple[Any, ...]:
        return ProtobufFiles, (*self._source, self._where)

    @property
    def descriptor_set(self) -> bytes:
        """Serialized FileDescriptorSet with the main file and those that it imports."""
        return self._source[0]

    @property
    def num_messages(self) -> int:
        """Messages of the main file, nested ones included."""
        return len(self._by_index)

    def at(self, path: IndexPath) -> Any:
        """Return the descriptor of the message at *path*; None if there is none."""
        if isinstance(path, str):
            return self.main.message_types_by_name.get(path)
        return self._by_index.get(path)

    def named(self, name: str) -> Any:
        """Return the descriptor of the message *name*: its full name, or one that is unique in the file.

        Raises SchemaError if there is none.
        """
        matches = [one for one in self._by_index.values() if name in (one.full_name, one.name)]
        if len(matches) == 1:
            return matches[0]
        try:
            return self._pool.FindMessageTypeByName(name)
        except KeyError:
            known = ", ".join(one.full_name for one in self._by_index.values())
            raise SchemaError(
                f"no message {name!r}", f"one of {known[:300]}", where=self._where
            ) from None


def _messages(file: Any) -> Iterator[tuple[IndexPath, Any]]:
    """Yield the messages of *file* with their paths."""

    def visit(descriptors: Any, path: IndexPath) -> Iterator[tuple[IndexPath, Any]]:
        for number, descriptor in enumerate(descriptors):
            yield (*path, number), descriptor
            yield from visit(descriptor.nested_types, (*path, number))

    proto = library("google.protobuf.descriptor_pb2").FileDescriptorProto()
    file.CopyToProto(proto)  # which has the order of the file
    yield from visit([file.message_types_by_name[one.name] for one in proto.message_type], ())


def compile_schema(schema_text: SchemaText) -> ProtobufFiles:
    """Compile *schema_text*.

    Raises SchemaError if it does not compile, or MissingLibraryError, one of its kind, if the packages are not installed.
    """
    where = schema_text.label or "Protobuf schema"
    if schema_text.descriptor_set is not None:
        return ProtobufFiles(schema_text.descriptor_set, None, where)
    if schema_text.missing_imports:
        raise SchemaError(
            f"imports {', '.join(schema_text.missing_imports)}, which is not known",
            "a registry that has all references",
            where=where,
        )
    serialized = _serialized_file(schema_text.text)
    if serialized is not None:
        return ProtobufFiles(serialized, None, where)
    proto_texts = {MAIN_FILE: schema_text.text, **dict(schema_text.imports)}
    if sum(len(text) for text in proto_texts.values()) > MAX_TEXT_BYTES:
        raise SchemaError("too long a schema", f"at most {MAX_TEXT_BYTES} bytes", where=where)
    return ProtobufFiles(_run_protoc(proto_texts, where), MAIN_FILE, where)


def _serialized_file(text: str) -> bytes | None:
    """Return a set with the file descriptor that *text* has as base64 (`format=serialized`); None if it is none."""
    try:
        data = base64.b64decode(text, validate=True)
        descriptors = library("google.protobuf.descriptor_pb2")
        file = descriptors.FileDescriptorProto.FromString(data)
    except ValueError:
        return None
    except library("google.protobuf.message").DecodeError:
        return None
    if not file.name or not data:
        return None
    return bytes(descriptors.FileDescriptorSet(file=[file]).SerializeToString())


def _run_protoc(proto_texts: dict[str, str], where: str) -> bytes:
    tools = Path(library("grpc_tools").__file__).parent
    # TemporaryDirectory gives a folder that only this user can read.
    with tempfile.TemporaryDirectory(prefix="magicbyte-proto-") as name:
        folder = Path(name).resolve()
        for file_name, text in (KNOWN_FILES | proto_texts).items():
            path = _inside(folder, file_name, where)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
        out = folder / "magicbyte_descriptors"
        command = [
            *(sys.executable, "-m", "grpc_tools.protoc", f"-I{folder}", f"-I{tools / '_proto'}"),
            *("--include_imports", f"--descriptor_set_out={out}", MAIN_FILE),
        ]
        # A process of its own: protoc is C++, and may crash or hang at a hostile text.
        try:
            result = subprocess.run(
                command, capture_output=True, text=True, timeout=COMPILE_SECONDS, cwd=folder
            )
        except subprocess.TimeoutExpired as error:
            raise SchemaError(
                f"protoc did not end in {COMPILE_SECONDS} s", "a `.proto` text", where=where
            ) from error
        if result.returncode or not out.is_file():
            if "No module named" in result.stderr:
                raise MissingLibraryError("grpcio-tools is not installed", EXTRA)
            reason = result.stderr.replace(str(folder) + "/", "").replace(f"{MAIN_FILE}:", "line ")
            lines = "; ".join(filter(None, (line.strip() for line in reason.splitlines())))
            raise SchemaError(
                f"protoc refuses it: {lines[:400] or result.returncode}",
                "a `.proto` text whose imports are known; those of a file are next to it or below its folder",
                where=where,
            )
        return out.read_bytes()


def _inside(folder: Path, name: str, where: str) -> Path:
    """Return the path of the file *name* in *folder*; SchemaError for one that leads out of it."""
    parts = PurePosixPath(name)
    is_plain = name and "\0" not in name and "\\" not in name and len(name) < 1000
    if not is_plain or parts.is_absolute() or ".." in parts.parts or ":" in name:
        raise SchemaError(
            f"the import {name[:100]!r}", "a relative path inside of the folder", where=where
        )
    return folder / parts
