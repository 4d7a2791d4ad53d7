"""What the command line refuses leaves nothing behind, and what it says and writes is what was given."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

import tacit
from tacit.cli import main

URL = "sqlite:///ledger.db"
N = 400
TEXT = ["--label", "label", "--text", "text", "--classes", "ham,spam"]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TACIT_LEDGER", URL)
    texts = [f"win a prize, call {i}" if i % 2 else f"see you at lunch on day {i}" for i in range(N)]
    labels = ["spam" if i % 2 else "ham" for i in range(N)]
    pl.DataFrame({"text": texts, "label": labels}).write_csv("mail.csv")
    model = tacit.TextClassifier(1.0, classes=("ham", "spam"), random_state=0).fit(texts, labels)
    for name, column in (("good", "text"), ("other", "note")):
        model.input_ = {"label": "label", "text": column}
        model.save(f"{name}.json")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def accounts() -> list[str]:
    if not Path("ledger.db").exists():
        return []
    with tacit.Ledger.open(URL) as ledger:
        return [account.name for account in ledger.accounts()]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "mail.csv", *TEXT, "--epsilon", "1e-13", "--out", "out"], "noise scale"),
        (["run", "mail.csv", *TEXT, "--epsilon", "1", "--word-list", "xx", "--out", "out"], "'--word-list' option"),
        (["evaluate", "good.json", "mail.csv", "--epsilon", "1e-13", "--out", "out"], "noise scale"),
        (["compare", "good.json", "other.json", "mail.csv", "--epsilon", "1"], "no column 'note'"),
        (["compare", "good.json", "good.json", "mail.csv", "--epsilon", "1e-12"], "noise scale"),
        (["compare", "good.json", "good.json", "--epsilon", "1"], "add its files as DATA"),
        (["compare", "good.json", "good.json", "--data-version", "2"], "'--data-version' parameter"),
        (["compare", "good.json", "good.json", "mail.csv"], "DATA was given, so --epsilon is needed"),
        (["evaluate", "good.json", "mail.csv", "--epsilon", "1", "--unit", "text"], "'--rows-per-unit' parameter"),
        (["evaluate", "good.json", "mail.csv", "--epsilon", "1", "--rows-per-unit", "2"], "'--unit' parameter"),
    ],
)
def test_a_refused_command_leaves_no_account(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert accounts() == [], "its budget would bind whoever comes next"
    assert not Path("out").exists()


@pytest.fixture
def second() -> None:
    """Save another model."""
    mail = pl.read_csv("mail.csv")
    model = tacit.TextClassifier(1.0, classes=("ham", "spam"), random_state=1).fit(mail["text"], mail["label"])
    model.input_ = {"label": "label", "text": "text"}
    model.save("second.json")


@pytest.mark.usefixtures("second")
def test_two_curves_are_refused_where_one_alone_can_be_paid(capsys: pytest.CaptureFixture[str]) -> None:
    with tacit.Ledger.open(URL) as ledger:
        account = ledger.account("mail.csv", budget=tacit.Budget(0.7))
        arguments = ["compare", "good.json", "second.json", "mail.csv", "--epsilon", "1"]
        code, _, err = run(capsys, *arguments)
        assert code == 2
        assert "Lacking: ε = 0.3" in err
        assert account.entries() == []


@pytest.mark.parametrize("spent", [0.0, 0.2])
def test_the_same_model_twice_is_paid_for_once(capsys: pytest.CaptureFixture[str], spent: float) -> None:
    shutil.copy("good.json", "copy.json")
    with tacit.Ledger.open(URL) as ledger:
        account = ledger.account("mail.csv", budget=tacit.Budget(0.7))
        if spent:
            account.spend(tacit.Budget(spent), mechanism="m", query="q")
        code, out, err = run(capsys, "compare", "good.json", "copy.json", "mail.csv", "--epsilon", "1")
        assert code == 0, err
        assert "cannot be told apart" in out
        assert "Cost ε = 0.5, for one curve, since both are the same, on 'mail.csv'" in out
        assert account.spent.epsilon == spent + 0.5
        code, out, _ = run(capsys, "compare", "good.json", "copy.json", "mail.csv", "--epsilon", "1", "--json")
        assert (code, json.loads(out)["epsilon"], account.spent.epsilon) == (0, 0.5, spent + 0.5)


def test_a_comparison_of_curves_of_two_prices_names_both(capsys: pytest.CaptureFixture[str]) -> None:
    with tacit.Ledger.open(URL) as ledger:
        ledger.account("mail.csv", budget=tacit.Budget(2.0))
    for name, epsilon in (("a", "0.02"), ("b", "0.01")):  # so little that noise cannot make them differ
        assert run(capsys, "evaluate", "good.json", "mail.csv", "--epsilon", epsilon, "--out", name)[0] == 0, name
    code, out, _ = run(capsys, "compare", "a", "b")
    assert code == 0
    assert "cannot be told apart at ε = 0.02 (A) and 0.01 (B): more rows" in out


@pytest.mark.usefixtures("second")
def test_two_curves_are_paid_together_or_not_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    """With earlier charges the first was paid, and then the second was refused. What is known stays free."""
    with tacit.Ledger.open(URL) as ledger:
        account = ledger.account("mail.csv", budget=tacit.Budget(1.0))
        assert run(capsys, "evaluate", "second.json", "mail.csv", "--epsilon", "0.4")[0] == 0
        code, _, err = run(capsys, "compare", "good.json", "second.json", "mail.csv", "--epsilon", "1")
        assert (code, "Lacking: ε = 0.4" in err) == (2, True), err
        assert account.spent == tacit.Budget(0.4)
        account.spend(tacit.Budget(0.2), mechanism="m", query="q")
        code, _, err = run(capsys, "compare", "good.json", "second.json", "mail.csv", "--epsilon", "0.8")
        assert code == 0, err
        assert account.spent == tacit.Budget(1.0)


@pytest.mark.usefixtures("second")
def test_a_comparison_says_what_it_cost_and_what_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    pl.DataFrame({"text": ["lunch"] * N, "label": ["ham"] * N}).write_csv("one.csv")
    code, out, _ = run(capsys, "compare", "good.json", "second.json", "one.csv", "--epsilon", "1")
    assert code == 0
    assert "so is the difference" in out
    assert "Difference in AUC" not in out
    assert f"Cost ε = 1, half of it for each curve, on 'one.csv' in {URL}; protected: row" in out
    code, out, _ = run(capsys, "compare", "good.json", "second.json", "one.csv", "--epsilon", "1", "--json")
    facts = json.loads(out)
    assert (code, facts["unknown"], facts["epsilon"], facts["better"]) == (0, True, 1.0, None)


RECORDS = [
    {"id": 1, "big": 2**70, "share": 0.5, "sure": True, "odd": 3, "none": None, "tags": ["a", 1], "name": "é"},
    {"id": 2**60, "big": 2, "share": 2, "sure": False, "odd": "3", "none": None, "tags": {"b": None}, "name": "\ud800"},
    {"id": None, "big": 3, "share": 1e300, "sure": None, "odd": True, "none": None, "tags": [], "name": "3"},
]


def test_what_is_kept_of_json_lines_stays_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    records = [record | {"text": "win a prize"} for record in RECORDS]
    Path("new.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    keep = ",".join(records[0])
    assert run(capsys, "score", "good.json", "new.jsonl", "--out", "s.jsonl", "--keep", keep)[0] == 0
    found = [json.loads(line) for line in Path("s.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [{name: record[name] for name in records[0]} for record in found] == records
    assert [type(record["odd"]) for record in found] == [int, str, bool]
    assert all(0 <= record["score"] <= 1 for record in found)


def test_in_other_formats_they_have_a_type(capsys: pytest.CaptureFixture[str]) -> None:
    records = [record | {"text": "win a prize"} for record in RECORDS]
    Path("new.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    keep = ",".join(name for name in records[0] if name != "tags")
    for name in ("s.csv", "s.parquet"):
        assert run(capsys, "score", "good.json", "new.jsonl", "--out", name, "--keep", keep)[0] == 0
        code, _, err = run(capsys, "score", "good.json", "new.jsonl", "--out", f"tags-{name}", "--keep", "tags")
        assert (code, "Write .jsonl instead" in err) == (2, True)
    frame = pl.read_parquet("s.parquet")
    assert frame["id"].to_list() == [1, 2**60, None]
    assert frame["big"].to_list() == [str(2**70), "2", "3"]
    assert frame["share"].to_list() == [0.5, 2.0, 1e300]
    assert frame["sure"].to_list() == [True, False, None]
    assert frame["odd"].to_list() == ["3", "3", "true"]
    assert frame["none"].to_list() == [None, None, None]
    assert Path("s.csv").read_text(encoding="utf-8").splitlines()[1].startswith(f"1,{2**70},0.5,true,3,,é,win a prize")


def test_a_password_is_not_shown_by_help(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACIT_LEDGER", "postgresql://me:opensesame@db.example/ledger")
    for command in (["run"], ["evaluate"], ["compare"], ["ledger", "list"]):
        with pytest.raises(SystemExit):
            main([*command, "--help"])
        out = capsys.readouterr().out
        assert "TACIT_LEDGER" in out
        assert "opensesame" not in out


def test_a_header_of_one_name_is_no_schema(capsys: pytest.CaptureFixture[str]) -> None:
    pl.read_csv("mail.csv").write_csv("excel.csv", separator=";")
    code, out, err = run(capsys, "schema", "draft", "excel.csv")
    assert (code, out) == (2, "")
    assert "pass --delimiter ';'" in err
    assert run(capsys, "schema", "draft", "excel.csv", "--delimiter", ";")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["run", "mail.csv", *TEXT, "--epsilon", "0", "--out", "out"], "--epsilon"),
        (["run", "mail.csv", *TEXT, "--epsilon", "1", "--test-size", "2", "--out", "out"], "--test-size"),
        (["run", "mail.csv", *TEXT, "--epsilon", "1", "--delimiter", "ab", "--out", "out"], "--delimiter"),
        (["score", "good.json", "mail.csv", "--out", "s.csv", "--keep", "score"], "--keep"),
        (["evaluate", "good.json", "mail.csv", "--epsilon", "0"], "--epsilon"),
        (["ledger", "create", "data", "--epsilon", "1", "--delta", "2"], "--delta"),
        (["plan", "--rows", "10", "--positives", "20", "--features", "2", "--epsilon", "1"], "--positives"),
    ],
)
def test_errors_name_options(capsys: pytest.CaptureFixture[str], arguments: list[str], option: str) -> None:
    code, _, err = run(capsys, *arguments)
    assert (code, f"The '{option}' option must be" in err) == (2, True), err


def test_a_row_may_be_said_aloud(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "ledger", "create", "x", "--epsilon", "1", "--unit", "row", "--json")
    assert (code, json.loads(out)["unit"]) == (0, "row")
