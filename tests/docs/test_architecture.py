"""Tests that the files and folders named in docs/architecture.md exist."""

import re

from paths import CHECKOUT

PAGE = (CHECKOUT / "docs" / "architecture.md").read_text("utf-8")
ROOTS = ("", "spec/", "runtime/magicbyte/", "tools/magicbyte_tools/", "tools/magicbyte_cli/")
FOLDERS = (
    "logdir",
    "reading",
    "engines",
    "storage",
    "engines/columnar",
    "codecs",
    "verification/broker",
)


def test_every_path_on_the_page_exists() -> None:
    named = set(re.findall(r"[\w/*-]+\.(?:py|ksy|yaml|md|toml)\b", PAGE))
    places = [*ROOTS, *(f"runtime/magicbyte/{folder}/" for folder in FOLDERS)]
    missing = [name for name in named if not any(list(CHECKOUT.glob(p + name)) for p in places)]
    assert len(named) > 40
    assert missing == []


def test_every_folder_on_the_page_exists() -> None:
    named = set(re.findall(r"\b(?:runtime|tools|spec|tests|generated)/[\w/]+", PAGE))
    assert len(named) > 10
    assert [name for name in named if not list(CHECKOUT.glob(f"{name}*"))] == []
