"""The command over a store: the same output, no secrets in it, and nothing is written there."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import magicbyte as mb
from magicbyte_cli import main
from s3_server import ACCESS_KEY, SECRET, S3Server

Run = Callable[..., Result]

SEGMENT = f"{0:020}.log"


@pytest.fixture
def run(s3: S3Server) -> Run:
    """Call the command in this process, with what opens the store."""
    options = [f"--storage-option={name}={value}" for name, value in s3.options.items()]

    def call(verb: str, *arguments: object) -> Result:
        result = CliRunner().invoke(main, [verb, *options, *map(str, arguments)])
        for text in (result.stdout, result.stderr, repr(result.exception)):
            assert SECRET not in text and ACCESS_KEY not in text
        return result

    return call


def local(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    "arguments",
    [
        ("dump", "--limit", "20"),
        ("dump", "--table", "transactions", "--format", "ndjson"),
        ("dump", "--table", "batches", "--quick"),
        ("verify",),
        ("verify", "--quick", "--format", "text"),
    ],
)
def test_a_verb_says_what_it_says_of_a_disk(
    run: Run, log_dir: Path, tree: str, arguments: tuple[str, ...]
) -> None:
    there, here = run(*arguments, tree), local(*arguments, log_dir)
    # In the store are files of others, which are not read.
    stderr = "".join(
        line for line in there.stderr.splitlines(True) if not line.startswith("not read: 2 paths ")
    )
    stdout = re.sub(r"not read:\n(  foreign-\w+ s3://.*\n){2}\n?", "", there.stdout)
    stdout = stdout.replace(f"{tree}/broker-1/log-0", str(log_dir))
    assert (there.exit_code, stdout, stderr) == (0, here.stdout, here.stderr)


def test_quick_batches_cost_a_request_for_8_mib(
    run: Run, s3: S3Server, large: tuple[str, int]
) -> None:
    url, count = large
    with s3.counted() as asked:
        result = run("dump", url, "--table", "batches", "--quick", "--columns", "position")
    assert len(result.stdout.splitlines()) == count + 1
    assert asked == {"LIST": 2, "HEAD": 1, "GET": 3}


def test_requests_are_printed_at_the_end(run: Run, large: tuple[str, int]) -> None:
    url, _ = large
    before = mb.store_requests()["s3://logs"]
    result = run("dump", url, "--limit", "1", "--requests")
    after = mb.store_requests()["s3://logs"]
    total, num_bytes = after.total - before.total, after.requested_bytes - before.requested_bytes
    assert total > 4 and num_bytes > 20_000_000
    last_lines = result.stderr.splitlines()[-len(mb.store_requests()) :]  # one for each store
    assert (
        f"s3://logs: {after.total:,} requests ({after.lists:,} LIST, {after.heads:,} HEAD, "
        f"{after.gets:,} GET), {after.requested_bytes:,} bytes requested"
    ) in last_lines


def test_export_and_extract_write_here(run: Run, log_dir: Path, tree: str, tmp_path: Path) -> None:
    out = tmp_path / "records.parquet"
    assert run("export", tree, "-o", f"file:{out}").exit_code == 0
    assert pq.read_metadata(out).num_rows > 100
    files = []
    for number, folder in enumerate((log_dir, f"{tree}/broker-1/log-0")):
        files.append(tmp_path / f"payload-{number}")
        place = f"{folder}/interleaved-0/{SEGMENT}@0"
        result = (local if number == 0 else run)("extract", place, "-o", files[-1])
        assert result.exit_code == 0, result.stderr
    assert files[0].read_bytes() == files[1].read_bytes() != b""


def test_verify_produced_reads_files_in_a_store(run: Run, s3: S3Server, log_dir: Path) -> None:
    data = (log_dir / "interleaved-0" / SEGMENT).read_bytes()
    url = s3.put("produced/batch.bin", data[: 12 + int.from_bytes(data[8:12], "big")])
    result = run("verify", "--produced", url)
    assert "\n1 file, 233 bytes: 1 note\n" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("export", "PATH", "-o", "s3://me:hidden@b/out.parquet"),
        ("extract", "PATH@0", "-o", "s3://me:hidden@b/payload"),
        ("spec", "-o", "s3://me:hidden@b/ksy"),
    ],
)
def test_commands_do_not_write_into_a_store(arguments: tuple[str, ...], tree: str) -> None:
    result = local(*(part.replace("PATH", tree) for part in arguments))
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: s3://...@b/")
    assert line.endswith(
        ": writing to an object store is not supported; expected a path on this machine"
    )


def test_an_option_without_a_value_is_not_shown() -> None:
    result = local("dump", "s3://b/x", "--storage-option", SECRET)
    assert result.exit_code == 2
    assert "Invalid value for '--storage-option': expected NAME=VALUE" in result.stderr
    assert SECRET not in result.output


def test_store_error_is_one_line_and_status_2(run: Run, s3: S3Server, tree: str) -> None:
    with s3.checking_credentials():
        refused = run("dump", tree)
    missing = run("dump", "s3://logs/absent")
    for result, said in (
        (refused, "INVALID_ACCESS_KEY_ID during ListObjectsV2: The AWS Access Key Id you provided"),
        (missing, "s3://logs/absent: No such file or directory"),
    ):
        assert result.exit_code == 2
        (line,) = result.stderr.splitlines()
        assert line.startswith("Error: s3://logs/") and said in line


def test_the_environment_opens_a_store_and_a_process_ends(s3: S3Server, tree: str) -> None:
    variables = {
        "AWS_ENDPOINT_URL_S3": s3.url,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
    }
    code = "from magicbyte_cli import main; main()"
    path = f"{tree}/broker-1/log-0/interleaved-0"
    done = subprocess.run(
        [sys.executable, "-c", code, "dump", path, "--limit", "3"],
        env={**variables, "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 4), done.stderr
    assert SECRET not in done.stdout + done.stderr
