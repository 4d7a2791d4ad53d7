"""Files that cannot be used as they stand: an error in the words of the command line, and nothing is charged."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

import tacit
from tacit.cli import main
from tacit.data.errors import SourceError

URL = "sqlite:///ledger.db"
N = 900
TEXT = ["--label", "label", "--text", "text", "--classes", "ham,spam"]
FRAME = pl.DataFrame(
    {
        "id": range(N),
        "label": ["spam" if i % 2 else "ham" for i in range(N)],
        "text": [f"win a prize, call {i}" if i % 2 else f"see you at lunch on day {i}" for i in range(N)],
    }
)


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TACIT_LEDGER", URL)
    FRAME.write_csv("mail.csv")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command says that must be refused in one paragraph."""
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("tacit: error: ")
    assert err.count("\n") == 1
    return err


def charges() -> int:
    if not Path("ledger.db").exists():
        return 0
    with tacit.Ledger.open(URL) as ledger:
        return sum(len(account.entries()) for account in ledger.accounts())


def write_unreadable(name: str) -> None:
    text = FRAME.write_csv()
    lines = FRAME.write_ndjson()
    content = {
        "cut.csv.gz": gzip.compress(text.encode())[:-2000],
        "cut.jsonl.gz": gzip.compress(lines.encode() * 80)[:-20],  # its head is whole
        "quote.csv": text.encode() + b'9,ham,"left open\n9,ham,x\n',
    }
    if name in content:
        Path(name).write_bytes(content[name])
    elif name == "list.parquet":
        FRAME.with_columns(text=pl.concat_list("text")).write_parquet(name)
    else:
        FRAME.select("text", "label").write_parquet(name)
        whole = Path(name).read_bytes()
        Path(name).write_bytes(whole[:100] + bytes(200) + whole[300:])


