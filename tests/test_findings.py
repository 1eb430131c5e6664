"""Tests of the codes of findings: each has the texts that explain it."""

import pytest

from magicbyte.findings import CODES, SEVERITIES, SUBJECTS, Code

TEXTS = ("sentence", "cause", "consequence", "remedy")


@pytest.mark.parametrize("code", CODES.values(), ids=list(CODES))
def test_code_has_a_text_for_each_question(code: Code) -> None:
    assert code.severity in SEVERITIES
    for name in TEXTS:
        text = getattr(code, name)
        assert text.endswith(".") and text[0] not in " .", f"{code.name}: {name} is no sentence"
        assert text.count("`") % 2 == 0, f"{code.name}: {name} has a backtick without a partner"
    assert code.source


def test_code_belongs_to_one_subject() -> None:
    names = [code.name for codes in SUBJECTS.values() for code in codes]
    assert sorted(names) == sorted(set(names)) == sorted(CODES)


def test_code_without_a_text_is_an_error_that_names_the_text() -> None:
    with pytest.raises(TypeError, match="remedy"):
        Code("x", "note", "A sentence.", cause="A.", consequence="B.", source="C")  # type: ignore[call-arg]
