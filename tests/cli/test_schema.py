"""``tacit schema`` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacit import Schema, SchemaError
from tacit.cli import main

ROWS = "label,age,city,note\nyes,31,Rome,all fine today\nno,45,Oslo,came back late\nyes,29,Rome,nothing to say\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(ROWS)
    return tmp_path / "data.csv"


def test_a_private_file_gives_its_column_names_alone(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "draft", "data.csv"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in ("label", "age", "city", "note", "TODO"))
    assert not any(value in out for value in ("Rome", "Oslo", "31", "45", "fine"))


def test_a_public_file_gives_a_schema_that_can_be_used(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "draft", "data.csv", "--public", "--out", "schema.toml"]) == 0
    schema = Schema.load("schema.toml")
    assert schema.classes == ("no", "yes")
    capsys.readouterr()
    assert main(["schema", "show", "schema.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["features"] == schema.n_features


def test_a_guess_at_the_label_is_marked(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    marked = "# TODO: which column is to be predicted?"
    for more in ([], ["--public"]):
        assert main(["schema", "draft", "data.csv", *more]) == 0
        assert marked not in capsys.readouterr().out
    file.write_text(ROWS.replace("label", "came"))
    for more in ([], ["--public"]):
        assert main(["schema", "draft", "data.csv", *more]) == 0
        assert marked in capsys.readouterr().out


def test_a_guess_at_the_label_is_not_run_unread(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first column with few values was taken, and a model of it was paid for."""
    Path("visits.csv").write_text("ward,age,back\n" + "".join(f"{'ABC'[i % 3]},{i},{'ny'[i % 2]}\n" for i in range(90)))
    assert main(["schema", "draft", "visits.csv", "--public", "--out", "guessed.toml"]) == 0
    text = Path("guessed.toml").read_text(encoding="utf-8")
    assert 'column = "back"  # TODO' in text
    assert 'classes = []  # TODO: if it is this one, ["n", "y"]' in text
    with pytest.raises(SchemaError, match="classes"):
        Schema.load("guessed.toml")
    assert Schema.from_toml(text.replace("[]  # TODO: if it is this one, ", "")).label == "back"


def test_column_names_will_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "draft", "--columns", "label, text"]) == 0
    assert '[columns."text"]' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["draft"], "--columns instead"),
        (["draft", "data.csv", "--columns", "a,b"], "--columns instead"),
        (["draft", "nothing.csv"], "no file"),
        (["draft", "data.csv", "--out", "data.csv"], "does not exist yet"),
        (["draft", "data.csv", "--out", "no/such/place.toml"], "writable"),
        (["show", "nothing.toml"], "'nothing.toml' cannot be read: No such file or directory. Check the path."),
        (["show", "data.csv"], "not valid TOML"),
    ],
)
def test_bad_input(file: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert main(["schema", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert file.read_text() == ROWS
