"""``tacit run``, ``score``, ``evaluate`` and ``compare`` as a user runs them, also when things go wrong."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.cli import common, main
from tacit.cli.run import labels_of

URL = "sqlite:///ledger.db"
N = 900
OUTPUTS = {"model.json", "report.html", "receipt.json", "roc.csv", "roc.png", "features.csv", "curve.json"}
TEXT = ["--label", "label", "--text", "text", "--classes", "ham,spam"]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TACIT_LEDGER", URL)
    texts = [f"win a prize, call {i}" if i % 2 else f"see you at lunch on day {i}" for i in range(N)]
    labels = ["spam" if i % 2 else "ham" for i in range(N)]
    frame = pl.DataFrame({"id": range(N), "person": [f"p{i // 3}" for i in range(N)], "text": texts, "label": labels})
    frame.write_csv("mail.csv")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def test_the_story_of_texts(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "run", "mail.csv", *TEXT, "--epsilon", "1", "--out", "out")
    assert (code, err) == (0, "")
    assert "AUC" in out
    assert "the largest of 1 (train) and 1 (test) = 1" in out
    assert str(N) not in out, "how many rows there are is private"
    assert {file.name for file in Path("out").iterdir()} == OUTPUTS
    code, out, _ = run(capsys, "run", "mail.csv", *TEXT, "--epsilon", "1", "--out", "again", "--json")
    assert code == 0
    facts = json.loads(out)
    assert facts["epsilon"] == 1.0
    assert {Path(file).name for file in facts["files"]} == OUTPUTS
    for name in OUTPUTS:
        assert Path("out", name).read_bytes() == Path("again", name).read_bytes(), f"{name}: again is the same"
    with tacit.Ledger.open(URL) as ledger:
        account = ledger.account("mail.csv")
        assert account.spent == tacit.Budget(1.0)
        assert len(account.entries()) == 2
        assert all(verdict.ok for verdict in ledger.verify())
    code, out, err = run(capsys, "run", "mail.csv", *TEXT, "--epsilon", "0.5", "--out", "more")
    assert (code, out) == (2, "")
    assert all(words in err for words in ("Remaining: ε = 0", "tacit ledger raise", "Nothing was charged"))
    assert not Path("more").exists()


def test_a_table_with_persons(capsys: pytest.CaptureFixture[str]) -> None:
    schema = tacit.Schema.from_dict(
        {
            "label": {"classes": ["ham", "spam"], "column": "label"},
            "columns": {
                "id": {"kind": "number", "low": 0, "high": 1000, "bins": 4},
                "text": {"kind": "text", "bits": 6},
            },
        }
    )
    Path("schema.toml").write_text(schema.to_toml())
    code, out, _ = run(
        capsys, "run", "mail.csv", "--schema", "schema.toml", "--classes", "spam,ham", "--epsilon", "2",
        "--unit", "person", "--rows-per-unit", "2", "--dataset", "mail", "--out", "out", "--json",
    )  # fmt: skip
    assert code == 0
    facts = json.loads(out)
    assert facts["receipt"]["unit"] == "user (column 'person', at most 2 rows)"
    assert tacit.load("out/model.json").classes_.tolist() == ["spam", "ham"], "the last one is positive"
    assert "Predicting label in mail" in Path("out/report.html").read_text(), "the schema names the label"
    for model in ("out/model.json", "out"):
        code, _, err = run(capsys, "evaluate", model, "mail.csv", "--epsilon", "1", "--dataset", "mail")
        assert (code, "Remaining: ε = 0" in err) == (2, True)


@pytest.mark.parametrize(
    ("form", "kind", "classes"),
    [("csv", float, "0,1"), ("csv", int, "0.0,1.0"), ("parquet", float, "0.0,1.0"), ("jsonl", bool, "0,1")],
)
def test_classes_that_are_numbers_are_met_however_files_write_them(
    capsys: pytest.CaptureFixture[str], form: str, kind: type, classes: str
) -> None:
    frame = pl.read_csv("mail.csv").with_columns(label=pl.Series([kind(i % 2) for i in range(N)]))
    writers = {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}
    writers[form](f"mail.{form}")
    asked = ["--label", "label", "--text", "text", "--classes", classes, "--epsilon", "2", "--out", "out", "--json"]
    code, out, _ = run(capsys, "run", f"mail.{form}", *asked)
    assert (code, json.loads(out)["unknown"]) == (0, False)
    assert tacit.load("out/model.json").classes_.tolist() == [0, 1]


@pytest.mark.parametrize("classes", ["007,008", "nan,inf", "1,other", f"{2**60},{2**60 + 1}"])
def test_other_classes_stay_texts(classes: str) -> None:
    assert labels_of(classes) == classes.split(",")


def test_scores_stream_out_in_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "run", "mail.csv", *TEXT, "--epsilon", "2", "--out", "out")[0] == 0
    model = tacit.load("out/model.json")
    expected = model.predict_proba(pl.read_csv("mail.csv")["text"])[:, 1].tolist()
    readers = {"csv": pl.read_csv, "parquet": pl.read_parquet, "jsonl": pl.read_ndjson}
    for suffix, read in readers.items():
        code, out, _ = run(capsys, "score", "out/model.json", "mail.csv", "--out", f"s.{suffix}", "--keep", "id")
        assert code == 0
        assert "private data again" in out
        scored = read(f"s.{suffix}")
        assert scored.columns == ["id", "prediction", "score"]
        assert scored["id"].to_list() == ([*range(N)] if suffix == "csv" else [str(i) for i in range(N)])
        assert scored["score"].to_list() == expected
    assert sorted(file.name for file in Path().iterdir() if file.name.startswith((".", "s."))) == [
        "s.csv",
        "s.jsonl",
        "s.parquet",
    ]
    for arguments, words in (
        (["score", "out/model.json", "mail.csv", "--out", "s.csv"], "does not exist yet"),
        (["score", "out/model.json", "mail.csv", "--out", "s.xlsx"], "ends with one of"),
        (["score", "out/model.json", "mail.csv", "--out", "no/s.csv"], "writable"),
        (["score", "out/model.json", "mail.csv", "--out", "t.csv", "--text", "note"], "no column 'note'"),
        (["score", "mail.csv", "mail.csv", "--out", "t.csv"], "not valid JSON"),
        (["score", "none.json", "mail.csv", "--out", "t.csv"], "Check the path"),
    ):
        code, out, err = run(capsys, *arguments)
        assert (code, out, words in err) == (2, "", True), err
    assert not Path("t.csv").exists()


def test_a_file_without_rows_is_as_good_as_any(capsys: pytest.CaptureFixture[str]) -> None:
    """How many rows there are is private, also if there are none."""
    Path("none.csv").write_text("text,label\n")
    code, _, err = run(capsys, "run", "none.csv", *TEXT, "--epsilon", "1", "--out", "out")
    assert (code, err) == (0, "")
    for suffix, read in {"csv": pl.read_csv, "parquet": pl.read_parquet}.items():
        assert run(capsys, "score", "out/model.json", "none.csv", "--out", f"s.{suffix}", "--keep", "label")[0] == 0
        assert read(f"s.{suffix}").columns == ["label", "prediction", "score"]
    assert run(capsys, "evaluate", "out/model.json", "none.csv", "--epsilon", "1", "--dataset", "x")[0] == 0


def test_a_declared_version_tells_what_is_the_same_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "run", "mail.csv", *TEXT, "--epsilon", "2", "--out", "good")[0] == 0
    frame = pl.read_csv("mail.csv")
    ask = ["evaluate", "good", "new.csv", "--epsilon", "1", "--dataset", "new", "--data-version"]
    for rows, version, code in ((300, "monday", 0), (301, "monday", 0), (301, "tuesday", 2)):
        frame.head(rows).write_csv("new.csv")
        assert run(capsys, *ask, version)[0] == code
    with tacit.Ledger.open(URL) as ledger:
        assert len(ledger.account("new").entries()) == 1
    for command in (ask, ["run", "mail.csv", *TEXT, "--epsilon", "1", "--out", "o", "--data-version"]):
        code, _, err = run(capsys, *command, "")
        assert (code, "The '--data-version' option must be" in err) == (2, True), err


def test_evaluate_and_compare(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "run", "mail.csv", *TEXT, "--epsilon", "2", "--out", "good")[0] == 0
    frame = pl.read_csv("mail.csv")
    frame.with_columns(text=pl.Series([f"word{i % 7} {i}" for i in range(N)])).write_csv("noise.csv")
    assert run(capsys, "run", "noise.csv", *TEXT, "--epsilon", "2", "--out", "poor")[0] == 0
    turned = pl.Series(["ham" if label == "spam" else "spam" for label in frame["label"]])
    frame.with_columns(label=turned).write_csv("turned.csv")
    assert run(capsys, "run", "turned.csv", *TEXT, "--epsilon", "2", "--out", "wrong")[0] == 0
    code, out, _ = run(
        capsys,
        "evaluate",
        "good/model.json",
        "mail.csv",
        "--dataset",
        "other",
        "--epsilon",
        "1",
        "--out",
        "e",
        "--json",
    )
    assert code == 0
    assert json.loads(out)["auc"] > 0.9
    assert {file.name for file in Path("e").iterdir()} == {"receipt.json", "curve.json", "roc.csv", "roc.png"}
    code, out, _ = run(capsys, "compare", "good", "poor/curve.json", "--json", "--out", "both.png")
    facts = json.loads(out)
    assert (code, facts["told_apart"], facts["better"]) == (0, True, "A")
    assert Path("both.png").read_bytes().startswith(b"\x89PNG")
    code, out, _ = run(capsys, "compare", "good", "e")
    assert code == 0
    assert "told apart" in out
    code, out, _ = run(
        capsys, "compare", "wrong/model.json", "good/model.json", "mail.csv", "--dataset", "third", "--epsilon", "2"
    )
    assert code == 0
    assert "B is better" in out
    with tacit.Ledger.open(URL) as ledger:
        assert ledger.account("third").spent == tacit.Budget(2.0)
        assert [charge.budget.epsilon for charge in ledger.account("third").entries()] == [1.0, 1.0]
    for arguments, words in (
        (["compare", "good", "nowhere"], "Check the path"),
        (["compare", "good/model.json", "poor"], "add their private set as DATA"),
        (["compare", "good", "poor", "--out", "both.png"], "new file"),
        (["compare", "good/model.json", "poor/model.json", "mail.csv"], "--epsilon"),
        (["evaluate", "good/model.json", "mail.csv", "--epsilon", "1", "--out", "e"], "new or empty"),
        (
            ["evaluate", "good/model.json", "mail.csv", "--epsilon", "1", "--dataset", "x", "--label", "y"],
            "no column 'y'",
        ),
    ):
        code, out, err = run(capsys, *arguments)
        assert (code, out, words in err) == (2, "", True), err


def test_a_model_of_libsvm_files_is_evaluated_on_others(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    for name in ("a.libsvm", "b.libsvm"):
        bits = [1 + np.flatnonzero(rng.random(40) < np.where(np.arange(40) % 2 == i % 2, 0.3, 0.1)) for i in range(900)]
        lines = (" ".join([("-1", "1")[i % 2], *(f"{bit}:1" for bit in row)]) for i, row in enumerate(bits))
        Path(name).write_text("\n".join(lines))
    Path("schema.toml").write_text(tacit.Schema.matrix(40, (-1, 1)).to_toml())
    code, out, _ = run(capsys, "run", "a.libsvm", "--schema", "schema.toml", "--epsilon", "4", "--out", "out")
    assert code == 0
    assert "tacit score" not in out, "it would be refused"
    assert "tacit.load('out/model.json').predict_proba" in out
    code, out, _ = run(capsys, "evaluate", "out/model.json", "b.libsvm", "--epsilon", "4", "--json")
    assert code == 0
    assert json.loads(out)["auc"] > 0.8
    code, _, err = run(capsys, "evaluate", "out/model.json", "mail.csv", "--epsilon", "4")
    assert (code, "libsvm files" in err) == (2, True)


def test_a_model_of_texts_from_python_asks_for_their_column(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pl.read_csv("mail.csv")
    tacit.TextClassifier(2.0, classes=("ham", "spam")).fit(frame["text"], frame["label"]).save("model.json")
    arguments = ["evaluate", "model.json", "mail.csv", "--label", "label", "--epsilon", "1"]
    code, _, err = run(capsys, *arguments)
    assert (code, "Workflow" in err, "'--text'" in err) == (2, False, True)
    assert run(capsys, *arguments, "--text", "text")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.csv", *TEXT], "no file"),
        (["empty.csv", *TEXT], "empty (0 bytes)"),
        (["mail.csv", "--label", "outcome", "--text", "text", "--classes", "ham,spam"], "no column 'outcome'"),
        (["mail.csv", "--label", "label", "--text", "note", "--classes", "ham,spam"], "no column 'note'"),
        (["mail.csv", "--label", "label", "--classes", "ham,spam"], "--schema"),
        (["mail.csv", "--text", "text", "--classes", "ham,spam"], "--label"),
        (["mail.csv", "--label", "label", "--text", "text"], "--classes"),
        (["mail.csv", "--label", "label", "--text", "text", "--classes", "spam"], "'--classes'"),
        (["mail.csv", "--schema", "schema.toml", "--classes", "ham,eggs"], "among the schema's"),
        (["mail.csv", "--schema", "schema.toml", "--label", "other"], "must be given for the column 'other'"),
        (["mail.csv", "--schema", "schema.toml", "--label", "other", "--classes", "a,b"], "no column 'other'"),
        (["mail.csv", "--schema", "mail.csv", "--classes", "ham,spam"], "not valid TOML"),
        (["mail.csv", *TEXT, "--strict", "--classes", "ham,eggs"], "not among the classes"),
        (["mail.csv", *TEXT, "--unit", "person"], "--rows-per-unit"),
        (["mail.csv", *TEXT, "--unit", "patient", "--rows-per-unit", "1"], "no column 'patient'"),
        (["mail.csv", *TEXT, "--epsilon", "-1"], "'--epsilon'"),
        (["mail.csv", *TEXT, "--delta", "2"], "'--delta'"),
        (["mail.csv", *TEXT, "--test-size", "0"], "'--test-size'"),
        (["mail.csv", *TEXT, "--ledger", "nonsense"], "'--ledger'"),
        (["mail.csv", *TEXT, "--out", "full"], "new or empty"),
        (["mail.csv", *TEXT, "--word-list", "klingon"], "'--word-list'"),
        (["mail.csv", *TEXT, "--public-text", "nowhere.txt"], "no file"),
        (["mail.csv", *TEXT, "--public-text", "empty.csv"], "empty (0 bytes)"),
        (["mail.csv", *TEXT, "--public-text", "./mail.csv"], "other files than the private data"),
        (["mail.csv", *TEXT, "--public-text", "."], "other files than the private data"),
        (["mail.csv", *TEXT, "--public-text", "full/mine.txt"], "'--public-text'"),
        (["mail.csv", "--schema", "schema.toml", "--public-text", "mail.csv"], "left out where --schema"),
    ],
)
def test_what_is_wrong_is_said_in_one_paragraph(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    Path("empty.csv").touch()
    Path("full").mkdir()
    Path("full", "mine.txt").touch()
    Path("schema.toml").write_text(tacit.Schema.text(("ham", "spam"), label="label").to_toml())
    full = ["--epsilon", "1", "--out", "out", *arguments[1:]]
    code, out, err = run(capsys, "run", arguments[0], *full)
    assert (code, out) == (2, "")
    assert err.startswith("tacit: error: ")
    assert words in err
    assert err.count("\n") == 1
    assert not Path("out").exists()
    if Path("ledger.db").exists():
        with tacit.Ledger.open(URL) as ledger:
            assert ledger.accounts() == [], "nothing was charged, and no account was made"


@pytest.mark.parametrize("form", ["csv", "txt", "folder"])
def test_public_texts_come_from_files(capsys: pytest.CaptureFixture[str], form: str) -> None:
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice(["cash", "prize", "lunch", "meeting", "today", "now"], 4)) for _ in range(400)]
    lines = ["text,other", *(f"{text},1" for text in texts)] if form == "csv" else texts
    Path(f"public.{form}").mkdir() if form == "folder" else Path(f"public.{form}").write_text("\n".join(lines) + "\n")
    if form == "folder":  # neither file alone has enough texts for topics
        Path("public.folder/a.txt").write_text("\n".join(lines[:30]))
        Path("public.folder/b.txt").write_text("\n".join(lines[30:60]))
    code, _, err = run(
        capsys, "run", "mail.csv", *TEXT, "--epsilon", "1", "--out", "out", "--public-text", f"public.{form}"
    )
    assert (code, err) == (0, "")
    assert tacit.load("out/model.json").rules_.topics is not None
    assert "topic" in Path("out/receipt.json").read_text()


def test_classes_that_no_row_has_are_found_out_from_the_release() -> None:
    from tacit.cli.common import curve_line

    curve = tacit.roc_curve(np.zeros(500), np.linspace(0, 1, 500), epsilon=1.0, random_state=0)
    assert curve.unknown
    assert "Are the classes spelt as in the data" in curve_line(curve)


def write_much() -> None:
    """A file that takes a while."""
    rows = [f"{i},p,win a prize and call me {i} {'again ' * 30},{'spam' if i % 2 else 'ham'}" for i in range(60_000)]
    Path("mail.csv").write_text("id,person,text,label\n" + "\n".join(rows) + "\n")


def program(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tacit", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_charges(process: subprocess.Popen[str], number: int) -> None:
    """Wait until the account has that many charges."""
    for _ in range(1200):
        if process.poll() is not None:
            break
        try:
            with tacit.Ledger.open(URL, create=False) as ledger:
                if len(ledger.account("mail.csv").entries()) >= number:
                    return
        except tacit.LedgerError:
            pass
        time.sleep(0.05)
    raise AssertionError(f"the run ended, or never paid: {process.communicate()}")


def test_ctrl_c_in_the_middle(capsys: pytest.CaptureFixture[str]) -> None:
    """A real process, a real SIGINT after the first charge; the same command then goes on from there."""
    rows = [
        f"{i},p,win a prize now and call me {i} {'again ' * 30},{'spam' if i % 2 else 'ham'}" for i in range(60_000)
    ]
    Path("mail.csv").write_text("id,person,text,label\n" + "\n".join(rows) + "\n")
    arguments = ["run", "mail.csv", *TEXT, "--epsilon", "1", "--out", "out"]
    process = program(*arguments)
    wait_for_charges(process, 1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 2, err
    assert out == ""
    assert "Traceback" not in err
    assert err.startswith(
        "tacit: Interrupted, and nothing was written. Charged to 'mail.csv' before the interruption: ε = 1"
    )
    assert not Path("out").exists()
    with tacit.Ledger.open(URL) as ledger:
        assert all(verdict.ok for verdict in ledger.verify())
        charged = len(ledger.account("mail.csv").entries())
        assert charged >= 1
    assert run(capsys, *arguments)[0] == 0
    with tacit.Ledger.open(URL) as ledger:
        assert len(ledger.account("mail.csv").entries()) == 2, "what was charged before was not paid for twice"
        assert ledger.account("mail.csv").spent == tacit.Budget(1.0)


def test_ctrl_c_before_anything_is_charged() -> None:
    write_much()
    process = program("run", "mail.csv", *TEXT, "--epsilon", "1", "--out", "out", "--strict")  # reads all of it first
    deadline = time.monotonic() + 60
    while not Path("out").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert err == "tacit: Interrupted, and nothing was written. Nothing was charged to 'mail.csv'.\n"
    assert not Path("ledger.db").exists()
    assert not Path("out").exists()


def test_an_interruption_as_the_folder_is_made_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    make = Path.mkdir

    def interrupted(path: Path, **options: bool) -> None:
        make(path, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "mkdir", interrupted)
    with pytest.raises(KeyboardInterrupt), common.output_folder("out", "tacit run"):
        pass
    assert not Path("out").exists()


def test_an_interruption_as_the_folder_is_handed_over_leaves_none() -> None:
    folders = common.output_folder("out", "tacit run")
    folders.__enter__()
    assert Path("out").is_dir()
    del folders
    assert not Path("out").exists()


def test_an_interruption_while_files_are_written_leaves_the_ledger_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        assert Path("out/model.json").exists()
        raise KeyboardInterrupt

    arguments = ["run", "mail.csv", *TEXT, "--epsilon", "1", "--out", "out", "--ledger", "sqlite:///out/ledger.db"]
    Path("out").mkdir()
    with monkeypatch.context() as patched:
        patched.setattr("tacit.report.files.draw", interrupted)
        code, _, err = run(capsys, *arguments)
    assert (code, "nothing was written. Charged to 'mail.csv'" in err) == (2, True)
    assert [file.name for file in Path("out").iterdir()] == ["ledger.db"]
    Path("out/ledger.db").rename("ledger.db")
    arguments[-1] = URL
    assert run(capsys, *arguments)[0] == 0, "the same again goes on from there"
    assert {file.name for file in Path("out").iterdir()} == OUTPUTS
    with tacit.Ledger.open(URL) as ledger:
        assert len(ledger.account("mail.csv").entries()) == 2


def test_the_ledger_may_be_kept_beside_the_files(capsys: pytest.CaptureFixture[str]) -> None:
    Path("here").mkdir()
    arguments = ["run", "mail.csv", *TEXT, "--epsilon", "1", "--out", "here", "--ledger", "sqlite:///here/ledger.db"]
    assert run(capsys, *arguments)[0] == 0
    assert {file.name for file in Path("here").iterdir()} == OUTPUTS | {"ledger.db"}
