"""Tests of mutants: each is the change that its name says, and is killed for the right reason."""

import json
import subprocess
import sys
from pathlib import Path

from magicbyte_tools.mutants import code_mutants, grammars, spec_mutants, suite
from magicbyte_tools.mutants.__main__ import SURVIVORS, planned
from magicbyte_tools.mutants.checks import PARSERS, Vectors
from magicbyte_tools.mutants.trial import STILL

RULE = '''
LIMIT = 7
LEN_STEP = 1 << 20

def judged(size: int = 3) -> int:
    """At most 7."""
    if size > LIMIT:
        raise ValueError(f"{size - 1} is above {LIMIT}")
    return size + 1
'''


def test_the_rules_in_a_function_are_changed_one_at_a_time() -> None:
    found = {mutant.name: mutant.text for mutant in code_mutants.mutants("a.py", RULE)}
    assert list(found) == [
        "a.py module off by one: 7 -> (7 + 1)",
        "a.py judged check dropped: size > LIMIT -> False",
        "a.py judged comparison: size > LIMIT -> size >= LIMIT",
        "a.py judged sign: size + 1 -> size - 1",
        "a.py judged off by one: 1 -> (1 + 1)",
    ]
    for text in found.values():
        lines = zip(text.split("\n"), RULE.split("\n"), strict=True)
        assert sum(new != old for new, old in lines) == 1


def test_every_property_of_a_field_is_changed() -> None:
    field = {"id": "a", "type": "s4", "enum": "some", "if": "size.as<u4> > 3", "valid": {"min": 1}}
    inner = {"seq": [{"id": "rest", "size": 5}]}
    made = {"meta": {"id": "x"}, "seq": [field], "types": {"y": inner}, "enums": {"some": {3: "b"}}}
    mutants = spec_mutants.mutants("x.ksy", made)
    assert [mutant.name.removeprefix("x.ksy ") for mutant in mutants] == [
        "x.a width: s4 -> s8",
        "x.a sign: s4 -> u4",
        "x.a condition: dropped",
        "x.a condition: not (size.as<u4> > 3)",
        "x.a condition: size.as<u4> >= 3",
        "x.a enum: dropped",
        "x.a valid: dropped",
        "x.a valid: min 2",
        "x.a valid: min 0",
        "x.some enum: 3 -> 67",
        "x.y.rest size: 5 + 1",
        "x.y.rest size: 5 - 1",
    ]


def test_grammars_that_import_a_mutant_are_tested_with_it() -> None:
    imports = {"a": ["b"], "b": ["c"], "c": [], "d": []}
    found = {name: {"meta": {"imports": names}} for name, names in imports.items()}
    assert grammars.dependents("c", found) == ["c", "b", "a"]
    assert suite.of_grammars("kafka_varint", {"kafka_varint"})[0] == Vectors(
        PARSERS, (*grammars.dependents("kafka_varint"), "kafka_produced")
    )


TRIALS = """
import json, sys
from dataclasses import replace
from pathlib import Path
from magicbyte_tools.generate import source
from magicbyte_tools.mutants import checks, spec_mutants, trial

sound = trial.sound_tree(Path(sys.argv[1]))
form = "kafka_transaction_index"
made = source.specs()[form]
fault = next(one for one in spec_mutants.mutants(f"spec/{form}.ksy", made) if "s8 -> s4" in one.name)
vectors = checks.Vectors("runtime", (form,))
tests = checks.Tests("wire", ("tests/spec/test_wire.py",))
rule = "runtime/magicbyte/logdir/companions.py"
text = Path(sound, rule).read_text()
print(json.dumps({
    "fault": trial.run(fault, sound).caught_by,
    "the same": trial.run(replace(fault, text=json.dumps(made)), sound).caught_by,
    "not compiled": trial.run(replace(fault, text=fault.text.replace("s4", "s5")), sound).caught_by,
    "sound": vectors.passes(sound),
    "altered": Path(sound, rule).write_text(text.replace("position", "positron")),
    "found": [vectors.passes(sound), tests.passes(sound)],
}))
"""


def test_a_fault_is_found_where_it_is_and_nowhere_else(tmp_path: Path) -> None:
    # In a process of its own: here the runtime may have been imported.
    done = subprocess.run([sys.executable, "-c", TRIALS, tmp_path], stdout=subprocess.PIPE)
    found = json.loads(done.stdout)
    assert found["fault"] == "vectors, kaitai-python"
    assert (found["the same"], found["not compiled"]) == (STILL, STILL)
    assert found["sound"]
    assert found["found"] == [False, True]


def test_every_survivor_that_is_listed_is_a_mutant_and_has_a_reason() -> None:
    listed = json.loads(SURVIVORS.read_text("utf-8"))
    assert set(listed) <= {mutant.name for mutant in planned(["spec", "runtime"])}
    assert all(len(reason) > 20 for reason in listed.values())