UNREADABLE = {
    "cut.csv.gz": "not complete gzip",
    "cut.jsonl.gz": "not complete gzip",
    "quote.csv": "never closed",
    "list.parquet": "'text' is of type List",
    "holes.parquet": "cannot be read",
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read_to_its_end_costs_nothing(capsys: pytest.CaptureFixture[str], name: str) -> None:
    write_unreadable(name)
    assert UNREADABLE[name] in refused(capsys, "run", name, *TEXT, "--epsilon", "1", "--out", "out")
    assert charges() == 0
    assert not Path("out").exists()


@pytest.mark.parametrize("name", UNREADABLE)
def test_nor_does_it_in_python(name: str) -> None:
    write_unreadable(name)
    account = tacit.Ledger.open().account("mail", budget=tacit.Budget(1.0))
    schema = tacit.Schema.text(("ham", "spam"), label="label")
    with pytest.raises(tacit.TacitError, match=UNREADABLE[name]):
        tacit.TabularClassifier(schema=schema, classes=("ham", "spam"), account=account).fit(name)
    assert not account.entries()


def test_nor_does_a_frame_with_a_column_of_lists() -> None:
    account = tacit.Ledger.open().account("mail", budget=tacit.Budget(1.0))
    frame = FRAME.with_columns(text=pl.concat_list("text"))
    with pytest.raises(tacit.TacitError, match="type List"):
        tacit.Workflow(1.0, classes=("ham", "spam"), label="label", text="text", account=account).run(frame)
    assert not account.entries()


def test_texts_that_are_bytes_are_read_by_the_same_rule_in_training_and_test(
    capsys: pytest.CaptureFixture[str],
) -> None:
    texts = pl.Series([f"win {i}".encode() + b"\xff" if i % 2 else f"lunch {i}".encode() for i in range(N)])
    FRAME.with_columns(text=texts).write_parquet("bytes.parquet")
    assert run(capsys, "run", "bytes.parquet", *TEXT, "--epsilon", "1", "--out", "out")[0] == 0


def test_an_error_after_a_charge_says_what_was_charged(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise SourceError("The file is gone.")

    arguments = ["run", "mail.csv", *TEXT, "--epsilon", "1", "--out", "out"]
    with monkeypatch.context() as patched:
        patched.setattr("tacit.workflow.private_curve", gone)
        said = refused(capsys, *arguments)
    assert "The file is gone. Charged to 'mail.csv' before this error: ε = 1 for" in said
    assert charges() == 1
    assert run(capsys, *arguments)[0] == 0
    assert charges() == 2, "what was charged before was not paid for twice"


@pytest.fixture
def model(capsys: pytest.CaptureFixture[str]) -> str:
    assert run(capsys, "run", "mail.csv", *TEXT, "--epsilon", "2", "--out", "made")[0] == 0
    return "made/model.json"


@pytest.mark.parametrize("target", ["nowhere/both.png", "/proc/both.png", "made", "mail.csv/both.png"])
def test_a_picture_that_cannot_be_written_costs_nothing(
    capsys: pytest.CaptureFixture[str], model: str, target: str
) -> None:
    before = charges()
    arguments = ["compare", model, model, "mail.csv", "--epsilon", "1", "--dataset", "other", "--out", target]
    assert "--out" in refused(capsys, *arguments)
    assert charges() == before


def test_a_disk_that_fills_up_while_a_picture_is_drawn(
    capsys: pytest.CaptureFixture[str], model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    assert "No space left" in refused(capsys, "compare", "made", "made", "--out", "both.png")
    evaluation = ["evaluate", model, "mail.csv", "--epsilon", "1", "--dataset", "other", "--out", "evaluated"]
    assert "No space left" in refused(capsys, *evaluation)


@pytest.mark.parametrize("name", ["mail.libsvm", "list.parquet"])
def test_public_texts_that_are_none(capsys: pytest.CaptureFixture[str], name: str) -> None:
    Path("mail.libsvm").write_text("1 1:1\n")
    write_unreadable("list.parquet")
    words = {"mail.libsvm": "'--public-text'", "list.parquet": "type List"}
    assert words[name] in refused(
        capsys, "run", "mail.csv", *TEXT, "--epsilon", "1", "--out", "out", "--public-text", name
    )
    assert charges() == 0


def test_scores_that_cannot_be_written(capsys: pytest.CaptureFixture[str], model: str) -> None:
    write_unreadable("list.parquet")
    FRAME.with_columns(vector=pl.concat_list("id", "id")).write_parquet("vectors.parquet")
    Path("mail.libsvm").write_text("1 1:1\n")
    for arguments, words in (
        (["mail.csv", "--keep", "id,id"], "named once each"),
        (["list.parquet"], "type List"),
        (["mail.libsvm"], "no names of columns"),
        (["vectors.parquet", "--keep", "vector"], ".parquet or .jsonl"),
    ):
        assert words in refused(capsys, "score", model, *arguments, "--out", "scores.csv")
        assert not Path("scores.csv").exists()
    assert run(capsys, "score", model, "vectors.parquet", "--keep", "vector", "--out", "scores.parquet")[0] == 0
    assert pl.read_parquet("scores.parquet")["vector"].to_list()[1] == [1, 1]


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_records_without_a_score_are_told(capsys: pytest.CaptureFixture[str], model: str, form: str) -> None:
    """Scores are for whoever has the rows, and so is how many of them are odd."""
    content = {
        "csv": "id,text\n1,a prize\n2\n3,a,b\n4,lunch\n",
        "tsv": "id\ttext\n1\ta prize\n2\n3\ta\tb\n4\tlunch\n",
        "jsonl": '{"id": 1, "text": "a prize"}\nno JSON\n\n[3]\n{"id": 4, "text": "lunch"}\n',
    }
    Path(f"odd.{form}").write_text(content[form])
    code, out, _ = run(capsys, "score", model, f"odd.{form}", "--keep", "id", "--out", "scores.csv")
    assert (code, f"have no score: 2 of 'odd.{form}'" in out) == (0, True)
    assert pl.read_csv("scores.csv")["id"].to_list() == [1, 4]
    code, out, _ = run(capsys, "score", model, f"odd.{form}", "--out", "again.csv", "--json")
    assert json.loads(out)["left_out"] == 2
    code, out, _ = run(capsys, "score", model, "mail.csv", "--out", "all.csv", "--json")
    assert json.loads(out)["left_out"] == 0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("semi.csv", "or pass --header for a file that has no header line, or pass --delimiter ';', which stands"),
        ("bare.csv", "or pass --header for a file that has no header line."),
        ("mail", "or pass --format (one of csv"),
        ("quote.csv", "or pass --quote '' if quotes"),
        ("blank.csv", "no column 'text', 'label'"),
    ],
)
def test_remedies_name_options(capsys: pytest.CaptureFixture[str], name: str, words: str) -> None:
    write_unreadable("quote.csv")
    FRAME.write_csv("semi.csv", separator=";")
    FRAME.write_csv("bare.csv", include_header=False)
    FRAME.write_csv("mail")
    Path("blank.csv").write_text("\n\n")
    said = refused(capsys, "run", name, *TEXT, "--epsilon", "1", "--out", "out")
    assert words in said
    assert "=" not in said
    assert charges() == 0


def test_a_schema_is_drafted_from_a_file_of_any_kind(capsys: pytest.CaptureFixture[str]) -> None:
    expected = run(capsys, "schema", "draft", "mail.csv")
    FRAME.write_csv("semi.csv", separator=";")
    FRAME.write_csv("bare.csv", include_header=False)
    FRAME.write_csv("mail")
    for arguments in (
        ["semi.csv", "--delimiter", ";"],
        ["bare.csv", "--header", "id,label,text"],
        ["mail", "--format", "csv"],
    ):
        assert run(capsys, "schema", "draft", *arguments) == expected
    Path("blank.csv").write_text("\n")
    assert "Pass --header." in refused(capsys, "schema", "draft", "blank.csv")
