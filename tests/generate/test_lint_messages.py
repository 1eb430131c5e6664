"""Tests that each lint rule for message files reports a small file that breaks it."""

import shutil
from pathlib import Path
from textwrap import indent

import pytest

from magicbyte_tools.generate.lint import lint
from paths import CHECKOUT

SOUND = """\
id: groups
title: Records of a topic
doc: What there is.
messages:
- name: GroupKey
  type: 1
  former_types: {'0': 2.8-3.4}
  doc: Key of a group.
  versions: {'2.8': '0'}
  fields:
    - name: group
      type: string
      doc: Name of the group.
- name: GroupValue
  type: 1
  former_types: {'0': 2.8-3.4}
  doc: A group.
  versions: {'2.8': '0-1', '3.3': '0-3'}
  flexible: {'2.8': none, '3.3': 2+}
  structs:
    Host:
      - name: Name
        type: string
        doc: Name of the host.
      - name: Id
        type: uuid
        versions: 2+
        tag: 0
        doc: Id of the host.
  fields:
    - name: Epoch
      type: uint16
      versions: 0-1
      doc: Number of the state.
    - name: Epoch
      type: int32
      versions: 2+
      doc: Number of the state.
    - name: Leader
      type: Host
      versions: 3+
      nullable: true
      tag: 0
      default: null
      releases: 3.5+
      doc: Where the leader is, or null.
    - name: Count
      type: int8
      versions: 2+
      tag: 1
      default: -1
      releases: '3.3'
      doc: How many there are.
    - name: IsOld
      type: bool
      versions: 2+
      tag: 1
      default: true
      releases: 3.4+
      doc: Whether it is old.
    - name: Members
      type: '[]Member'
      doc: The members.
      fields:
        - name: Hosts
          type: '[]Host'
          doc: Where it runs.
- name: OldKey
  type: 0
  doc: Key of what the number stands for now.
  versions: {'3.5': '0'}
  fields:
    - name: group
      type: string
      doc: Name of the group.
- name: OldValue
  type: 0
  doc: What the number stands for now.
  versions: {'3.5': '0'}
  flexible: none
  fields: []
"""
GROUP = "    - name: group\n      type: string\n      doc: Name of the group.\n"
COUNT = "      type: int8\n      versions: 2+\n      tag: 1\n      default: -1\n"

HOST = SOUND[SOUND.index("  structs:") : SOUND.index("  fields:\n    - name: Epoch")]
INNER = SOUND[SOUND.index("      fields:\n") : SOUND.index("- name: OldKey")]

AT_TOP, KEY, VALUE = "/", "/messages/0", "/messages/1"
OLD_KEY, OLD_VALUE = "/messages/2", "/messages/3"
EPOCH, OTHER_EPOCH, LEADER, COUNTED, IS_OLD, MEMBERS = (f"{VALUE}/fields/{n}" for n in range(6))
NAME, ID = f"{VALUE}/structs/Host/0", f"{VALUE}/structs/Host/1"

