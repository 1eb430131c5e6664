"""Tests of the parser of meta.properties."""

import pytest

from magicbyte import FormatError
from magicbyte.logdir.meta_properties import (
    MetaProperties,
    java_properties,
    parse_meta_properties,
)

DIRECTORY = "bH1zQzMvKoiEA8n-12VB1g"


def test_file_of_a_kraft_broker_is_parsed() -> None:
    text = f"#\n#Wed Nov 25\nnode.id=3\ndirectory.id={DIRECTORY}\nversion=1\ncluster.id=c\n"
    found = parse_meta_properties(text.encode())
    assert (found.version, found.node_id, found.cluster_id) == ("1", 3, "c")
    assert (found.directory_id, found.is_kraft) == (DIRECTORY, True)


def test_file_of_a_broker_with_zookeeper_has_its_broker_id() -> None:
    found = parse_meta_properties(b"version=0\r\nbroker.id=0\r\ncluster.id=c\r\n")
    assert (found.node_id, found.is_kraft) == (0, False)


def test_version_decides_which_key_is_the_node_id() -> None:
    with pytest.raises(FormatError, match=r"no node\.id"):
        parse_meta_properties(b"version=1\nbroker.id=2\ncluster.id=c\n")
    with pytest.raises(FormatError, match=r"no cluster\.id"):
        parse_meta_properties(b"version=1\nnode.id=2\n")
    assert parse_meta_properties(b"version=0\nnode.id=2\n").node_id is None


def test_empty_file_is_version_0_without_ids() -> None:
    assert parse_meta_properties(b"") == MetaProperties("0")


@pytest.mark.parametrize(
    "text",
    ["version=2", "version=x", "version=1\nnode.id=one", "directory.id=?", "directory.id=AAAA"],
)
def test_file_that_a_broker_cannot_parse_is_an_error(text: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_meta_properties(text.encode())
    assert caught.value.code == "meta-properties-invalid"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", {"a": "b"}),
        ("a : b", {"a": "b"}),
        ("a b", {"a": "b"}),
        ("a", {"a": ""}),
        ("  a  =  b ", {"a": "b "}),
        ("! comment\n# comment\n\n  \na=1\na=2", {"a": "2"}),
        ("a=b\\\n   c", {"a": "bc"}),
        ("a\\ b=c", {"a b": "c"}),
        ("a\\u003d=\\tx", {"a=": "\tx"}),
        ("a=b\\", {"a": "b"}),
        ("a=b=c", {"a": "b=c"}),
    ],
)
def test_lines_are_read_as_java_util_properties_reads_them(
    text: str, expected: dict[str, str]
) -> None:
    assert java_properties(text.encode()) == expected


@pytest.mark.parametrize(
    ("directory", "is_reserved"),
    [("AAAAAAAAAAAAAAAAAAAAAA", True), ("AAAAAAAAAAAAAAAAAAAAYw", True), (DIRECTORY, False)],
)
def test_directory_ids_up_to_99_are_reserved(directory: str, is_reserved: bool) -> None:
    found = parse_meta_properties(f"version=0\ndirectory.id={directory}".encode())
    assert found.has_reserved_directory_id is is_reserved
