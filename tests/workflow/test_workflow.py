"""``tacit.Workflow``: the arithmetic of its receipt, kinds of input and of classifiers, and what it refuses."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import SelectKBest

import tacit
from tacit.data.columns import CategoryColumn
from tacit.data.schema import Schema
from tacit.desk.parts import FileOptions, open_part
from tacit.privacy.unit import Unit
from tacit.scoring import evaluate

N = 1200
rng = np.random.default_rng(3)
LABELS = ["spam" if i % 2 else "ham" for i in range(N)]
TEXTS = [f"win a prize, call {i}" if i % 2 else f"see you at lunch on day {i}" for i in range(N)]
TABLE = pl.DataFrame(
    {
        "colour": [("red", "blue")[i % 2] if i % 7 else "green" for i in range(N)],
        "age": rng.integers(18, 90, N),
        "person": [f"p{i // 4}" for i in range(N)],
        "label": LABELS,
    }
)
SCHEMA = tacit.Schema.from_dict(
    {
        "label": {"classes": ["ham", "spam"], "column": "label"},
        "columns": {
            "colour": {"kind": "category", "values": ["red", "blue"]},
            "age": {"kind": "number", "low": 0, "high": 100, "bins": 5},
        },
    }
)
CLASSES = ("ham", "spam")


def texts_file(folder: Path, name: str = "mail.csv") -> Path:
    path = folder / name
    frame = pl.DataFrame({"text": TEXTS, "label": LABELS})
    frame.write_parquet(path) if name.endswith("parquet") else frame.write_csv(path)
    return path


def test_parts_are_disjoint_so_each_may_use_the_whole_epsilon() -> None:
    ledger = tacit.Ledger.open()
    account = ledger.account("mail", budget=tacit.Budget(1.0))
    result = tacit.Workflow(1.0, classes=CLASSES, account=account).run(TEXTS, LABELS)
    assert account.spent == tacit.Budget(1.0)
    assert [charge.partition.rpartition(":")[2] for charge in account.entries()] == ["train", "test"]
    receipt = json.loads(result.receipt.to_json())
    assert (receipt["epsilon"], receipt["delta"], receipt["status"]) == (1.0, 0.0, "private")
    assert receipt["composition"]["parts"] == {
        "train": {"epsilon": 1.0, "delta": 0.0},
        "test": {"epsilon": 1.0, "delta": 0.0},
    }
    assert receipt["composition"]["sum"] == "ε: 0 on all rows + the largest of 1 (train) and 1 (test) = 1"
    assert [step["step"] for step in receipt["steps"]] == ["train", "evaluate"]
    assert result.curve.auc > 0.9
    assert "<html" in result.report
    assert "iframe" in result._repr_html_()
    assert "TextClassifier" in repr(result)


def test_a_selector_gets_its_share_and_shares_can_be_changed() -> None:
    X = (rng.random((N, 30)) < 0.2).astype(float)
    X[:, 0] = np.array(LABELS) == "spam"
    settings = {"classes": CLASSES, "selector": tacit.TopKSelector(3, score="dc")}
    result = tacit.Workflow(2.0, **settings).run(X, LABELS)
    costs = {step["step"]: step["epsilon"] for step in result.receipt["steps"]}
    assert costs == {"select": 0.5, "train": 1.5, "evaluate": 2.0}
    assert result.receipt["epsilon"] == 2.0
    assert len(result.features) == 3
    shares = {"select": 0.4, "train": 0.1, "evaluate": 0.25}
    result = tacit.Workflow(2.0, **settings, shares=shares).run(sp.csr_array(X), LABELS)
    costs = {step["step"]: step["epsilon"] for step in result.receipt["steps"]}
    assert costs == {"select": 0.8, "train": 0.2, "evaluate": 0.5}
    assert result.receipt["epsilon"] == 1.0
    assert "1 (train) and 0.5 (test) = 1" in result.receipt["composition"]["sum"]


def test_delta_is_shared_too_and_stays_within_the_account() -> None:
    result = tacit.Workflow(1.0, 1e-6, schema=SCHEMA, classes=CLASSES).run(TABLE)
    assert (result.receipt["epsilon"], result.receipt["delta"]) == (1.0, 1e-6)
    assert "δ: 0 on all rows" in result.receipt["composition"]["sum"]


@pytest.mark.parametrize("kind", ["list", "numpy", "polars", "pandas", "arrow", "csv", "parquet", "folder"])
def test_texts_from_anywhere(kind: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"text": TEXTS, "label": LABELS})
    y: Any = None
    data: Any
    if kind in ("list", "numpy"):
        data, y = TEXTS if kind == "list" else np.array(TEXTS, dtype=object), LABELS
    elif kind == "folder":
        (tmp_path / "parts").mkdir()
        frame[:500].write_csv(tmp_path / "parts" / "a.csv")
        frame[500:].write_parquet(tmp_path / "parts" / "b.parquet")
        data = tmp_path / "parts"
    elif kind in ("csv", "parquet"):
        data = str(texts_file(tmp_path, f"mail.{kind}"))
    else:
        frames = {"polars": frame, "pandas": frame.to_pandas(), "arrow": frame.to_arrow()}
        data = frames[kind]
    names = {} if y is not None else {"label": "label", "text": "text"}
    result = tacit.Workflow(1.0, classes=CLASSES, language=None, **names).run(data, y)
    assert isinstance(result.model, tacit.TextClassifier)
    assert result.curve.auc > 0.9


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow", "csv"])
def test_tables_from_anywhere(kind: str, tmp_path: Path) -> None:
    if kind == "csv":
        data: Any = tmp_path / "table.csv"
        TABLE.write_csv(data)
    else:
        data = {"polars": TABLE, "pandas": TABLE.to_pandas(), "arrow": TABLE.to_arrow()}[kind]
    result = tacit.Workflow(2.0, classes=CLASSES, schema=SCHEMA).run(data)
    assert isinstance(result.model, tacit.TabularClassifier)
    assert result.curve.auc > 0.8
    assert result.features[0][0].startswith("colour")


@pytest.mark.parametrize(
    "settings",
    [{"schema": SCHEMA}, {"classifier": tacit.TabularClassifier(schema=SCHEMA)}],
    ids=["the workflow's schema", "the classifier's schema"],
)
def test_classes_are_taken_from_the_public_description(settings: dict[str, Any]) -> None:
    workflow = tacit.Workflow(2.0, **{"schema": SCHEMA, **settings})
    assert workflow.classes == CLASSES
    assert not workflow.run(TABLE).curve.unknown


def test_classes_are_taken_from_a_classifier_of_ours() -> None:
    named = tacit.Workflow(2.0, classifier=tacit.TextClassifier(classes=CLASSES))
    assert named.classes == CLASSES
    assert tacit.Workflow(2.0, classes=("spam", "ham"), schema=SCHEMA).classes == ("spam", "ham")
    assert tacit.Workflow(2.0).classes == (0, 1)


def test_a_libsvm_file_is_a_matrix(tmp_path: Path) -> None:
    lines = [f"{i % 2} {1 + i % 2}:1 " + " ".join(f"{3 + b}:1" for b in range(13) if i >> b & 1) for i in range(N)]
    (tmp_path / "rows.libsvm").write_text("\n".join(lines))
    schema = tacit.Schema.matrix(15, (0, 1))
    result = tacit.Workflow(1.0, schema=schema).run(tmp_path / "rows.libsvm")
    assert isinstance(result.model, tacit.BernoulliNB)
    assert result.curve.auc > 0.9


@pytest.mark.parametrize("classifier", [None, tacit.BernoulliNB(), tacit.LogisticRegression()])
def test_no_rows_at_all(classifier: Any) -> None:
    for settings, data, y in (({"schema": SCHEMA}, TABLE[:0], None), ({}, np.zeros((0, 3)), [])):
        result = tacit.Workflow(1.0, classes=CLASSES, classifier=classifier, **settings).run(data, y)
        assert result.receipt["epsilon"] == 1.0


def test_persons_are_protected_as_a_whole() -> None:
    settings = {"classes": CLASSES, "schema": SCHEMA, "unit": "person", "rows_per_unit": 2}
    ledger = tacit.Ledger.open()
    result = tacit.Workflow(2.0, **settings, ledger=ledger, dataset="stays").run(TABLE)
    assert result.receipt["unit"] == "user (column 'person', at most 2 rows)"
    assert ledger.account("stays").unit == Unit.user("person", 2)
    persons = TABLE["person"]
    again = tacit.Workflow(2.0, classes=CLASSES, unit=Unit.user("person", 2))
    texts = again.run(TEXTS, LABELS, persons=persons)
    assert texts.receipt["unit"] == "user (column 'person', at most 2 rows)"


def test_rows_without_label_or_person_are_left_out_by_rule() -> None:
    people = ["a", None, "b", "", "c", "d"]
    part = open_part(
        ["x y", "x", "y", "z", "w", "v"], ["ham", "ham", "eggs", "spam", None, "spam"],
        classes=CLASSES, unit=Unit.user("person", 1), persons=people,
    )  # fmt: skip
    batches = list(part.table().batches())
    assert [batch.persons.to_list() for batch in batches] == [["a", "d"]]
    assert "x y" not in repr(part)
    with pytest.raises(tacit.PrivacyError, match="cannot be stored"):
        pickle.dumps(part)


def test_a_coin_depends_on_its_own_row_alone() -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(1.0))

    def side(texts: list[str]) -> dict[str, str]:
        part = open_part(texts, ["ham"] * len(texts), classes=CLASSES, unit=Unit.row())
        halves = part.split(0.5, account)[:2]
        return {
            text: name
            for name, half in zip(("train", "test"), halves, strict=True)
            for batch in half.table().batches()
            for text in batch.data["text"]
        }

    few, many = side(TEXTS[:50]), side(TEXTS[:80])
    assert set(few.values()) == {"train", "test"}
    assert all(many[text] == name for text, name in few.items())


def survey(folder: Path) -> Path:
    """One file with two labels, each of which is seen in the text."""
    path = folder / "survey.csv"
    bits = [(i % 2, i // 2 % 2) for i in range(N)]
    texts = [f"{('air', 'ash')[a]} {('salt', 'sugar')[b]} {i}" for i, (a, b) in enumerate(bits)]
    yes = [[("no", "yes")[pair[place]] for pair in bits] for place in (0, 1)]
    pl.DataFrame({"text": texts, "smoker": yes[0], "diabetes": yes[1]}).write_csv(path)
    return path


def test_another_label_is_another_split(tmp_path: Path) -> None:
    """Rows in the test part for one label may be in the training part for another: both are paid for."""
    account = tacit.Ledger.open().account("survey", budget=tacit.Budget(1.1))
    settings: dict[str, Any] = {"classes": ("no", "yes"), "text": "text", "account": account}
    path = survey(tmp_path)
    tacit.Workflow(1.0, label="smoker", shares={"train": 0.1}, **settings).run(path)
    with pytest.raises(tacit.BudgetError):
        tacit.Workflow(1.0, label="diabetes", shares={"evaluate": 0.1}, **settings).run(path)
    assert account.spent == tacit.Budget(1.0)


def test_another_label_or_reading_is_another_name_of_the_rows(tmp_path: Path) -> None:
    account = tacit.Ledger.open().account("survey", budget=tacit.Budget(1.0))
    path = survey(tmp_path)

    def register(label: str, classes: tuple[str, str] = ("no", "yes"), **options: Any) -> str:
        how = {"classes": classes, "unit": Unit.row(), "label": label, "text": "text", "version": "today"}
        part = open_part(path, options=FileOptions(**options), **how)
        part.split(0.5, account)
        return part.table().version

    header = ("text", "smoker", "diabetes")
    for _ in range(2):
        names = {
            register("smoker"),
            register("diabetes"),
            register("smoker", ("yes", "no")),
            register("smoker", header=header),
            register("smoker", header=(header[0], *header[:0:-1])),
            register("smoker", quote=""),
        }
        assert len(names) == len(account.splits()) == 6
    path.rename(tmp_path / "survey.tsv")
    path = tmp_path / "survey.tsv"
    register("smoker", delimiter=",")
    assert len(account.splits()) == 7, "the suffix says how quotes are read"


def test_one_object_more_does_not_change_the_coins_of_others() -> None:
    from tacit.data.coins import raw_keys

    few = pd.DataFrame({"x": pd.Series([1.0, 2.5, 1e-7, True, 3], dtype=object)})
    for extra in ("x", None, 4, False, pd.NA, 0.5):
        more = pd.DataFrame({"x": pd.Series([*few["x"], extra], dtype=object)})
        assert (raw_keys(few, 1) == raw_keys(more, 1)[:5]).all(), extra


class Mine:
    """A black box that says what it spends, and no more."""

    epsilon = 0.25

    def fit(self, X: Any, y: Any) -> None:
        self.seen = len(X)

    def predict_proba(self, X: Any) -> Any:
        p = np.array(["prize" in text for text in X]) * 0.8 + 0.1
        return np.column_stack([1 - p, p])


def test_any_object_that_states_its_cost() -> None:
    account = tacit.Ledger.open().account("mail", budget=tacit.Budget(1.0))
    result = tacit.Workflow(1.0, classes=CLASSES, classifier=Mine(), account=account).run(TEXTS, LABELS)
    first = account.entries()[0]
    assert (first.budget.epsilon, first.mechanism) == (0.25, "black box")
    assert result.receipt["status"] == "private, if the model keeps what it states"
    assert result.curve.auc > 0.9
    assert result.model.account is None
    with pytest.raises(tacit.ParameterError, match="black box"):
        result.model.save("nowhere.json")


def test_a_black_box_of_scikit_learn_form_is_told_what_to_spend() -> None:
    X = np.array([[1.0, 0.0], [0.0, 1.0]] * 500)
    inner = tacit.BernoulliNB()
    result = tacit.Workflow(1.0, 1e-6, classifier=tacit.BlackBoxClassifier(inner)).run(X, [0, 1] * 500)
    assert result.model.estimator_.epsilon == 1.0
    assert result.model.estimator_.delta == 0.9e-6
    box = tacit.BlackBoxClassifier(Mine(), epsilon=0.75)
    result = tacit.Workflow(1.0, classes=CLASSES, classifier=box).run(TEXTS, LABELS)
    assert result.receipt["steps"][0]["epsilon"] == 0.75


def count_rows(X: Any, y: Any, epsilon: float) -> Any:
    return tacit.BernoulliNB(epsilon, classes=CLASSES).fit(X, y)


def find_prizes(X: Any, y: Any) -> Any:
    return Mine().predict_proba


def test_a_function_that_trains_is_a_black_box() -> None:
    """One that takes its ε is told three quarters behind a selector; another one costs what its wrapper says."""
    account = tacit.Ledger.open().account("mail", budget=tacit.Budget(4.0))
    settings: dict[str, Any] = {"classes": CLASSES, "account": account}
    selector = tacit.CountSelector(k=20)
    told = tacit.Workflow(4.0, classifier=tacit.BlackBoxClassifier(count_rows), selector=selector, **settings)
    result = told.run(TEXTS, LABELS)
    assert result.model.classifier_.estimator_.epsilon == 3.0
    assert result.receipt["status"] == "private, if the model keeps what it states"
    assert result.curve.auc > 0.8
    box = tacit.BlackBoxClassifier(find_prizes, epsilon=0.75)
    result = tacit.Workflow(1.0, classes=CLASSES, classifier=box).run(TEXTS, LABELS)
    assert result.receipt["steps"][0]["epsilon"] == 0.75
    assert result.curve.auc > 0.9
    assert tacit.Workflow(1.0, classes=CLASSES, classifier=count_rows, schema=SCHEMA).run(TABLE).model.classes_.size
    with pytest.raises(tacit.ParameterError, match="one that states what it spends"):
        tacit.Workflow(1.0, classes=CLASSES, classifier=find_prizes).run(TEXTS, LABELS)


@pytest.mark.parametrize("classifier", [tacit.BernoulliNB(), tacit.LogisticRegression(), tacit.TabularClassifier()])
def test_our_classifiers_behind_a_schema_or_a_text(classifier: Any) -> None:
    result = tacit.Workflow(2.0, classes=CLASSES, schema=SCHEMA, classifier=classifier).run(TABLE)
    assert result.curve.auc > 0.7
    assert result.model.predict(TABLE[:3]).shape == (3,)
    result = tacit.Workflow(2.0, classes=CLASSES, classifier=classifier, language=None).run(TEXTS, LABELS)
    assert result.model.predict(["win a prize", "lunch"]).shape == (2,)


def test_the_same_run_on_the_same_ledger_is_free_and_the_same(tmp_path: Path) -> None:
    path, url = texts_file(tmp_path), f"sqlite:///{tmp_path}/ledger.db"
    settings = {
        "classes": CLASSES,
        "label": "label",
        "text": "text",
        "ledger": url,
        "dataset": "mail",
        "language": None,
    }
    first, second = (tacit.Workflow(1.0, **settings).run(path) for _ in range(2))
    account = tacit.Ledger.open(url).account("mail")
    assert len(account.entries()) == 2
    assert account.spent == tacit.Budget(1.0)
    assert first.receipt.to_json() == second.receipt.to_json()
    assert first.report == second.report
    with pytest.raises(tacit.BudgetError, match="Nothing was charged"):
        tacit.Workflow(0.5, **settings).run(path)
    with pytest.raises(tacit.BudgetError, match="Nothing was charged"):
        tacit.Workflow(1.0, **settings, test_size=0.4).run(path)  # another split: another question
    assert len(account.entries()) == 2


@pytest.mark.parametrize("kind", ["texts", "matrix"])
def test_a_declared_version_tells_whether_a_request_is_the_same(kind: str) -> None:
    ledger = tacit.Ledger.open()
    data: Any = TEXTS if kind == "texts" else np.eye(10)[rng.integers(0, 10, N)]
    settings: dict[str, Any] = {"classes": CLASSES, "ledger": ledger, "dataset": kind, "language": None}
    tacit.Workflow(1.0, version="march", **settings).run(data, LABELS)
    with pytest.raises(tacit.BudgetError):
        tacit.Workflow(1.0, version="april", **settings).run(data, LABELS)


def test_an_account_that_cannot_pay_for_all_is_charged_for_nothing() -> None:
    account = tacit.Ledger.open().account("rows", budget=tacit.Budget(1.0))
    account.spend(tacit.Budget(0.5), mechanism="something else", query="before")
    X = np.eye(10)[rng.integers(0, 10, 200)]
    selector = tacit.TopKSelector(2)
    with pytest.raises(tacit.BudgetError, match=r"Lacking: ε = 0\.1"):
        tacit.Workflow(0.6, account=account, selector=selector).run(X, [0, 1] * 100)
    assert len(account.entries()) == 1
    result = tacit.Workflow(0.5, account=account, selector=selector).run(X, [0, 1] * 100)
    assert account.spent == tacit.Budget(1.0)
    assert result.receipt["account"]["spent"]["epsilon"] == 1.0
    assert result.receipt["epsilon"] == 0.5


def test_a_simulation_says_so() -> None:
    results = [tacit.Workflow(1.0, classes=CLASSES, random_state=5).run(TEXTS, LABELS) for _ in range(2)]
    assert results[0].receipt["status"] == "simulation: not private"
    assert results[0].curve.auc == results[1].curve.auc


def test_evaluate_on_another_set() -> None:
    model = tacit.Workflow(1.0, classes=CLASSES, language=None).run(TEXTS, LABELS).model
    account = tacit.Ledger.open().account("other", budget=tacit.Budget(1.0))
    curve = evaluate(model, TEXTS, LABELS, epsilon=0.5, account=account)
    assert curve.auc > 0.9
    assert curve.pos_label == "spam"
    assert account.spent == tacit.Budget(0.5)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"epsilon": 0}, "'epsilon'"),
        ({"classes": ("a",)}, "'classes'"),
        ({"classes": 7}, "'classes'"),
        ({"unit": "person"}, "'rows_per_unit'"),
        ({"rows_per_unit": 2}, "'rows_per_unit'"),
        ({"engine": "cloud"}, "'engine'"),
        ({"shares": {"train": 1.5}}, "'shares'"),
        ({"shares": {"test": 1}}, "'shares'"),
        ({"shares": {"evaluate": 0}}, "'shares'"),
        ({"selector": tacit.TopKSelector(1), "shares": {"select": 0.5}}, "at most 1 together"),
        ({"text": "a", "schema": SCHEMA}, "'text'"),
        ({"schema": "no such file.toml"}, "cannot be read"),
        ({"test_size": 1.0}, "'test_size'"),
        ({"ledger": "sqlite:///x.db"}, "'dataset'"),
        ({"classifier": object()}, "states what it spends"),
        ({"classifier": Mine(), "epsilon": 0.1}, "spends at most"),
        ({"selector": tacit.TopKSelector(1), "classifier": tacit.TextClassifier()}, "'selector'"),
        ({"selector": SelectKBest(k=1)}, "a selector of tacit's"),
        ({"selector": tacit.BernoulliNB()}, "a selector of tacit's"),
        ({"classifier": tacit.SelectingClassifier(tacit.BernoulliNB())}, "the account pays for both"),
    ],
)
def test_bad_parameters(settings: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tacit.TacitError, match=words):
        tacit.Workflow(**({"classes": CLASSES} | settings)).run(TEXTS, LABELS)
    assert not list(tmp_path.iterdir()), "a refused run left something behind"


@pytest.mark.parametrize(
    ("data", "y", "settings", "words"),
    [
        (TABLE, None, {}, r"'text'.*to_numpy\(\)"),
        (TABLE, None, {"text": "note", "label": "label"}, "no column 'note'"),
        (TABLE, None, {"text": "colour", "label": "outcome"}, "no column 'outcome'"),
        (TABLE, None, {"text": "colour"}, "'label'"),
        (TABLE, None, {"text": "colour", "label": "colour"}, "'text' parameter of Workflow must be another column"),
        (TEXTS, None, {}, "'label'"),
        (TEXTS, LABELS[:-1], {}, "one entry for each row"),
        (np.eye(3), None, {}, "'y'"),
        (np.eye(3), [0, 1], {}, "one label for each row"),
        (TEXTS, LABELS, {"unit": "person", "rows_per_unit": 1}, r"no column 'person'.*as persons="),
        ("nowhere.csv", None, {"text": "a", "label": "b"}, "no file"),
        (42, LABELS, {}, "Rows of a table"),
    ],
)
def test_bad_data(
    data: Any, y: Any, settings: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    workflow = tacit.Workflow(classes=CLASSES, ledger="sqlite:///ledger.db", dataset="data", **settings)
    with pytest.raises(tacit.TacitError, match=words):
        workflow.run(data, y)
    assert not Path("ledger.db").exists(), "what is wrong with the data is said before an account is made"


def test_an_account_with_another_unit_is_refused() -> None:
    account = tacit.Ledger.open().account("rows", budget=tacit.Budget(1.0))
    with pytest.raises(tacit.ParameterError, match="'unit'"):
        tacit.Workflow(classes=CLASSES, account=account, unit="person", rows_per_unit=1).run(TEXTS, LABELS)


def test_strict_tells_where_before_anything_is_charged() -> None:
    account = tacit.Ledger.open().account("rows", budget=tacit.Budget(1.0))
    workflow = tacit.Workflow(classes=CLASSES, account=account, strict=True)
    with pytest.raises(tacit.RowError, match="line 3"):
        workflow.run(TEXTS[:4], ["ham", "spam", "eggs", "ham"])
    assert not account.entries()
    with pytest.raises(tacit.RowError, match="not among the classes"):
        tacit.Workflow(strict=True).run(np.eye(2), [0, 7])


@pytest.mark.parametrize("seed", range(3))
def test_of_few_kinds_of_rows_the_curve_is_honest(seed: int) -> None:
    """Labels that no column tells anything of: with one coin for all copies of a row areas were far below a half."""
    rng = np.random.default_rng(seed)
    columns = {f"c{i}": rng.integers(0, 2, 4000).astype(str) for i in range(5)}
    schema = Schema(tuple(CategoryColumn(name, ("0", "1")) for name in columns), (0, 1), label="y")
    frame = pl.DataFrame({**columns, "y": rng.integers(0, 2, 4000)})
    low, high = tacit.Workflow(1.0, schema=schema, random_state=seed).run(frame).curve.auc_interval(0.999)
    assert low < 0.5 < high