BROKEN = [
    # The text.
    (AT_TOP, "doc: What there is.\n", f"doc: What there is{40 * ' so'}.\n", "100 columns"),
    (AT_TOP, "doc: What there is.\n", "doc: What there is. \n", "trailing space"),
    (AT_TOP, "title: Records of a topic\n", "title: [\n", "is not YAML"),
    (AT_TOP, SOUND, "- a list\n", "has no keys"),
    (VALUE, "  doc: A group.\n", "  doc: A group.\n  doc: A group.\n", "a key is there twice"),
    (f"{KEY}/versions", "{'2.8': '0'}", "{2.8: '0'}", "the key '2.8' is not a string"),
    (AT_TOP, "doc: What there is.\n", "doc: What there is.\r\n", "lines end"),
    # The schema.
    (AT_TOP, "title: Records of a topic\n", "", "'title' is a required property"),
    (AT_TOP, " Records of a topic", " A topic.", "title: 'A topic.' does not match"),
    (AT_TOP, "title: Records", "tilte: x\ntitle: Records", "Additional properties"),
    (KEY, "  doc: Key of a group.\n", "", "'doc' is a required property"),
    (f"{KEY}/versions", "{'2.8': '0'}", "{'2.8': 0+}", "2.8: '0+' does not match"),
    (f"{KEY}/versions", "versions: {'2.8': '0'}", "versions: {'2': '0'}", "'2' does not match"),
    (f"{KEY}/former_types", "2.8-3.4", "2.8-", "'2.8-' does not match"),
    (f"{KEY}/former_types", "{'0': 2.8", "{'-1': 2.8", "'-1' does not match"),
    (KEY, "  type: 1\n", "  type: one\n", "type: 'one' is not of type 'integer'"),
    (f"{VALUE}/flexible", "'3.3': 2+}", "'3.3': '2'}", "is not valid under any"),
    (OLD_VALUE, "flexible: none", "flexible: all", "flexible: "),
    (EPOCH, "type: uint16", "type: uint8", "type: 'uint8' does not match"),
    (EPOCH, "versions: 0-1", "versions: none", "versions: 'none' does not match"),
    (LEADER, "nullable: true", "nullable: 3+", "nullable: True was expected"),
    (LEADER, "releases: 3.5+", "releases: 3.5", "releases: 3.5 is not of type 'string'"),
    (LEADER, "releases: 3.5+", "releases: 3.5-", "releases: '3.5-' does not match"),
    (COUNTED, "      tag: 1\n      default: -1\n", "      default: -1\n", "'tag' is a dependency"),
    (COUNTED, "tag: 1\n      default: -1", "tag: -1\n      default: -1", "less than the minimum"),
    (AT_TOP, "id: groups\n", "id: Groups\n", "id: 'Groups' does not match"),
    (AT_TOP, SOUND[SOUND.index("messages:") :], "messages: []\n", "messages: []"),
    (KEY, "  type: 1\n", "  typ: 1\n", "Additional properties"),
    (KEY, "  type: 1\n", "  type: -1\n", "type: -1 is less than"),
    (KEY, "  type: 1\n", "  type: 32768\n", "type: 32768 is greater than"),
    (f"{KEY}/former_types", "{'0': 2.8-3.4}", "{}", "{} should be non-empty"),
    (f"{KEY}/versions", "{'2.8': '0'}", "{}", "{} should be non-empty"),
    (KEY, "name: GroupKey", "name: groupKey", "name: 'groupKey' does not match"),
    (f"{VALUE}/structs", "    Host:\n", "    host:\n", "'host' does not match"),
    (f"{VALUE}/structs", HOST, "  structs: {}\n", "{} should be non-empty"),
    (f"{VALUE}/structs", HOST, "  structs: {Host: []}\n", "Host: [] should be non-empty"),
    (f"{VALUE}/structs/Host", HOST, "  structs: {Host: {}}\n", "{} is not of type 'array'"),
    (EPOCH, "versions: 0-1", "version: 0-1", "Additional properties"),
    (EPOCH, "      type: uint16\n", "", "'type' is a required property"),
    (EPOCH, "name: Epoch", "name: an-epoch", "does not match"),
    (MEMBERS, INNER, "      fields: []\n", "fields: []"),
    # Order, sentences and names.
    (AT_TOP, "id: groups\n", "id: group\n", "not the file's name"),
    (AT_TOP, "id: groups\ntitle: Records of a topic", "title: Records\nid: groups", "in the order"),
    (KEY, "- name: GroupKey\n  type: 1\n", "- type: 1\n  name: GroupKey\n", "in the order"),
    (IS_OLD, "name: IsOld\n      type: bool", "type: bool\n      name: IsOld", "in the order"),
    (AT_TOP, "doc: What there is.", "doc: What there is", "with a full stop"),
    (VALUE, "doc: A group.", "doc: A group", "with a full stop"),
    (NAME, "doc: Name of the host.", "doc: Name of the host", "with a full stop"),
    (f"{MEMBERS}/fields/0", "doc: Where it runs.", "doc: TODO where it runs.", "not written yet"),
    (OLD_KEY, "name: OldKey", "name: GroupKey", "a message GroupKey is there already"),
    # Ranges.
    (KEY, "former_types: {'0': 2.8-3.4}", "former_types: {'0': 3.4-2.8}", "end before they begin"),
    (VALUE, "'3.3': '0-3'", "'3.3': '3-0'", "versions 3-0 end before they begin"),
    (EPOCH, "versions: 0-1", "versions: 1-0", "versions 1-0 end before they begin"),
    (LEADER, "releases: 3.5+", "releases: 3.5-3.3", "releases 3.5-3.3 end before they begin"),
    (VALUE, "{'2.8': '0-1', '3.3': '0-3'}", "{'3.3': '0-3', '2.8': '0-1'}", "versions: releases"),
    (VALUE, "{'2.8': none, '3.3': 2+}", "{'3.3': 2+, '2.8': none}", "flexible: releases"),
    # Types of fields.
    (EPOCH, "type: uint16", "type: Epoch", "Epoch is no type and no structure"),
    (MEMBERS, "type: '[]Member'", "type: '[]int32'", "int32 is no structure, and has fields"),
    (MEMBERS, "type: '[]Member'", "type: '[]Host'", "Host is there twice"),
    (f"{MEMBERS}/fields/0", "type: '[]Host'", "type: '[]Member'", "Member is no type"),
    (VALUE, "  structs:\n", "  structs:\n    Port:\n" + indent(GROUP, "  "), "Port is not used"),
    (VALUE, "type: uuid\n", "type: '[]Host'\n", "Host has itself in it"),
    # Null and defaults.
    (EPOCH, "versions: 0-1\n", "versions: 0-1\n      nullable: true\n", "uint16 is never null"),
    (LEADER, "      nullable: true\n", "", "null, and the field is not nullable"),
    (COUNTED, "default: -1", "default: -129", "default -129 is no int8"),
    (COUNTED, COUNT, COUNT.replace("int8", "uint16"), "default -1 is no uint16"),
    (COUNTED, "default: -1", "default: false", "default False is no int8"),
    (COUNTED, COUNT, COUNT.replace("int8", "string"), "default -1 is no string"),
    (IS_OLD, "default: true", "default: 1", "default 1 is no bool"),
    # Names of numbers.
    (EPOCH, "versions: 0-1\n", "versions: 0-1\n      values: {'65536': A}\n", "65536 is no uint16"),
    (EPOCH, "0-1\n", "0-1\n      values: {'0': A, '1': A}\n", "two are called the same"),
    (f"{EPOCH}/values", "0-1\n", "0-1\n      values: {'-1': A}\n", "does not match"),
    (f"{EPOCH}/values", "0-1\n", "0-1\n      values: {'1': none}\n", "does not match"),
    # Versions and releases.
    (EPOCH, "versions: 0-1", "versions: 4+", "is in no version of any release"),
    (COUNTED, "releases: '3.3'", "releases: '3.2'", "is in no version of any release"),
    (EPOCH, "versions: 0-1", "versions: 0-4", "version 4 is none of the message's"),
    (LEADER, "releases: 3.5+", "releases: 3.2+", "3.2 knows no version that has it"),
    (
        OTHER_EPOCH,
        "versions: 2+\n      doc: Number",
        "versions: 1+\n      doc: Number",
        "a field Epoch is there already in version 1 (2.8)",
    ),
    (
        OTHER_EPOCH,
        "    - name: Epoch\n      type: int32\n      versions: 2+",
        "    - name: epoch\n      type: int32\n      versions: 0+",
        "a field epoch is there already in version 0 (2.8)",
    ),
    (ID, "name: Id", "name: Name", "a field Name is there already"),
    (IS_OLD, "releases: 3.4+", "releases: 3.3+", "tag 1 is there already in version 2 (3.3)"),
    (COUNTED, COUNT, COUNT.replace("2+", "1+"), "is tagged, and version 1 (3.3) is not flexible"),
    (ID, "versions: 2+\n        tag", "tag", "is tagged, and version 0 (2.8) is not flexible"),
    (
        OLD_KEY + "/fields/0",
        "    - name: group\n      type: string\n      doc: Name of the group.\n- name: OldValue",
        "    - name: group\n      type: string\n      tag: 0\n      doc: Name.\n- name: OldValue",
        "(3.5) is not flexible",
    ),
    (f"{MEMBERS}/fields/0", "'[]Host'\n", "'[]Host'\n          versions: 4+\n", "is in no"),
    # Keys, values and their numbers.
    (OLD_KEY, SOUND[SOUND.index("- name: OldValue") :], "", "OldKey has no value after it"),
    (OLD_KEY, "  type: 0\n  doc: Key", "  doc: Key", "has no type, which others"),
    (OLD_KEY, "{'3.5': '0'}", "{'3.4': '0'}", "type 0 is GroupKey too, in 3.4"),
    (OLD_KEY, "  type: 0\n  doc: Key", "  type: 1\n  doc: Key", "type 1 is GroupKey too, in 3.5"),
    (OLD_VALUE, "name: OldValue", "name: Older", "is neither key nor value"),
    (OLD_VALUE, "name: OldValue", "name: OlderValue", "OldKey has no value after it"),
    (OLD_VALUE, "name: OldValue", "name: OlderValue", "has no key before it"),
    (OLD_KEY, "name: OldKey", "name: OldValue", "has no key before it"),
    (OLD_VALUE, "0\n  doc: What", "2\n  doc: What", "types are not those of its key"),
    (OLD_VALUE, "{'3.5': '0'}\n  flexible", "{'3.6': '0'}\n  flexible", "releases are not those"),
    (VALUE, "former_types: {'0': 2.8-3.4}\n  doc: A", "doc: A", "types are not those of its key"),
]


def problems(folder: Path, text: str) -> list[str]:
    shutil.copytree(CHECKOUT / "spec" / "schema", folder / "schema")
    (folder / "messages").mkdir()
    (folder / "messages" / "groups.yaml").write_text(text)
    return [str(problem) for problem in lint(folder)]


def test_a_sound_file_has_no_problem(tmp_path: Path) -> None:
    assert problems(tmp_path, SOUND) == []


@pytest.mark.parametrize(
    ("path", "sound", "broken", "message"), BROKEN, ids=[f"{b[0]} {b[3]}" for b in BROKEN]
)
def test_lint_sees(tmp_path: Path, path: str, sound: str, broken: str, message: str | None) -> None:
    assert SOUND.count(sound) >= 1
    found = problems(tmp_path, SOUND.replace(sound, broken, 1))
    assert all(problem.startswith("messages/groups.yaml:") for problem in found)
    assert any(f": {path}: " in problem and message in problem for problem in found), found
