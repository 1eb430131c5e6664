import re
from pathlib import Path
from typing import Any

import pytest

from magicbyte_tools.generate import kaitai
from magicbyte_tools.parsers import __main__ as command
from magicbyte_tools.parsers.compiler_output import (
    VISUAL,
    Files,
    with_parameters,
)
from magicbyte_tools.parsers.identifier_names import camel
from magicbyte_tools.parsers.packages import REFUSED, Refused, left_out, package
from paths import CHECKOUT

Specs = dict[str, dict[str, Any]]

FLAGS = re.DOTALL | re.MULTILINE


def test_every_target_of_the_compiler_is_written_or_refused(packages: dict[str, Files]) -> None:
    assert {*packages, *REFUSED} == {*kaitai.all_languages()}


def test_a_folder_says_how_it_is_used_and_under_which_licence(packages: dict[str, Files]) -> None:
    licence = (CHECKOUT / "spec" / "LICENSE").read_text("utf-8")
    for target, files in packages.items():
        assert files["LICENSE"] == licence, target
        assert "CC0-1.0" in files["README.md"], target
        example = [
            path for path in files if re.search("print_?(log|records|snapshot)", path.lower())
        ]
        assert bool(example) == (target not in {"graphviz", "html"}), target


def test_every_specification_is_there_unless_the_readme_says_otherwise(
    packages: dict[str, Files], specs: Specs
) -> None:
    for target, files in packages.items():
        stems = {Path(path).stem for path in files}
        absent = {name for name in specs if not {name, camel(name)} & stems}
        assert absent == left_out(target, specs), target
        named = VISUAL & absent
        if target != "perl":
            assert absent == named, target
            assert all(f"`{name}`" in files["README.md"] for name in named), target


def test_a_parser_names_its_specification_and_licence(packages: dict[str, Files]) -> None:
    files = {
        "python": "kafka_formats/kafka_log.py",
        "go": "kafka_log.go",
        "cpp_stl": "src/kafka_log.h",
    }
    for target, path in files.items():
        head = packages[target][path][:300]
        assert "kafka_log.ksy of magicbyte (CC0-1.0)" in head, target


def test_python_is_what_is_committed(packages: dict[str, Files]) -> None:
    folder = CHECKOUT / "generated" / "magicbyte_formats" / "kaitai"
    for path in folder.glob("kafka_*.py"):
        committed = path.read_text("utf-8").split("\n", 2)[2]
        assert packages["python"][f"kafka_formats/{path.name}"].split("\n", 1)[1] == committed


def test_every_go_file_is_of_the_package(packages: dict[str, Files]) -> None:
    for path, text in packages["go"].items():
        if path.startswith("kafka_"):
            assert re.match(r"// Code generated .* DO NOT EDIT\.\n\npackage kafkaformats\n", text)


def test_java_lies_where_its_package_says(packages: dict[str, Files]) -> None:
    for path, text in packages["java"].items():
        if "Kafka" in path:
            assert path.startswith("src/main/java/kafkaformats/")
            assert "\npackage kafkaformats;\n" in text


def test_rust_has_a_module_for_every_file(packages: dict[str, Files]) -> None:
    modules = re.findall(r"^pub mod (\w+);$", packages["rust"]["src/lib.rs"], re.MULTILINE)
    files = {path for path in packages["rust"] if path.startswith("src/")} - {"src/lib.rs"}
    assert {f"src/{name}.rs" for name in modules} == files


def test_rust_uses_every_type_of_another_module_that_it_names(
    packages: dict[str, Files], specs: Specs
) -> None:
    # `kafka_record_batch::codecs::none`, say, from the file of a snapshot.
    for name in specs:
        text = packages["rust"][f"src/{name}.rs"]
        reached = {
            (other, each)
            for other in specs
            if other != name
            for each in re.findall(rf"\b{camel(other)}_\w+", text)
        }
        used = re.findall(r"^use super::(\w+)::(\w+_\w+);$", text, re.MULTILINE)
        assert sorted(reached) == sorted(used), name
    snapshot = packages["rust"]["src/kafka_kraft_snapshot.rs"]
    assert "\nuse super::kafka_record_batch::KafkaRecordBatch_Codecs;\n" in snapshot


