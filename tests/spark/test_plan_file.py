"""Tests of `planPath`: a plan stored in a file is used by each later read that names the file."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from data_source import planned, rows
from magicbyte.errors import ChangedError, InputError
from magicbyte.spark._options import parse
from paths import DATA
from s3_server import BUCKET, SECRET, S3Server

TRANSACTIONS = DATA / "4.3" / "transactions" / "log-0"
OPTIONS = {"subscribe": "interleaved,open", "maxPartitionBytes": "3000"}


@pytest.fixture
def log_dir(tmp_path: Path) -> Path:
    for name in ("interleaved-0", "interleaved-1", "open-0", "open-1"):
        shutil.copytree(TRANSACTIONS / name, tmp_path / "in" / name)
    return tmp_path / "in"


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return tmp_path / "plan.jsonl"


@pytest.mark.parametrize("more", [{}, {"transactions": "index"}, {"minPartitions": "50"}])
def test_the_second_read_takes_the_plan_of_the_first(
    log_dir: Path, plan: Path, more: dict[str, str]
) -> None:
    options = {**OPTIONS, **more}
    expected = rows(str(log_dir), **options)
    assert rows(str(log_dir), planPath=str(plan), **options) == expected != []
    _, first = planned(str(log_dir), **options)
    shutil.rmtree(log_dir / "open-1")  # a plan of the folder would be another
    _, second = planned(str(log_dir), planPath=f"file:{plan}", columns="offset", **options)
    assert [task.splits for task in second] == [task.splits for task in first]
    assert [path.name for path in plan.parent.iterdir() if path != log_dir] == ["plan.jsonl"]


def test_a_plan_may_be_in_a_store(log_dir: Path, s3: S3Server) -> None:
    stored = {f"storage.{name}": value for name, value in s3.options.items()}
    options = {**OPTIONS, **stored, "planPath": f"s3a://{BUCKET}/plan.jsonl"}
    _, first = planned(str(log_dir), **OPTIONS)
    planned(str(log_dir), **options)
    shutil.rmtree(log_dir / "open-1")
    _, second = planned(str(log_dir), **options)
    assert [task.splits for task in second] == [task.splits for task in first]
    url = s3.upload(log_dir, "logs-of-plan")
    with pytest.raises(InputError, match="inside of the input"):
        planned(url, **{**options, "planPath": f"{url}/plan"})


def test_records_appended_after_the_plan_are_not_read(log_dir: Path, plan: Path) -> None:
    options = {**OPTIONS, "planPath": str(plan), "isolationLevel": "read_uncommitted"}
    before = rows(str(log_dir), **options)
    log = max((log_dir / "interleaved-0").glob("*.log"))
    log.write_bytes(log.read_bytes() + b"more")
    assert rows(str(log_dir), **options) == before
    log.write_bytes(log.read_bytes()[:-5])
    with pytest.raises(ChangedError):
        rows(str(log_dir), **options)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ({}, {"onDamage": "skip"}, "the plan was made with no ondamage; expected skip, as in this"),
        ({"maxPartitionBytes": "1m"}, {}, "with maxpartitionbytes 1m; expected 3000, as in this"),
        ({"minPartitions": "9"}, {}, "with minpartitions 9; expected none, as in this read, or"),
    ],
)
def test_the_plan_of_another_read_is_refused(
    log_dir: Path, plan: Path, first: dict[str, str], second: dict[str, str], message: str
) -> None:
    planned(str(log_dir), planPath=str(plan), **{**OPTIONS, **first})
    before = plan.read_bytes()
    with pytest.raises(InputError, match=message):
        planned(str(log_dir), planPath=str(plan), **{**OPTIONS, **second})
    assert plan.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is not a plan; expected magicbyte plan 2"),
        ("[]\n", "is not a plan"),
        ('{"format": "magicbyte plan 0"}\n', "is not a plan"),
        ("HEAD\n{}\n", "the plan is malformed; expected magicbyte plan 2"),
        ("HEAD\nhalf a li", "the plan is malformed"),
        ('HEAD\n{"read": true, "splits": [{"file": 7}]}\n', "the plan is malformed"),
    ],
)
def test_file_that_is_not_a_plan_is_refused_and_not_changed(
    log_dir: Path, plan: Path, text: str, message: str
) -> None:
    planned(str(log_dir), planPath=str(plan), **OPTIONS)
    head = plan.read_text().partition("\n")[0]
    plan.write_text(text.replace("HEAD", head))
    before = plan.read_bytes()
    with pytest.raises(InputError, match=message):
        planned(str(log_dir), planPath=str(plan), **OPTIONS)
    assert plan.read_bytes() == before


def test_where_it_cannot_be_written_is_an_error_in_a_sentence(
    log_dir: Path, tmp_path: Path
) -> None:
    with pytest.raises(
        InputError, match=r"no/plan: No such file or directory; expected a writable file"
    ):
        planned(str(log_dir), planPath=str(tmp_path / "no" / "plan"), **OPTIONS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"planPath": " "}, "the path of a file"),
        ({"planPath": "s3://bucket/folder/"}, "the path of a file"),
        ({"planPath": "plan", "table": "batches"}, "planPath with the table batches"),
    ],
)
def test_plan_path_must_be_a_file_and_of_records(options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        planned(str(TRANSACTIONS), **options)


def test_a_stream_has_none() -> None:
    read = parse({"path": str(TRANSACTIONS), "planPath": "plan"})
    with pytest.raises(InputError, match="planPath in a stream"):
        _ = read.stream_start


def test_a_plan_holds_no_secret(log_dir: Path, plan: Path, monkeypatch: Any) -> None:
    options: dict[str, Any] = {f"storage.{name}": SECRET for name in ("secret_key", "access_key")}
    monkeypatch.setattr("magicbyte.storage.Storage.check", lambda *_: None)
    planned(str(log_dir), planPath=str(plan), **OPTIONS, **options)
    assert SECRET not in plan.read_text()
    assert json.loads(plan.read_text().partition("\n")[0])["maxpartitionbytes"] == "3000"


@pytest.mark.parametrize("name", ["plan.json", "open-0/plan.json", "../link/plan.json"])
def test_a_plan_is_not_written_into_what_it_reads(name: str, log_dir: Path) -> None:
    (log_dir.parent / "link").symlink_to(log_dir)
    before = sorted(log_dir.rglob("*"))
    with pytest.raises(InputError, match="inside of the"):
        planned(str(log_dir), planPath=str(log_dir / name))
    assert sorted(log_dir.rglob("*")) == before