def test_rust_asks_what_depends_on_the_position_where_the_stream_is(
    packages: dict[str, Files],
) -> None:
    text = packages["rust"]["src/kafka_early_leader_change.rs"]
    asked = re.findall(r"(.*)\n +if \*self_rc\.has_granting_voters\(\)\?", text)
    assert [line.strip() for line in asked] == ["*self_rc._io.borrow_mut() = _io.clone();"] * 2


def test_every_javascript_module_requires_files_that_are_there(packages: dict[str, Files]) -> None:
    files = packages["javascript"]
    required = {
        path: {f"{name}.js" for name in re.findall(r'require\(["\']\./(\w+)', text)}
        for path, text in files.items()
    }
    assert all(names <= files.keys() for names in required.values())
    readers = {"codecs.js", "reader.js"}
    assert required["index.js"] == readers | {path for path in files if path.startswith("Kafka")}


def test_cpp_initializes_whatever_it_looks_at_to_delete(packages: dict[str, Files]) -> None:
    for path, text in packages["cpp_stl"].items():
        for name, body in re.findall(r"^void (\S+)::_clean_up\(\) {$(.*?)^}$", text, FLAGS):
            constructor = f"\n{name}::{name.split('::')[-1]}("
            begins = text.split(constructor)[1].split("\n}\n")[0]
            for field in re.findall(r"delete (m_\w+);", body):
                assert f"    {field} = 0;\n" in begins, (path, name, field)
            for field in re.findall(r"!(n_\w+)", body):
                assert f"    {field} = true;\n" in begins, (path, name, field)


def test_no_length_is_reserved_before_it_is_compared(packages: dict[str, Files]) -> None:
    for target, ours, theirs in (
        ("go", "readBounded(", "._io.ReadBytes("),
        ("cpp_stl", "read_bounded(", "m__io->read_bytes("),
        ("csharp", "Bounded.Read(", "m_io.ReadBytes("),
        ("php", "new \\KafkaBoundedStream(", "new \\Kaitai\\Struct\\Stream("),
    ):
        generated = [text for text in packages[target].values() if "kaitai-struct-compiler" in text]
        assert any(ours in text for text in generated), target
        assert not any(theirs in text for text in generated), target


def test_without_the_reader_a_package_names_no_file_of_it(
    compiled: dict[str, Files], packages: dict[str, Files], specs: Specs
) -> None:
    for target, index in (("javascript", "index.js"), ("rust", "src/lib.rs")):
        files = package(target, compiled[target], specs, with_reader=False)
        assert files.keys() < packages[target].keys()
        assert "reader" not in files[index] and "reader" in packages[target][index]


def test_nim_imports_what_an_expression_reaches(packages: dict[str, Files]) -> None:
    # `batch.payload.records.first.body`: Nim must have seen kafka_record, two files away.
    assert "import kafka_record\n" in packages["nim"]["kafka_kraft_snapshot.nim"]


def test_perl_has_no_format_with_parameters(packages: dict[str, Files], specs: Specs) -> None:
    # Kaitai's Perl ignores parameters and parses such a format wrongly, without an error.
    absent = with_parameters(specs)
    assert {"kafka_log", "kafka_record_batch", "kafka_kraft_snapshot"} <= absent
    assert not {f"lib/{camel(name)}.pm" for name in absent} & packages["perl"].keys()
    assert "lib/KafkaProducerSnapshot.pm" in packages["perl"]


def test_construct_is_refused_and_points_to_the_twin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], specs: Specs
) -> None:
    assert command.main(["construct", str(tmp_path / "out")]) == 2
    assert "magicbyte_construct" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    with pytest.raises(Refused, match="magicbyte_construct"):
        package("construct", {}, specs)


def test_an_unknown_target_lists_the_targets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["cobol", str(tmp_path / "out")]) == 2
    complaint = capsys.readouterr().err
    assert "'cobol'" in complaint and "cpp_stl" in complaint and "rust" in complaint


def test_a_folder_that_is_not_empty_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").write_text("")
    assert command.main(["python", str(tmp_path)]) == 2
    assert "not an empty folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("arguments", [[], ["go"], ["go", ""], ["go", "out", "more"]])
def test_missing_arguments_are_named(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(arguments) == 2
    assert "TARGET OUT" in capsys.readouterr().err


def test_the_command_writes_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "perl"
    assert command.main(["perl", str(out)]) == 0
    assert (out / "lib" / "KafkaMessage.pm").is_file()
    assert "kafka_log" in capsys.readouterr().out  # a format that the package lacks
