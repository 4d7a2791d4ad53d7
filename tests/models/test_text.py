"""TextClassifier: learns, tells style from words, uses what is public, survives odd texts, spends once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.base import clone

import tacit
from tacit.models import _learner as learner
from tacit.models import _rules
from tacit.models.storage import _digest
from tacit.models.weights import feature_weights

RNG = np.random.default_rng(7)
WORDS = [f"w{'abcdefghij'[j % 10]}{'klmnopqrst'[j // 10]}" for j in range(100)]


def texts_of(n: int, seed: int) -> tuple[list[str], np.ndarray[Any, Any]]:
    """Texts of ten words with Zipf's frequencies; the classes prefer different halves of the words."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    base = 1 / np.arange(1, 101)
    shares = [base * np.where(np.arange(100) % 2 == k, 1.6, 0.4) for k in (0, 1)]
    rows = [" ".join(rng.choice(WORDS, 10, p=shares[k] / shares[k].sum())) for k in y]
    return rows, y


TRAIN, LABELS = texts_of(4000, 1)
TEST, TRUTH = texts_of(1000, 2)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_it_learns_words(delta: float) -> None:
    model = tacit.TextClassifier(epsilon=1.0, delta=delta, random_state=0).fit(TRAIN, LABELS)
    assert model.score(TEST, TRUTH) > 0.85
    assert 0 < model.receipt_["epsilon"] <= 1.0
    assert model.receipt_["delta"] <= delta


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_many_rows_are_learnt_from_by_a_regression(delta: float) -> None:
    """A δ is there to help: it must not take the regression away."""
    model = tacit.TextClassifier(epsilon=4.0, delta=delta, random_state=0).fit(TRAIN, LABELS)
    assert [step["step"] for step in model.receipt_["steps"]] == ["labels", "sums", "regression", "margins"]
    assert model.score(TEST, TRUTH) > 0.87
    assert model.receipt_["epsilon"] <= 4.0
    assert model.receipt_["delta"] <= delta


def with_rare_words(rows: list[str], seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghij"))
    return [" ".join([row, *("z" + "".join(word) for word in rng.choice(letters, (20, 6)))]) for row in rows]


def test_public_texts_help_where_most_words_are_rare() -> None:
    public = with_rare_words(texts_of(1000, 3)[0], 4)
    train, test = with_rare_words(TRAIN, 5), with_rare_words(TEST, 6)
    scores = []
    for known in (None, public):
        models = [tacit.TextClassifier(epsilon=0.2, public_text=known, random_state=s) for s in range(3)]
        scores.append(np.mean([model.fit(train, LABELS).score(test, TRUTH) for model in models]))
    assert scores[1] > scores[0] + 0.02


def long_texts(n: int, seed: int) -> tuple[list[str], np.ndarray[Any, Any]]:
    """Texts of 20 to 200 words that mean nothing, and one word that tells the class in 95 of 100 texts."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    told = rng.random(n) < np.where(y == 1, 0.95, 0.05)
    rows = [["signal"] * int(told[row]) + [*rng.choice(WORDS, rng.integers(20, 200))] for row in range(n)]
    return [" ".join(words) for words in rows], y


def test_a_telling_word_has_a_vote_in_texts_of_any_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (texts, labels), (others, truth) = long_texts(2000, 1), long_texts(500, 2)
    model = tacit.TextClassifier(epsilon=2.0, random_state=0).fit(texts, labels)
    assert model.score(others, truth) > 0.93
    assert (feature_weights(model) or [])[0][1] > 0
    assert model.to_sklearn().predict_proba(others) == pytest.approx(model.predict_proba(others))
    model.save(tmp_path / "model.json")
    assert (tacit.load(tmp_path / "model.json").decision_function(others) == model.decision_function(others)).all()
    monkeypatch.setattr(_rules, "VOTES", 0)
    assert tacit.TextClassifier(epsilon=2.0, random_state=0).fit(texts, labels).score(others, truth) < 0.8


def test_a_word_list_is_public() -> None:
    pytest.importorskip("wordfreq")
    texts = ["the cat sat on the mat", "money prize winner call"] * 300
    model = tacit.TextClassifier(word_list="en", random_state=0).fit(texts, [0, 1] * 300)
    assert model.predict(texts[:2]).tolist() == [0, 1]
    with pytest.raises(tacit.ParameterError, match="'word_list' parameter of TextClassifier"):
        tacit.TextClassifier(word_list="nonsense").fit(texts, [0, 1] * 300)


PRAISE = [
    "admire",
    "brilliant",
    "charming",
    "delight",
    "excellent",
    "fantastic",
    "glorious",
    "happy",
    "impressive",
    "joy",
    "lovely",
    "nice",
    "perfect",
]
BLAME = [
    "abuse",
    "brutal",
    "cruel",
    "disgust",
    "evil",
    "fear",
    "grief",
    "hate",
    "insult",
    "kill",
    "lousy",
    "misery",
    "nasty",
]


def rated_texts(n: int, words: slice, seed: int) -> tuple[list[str], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    plain = [" ".join(rng.choice(WORDS, 8)) for _ in range(n)]
    return [
        f"{text} {rng.choice((PRAISE if label else BLAME)[words])}" for text, label in zip(plain, y, strict=True)
    ], y


@pytest.mark.parametrize(("rows", "public"), [(1_000, False), (1_000, True), (11_000, False)])
def test_the_tone_of_english_words_is_public(rows: int, public: bool) -> None:
    """Also of words that no private text has: with few rows by the choice of a rule, with many by a regression."""
    pytest.importorskip("wordfreq")
    pytest.importorskip("vaderSentiment")
    train, test = rated_texts(rows, slice(0, 8), 1), rated_texts(500, slice(8, None), 2)
    texts = {"public_text": rated_texts(500, slice(0, None), 3)[0]} if public else {}
    model = tacit.TextClassifier(word_list="en", random_state=0, **texts).fit(*train)
    assert model.score(*test) > 0.7
    assert abs(tacit.TextClassifier(random_state=0).fit(*train).score(*test) - 0.5) < 0.1


def test_languages_without_tones_tell_nothing_beside_public_texts() -> None:
    pytest.importorskip("wordfreq")
    train = rated_texts(100, slice(0, 8), 1)
    assert tacit.TextClassifier(word_list="de", random_state=0).fit(*train).predict(["gut"]).size == 1
    with pytest.raises(tacit.ParameterError, match="'word_list' parameter of TextClassifier must be None or 'en'"):
        tacit.TextClassifier(public_text=train[0], word_list="de").fit(*train)


def test_it_learns_style() -> None:
    """Every word is new, so only the digits can tell."""
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, 1500)
    texts = [f"{rng.integers(10**8)}x" if label else "".join(rng.choice(list("abcdefgh"), 9)) for label in y]
    model = tacit.TextClassifier(epsilon=1.0, random_state=0).fit(texts[:1000], y[:1000])
    assert model.score(texts[1000:], y[1000:]) > 0.95


@pytest.mark.parametrize(("common", "query"), [(400, "0 other feature(s)"), (9000, "36 other feature(s)")])
def test_style_has_sums_only_where_a_class_is_rare(common: int, query: str) -> None:
    texts, y = ["call 09061701461 now"] * 400 + ["see you"] * common, [1] * 400 + [0] * common
    model = tacit.TextClassifier(epsilon=0.5, random_state=0).fit(texts, y)
    assert model.receipt_["steps"][1]["query"].endswith(query)
    assert model.predict(["see you", "call 09061701461 now"]).tolist() == [0, 1]


def test_the_fewer_rows_the_more_of_epsilon_decides() -> None:
    parts = [learner._shares(None, strength, binary=True) for strength in (1.0, 300.0, 1e3, 1e4, 1e9)]
    assert all(sum(part.values()) == 1 - learner.LABELS for part in parts)
    assert [float(part["rule"]) for part in parts] == [0.4, 0.35, 0.19, 0.12, 0.12]
    assert [float(part["margins"]) for part in parts] == [0.06, 0.06, 0.06, 0.03, 0.03]


def test_three_classes() -> None:
    texts = ["red rose", "blue sky", "green leaf"] * 400
    model = tacit.TextClassifier(classes=("r", "b", "g"), random_state=0).fit(texts, ["r", "b", "g"] * 400)
    assert model.predict(texts[:3]).tolist() == ["r", "b", "g"]
    assert model.predict_proba(["rose"]).shape == (1, 3)


@pytest.mark.parametrize("kind", ["list", "tuple", "array", "polars", "column"])
def test_texts_of_any_kind(kind: str) -> None:
    make = {
        "list": list,
        "tuple": tuple,
        "array": lambda rows: np.array(rows, dtype=object),
        "polars": lambda rows: pl.Series(rows),
        "column": lambda rows: np.array(rows, dtype=object)[:, None],
    }[kind]
    model = tacit.TextClassifier(random_state=0).fit(make(TRAIN[:500]), LABELS[:500])
    reference = tacit.TextClassifier(random_state=0).fit(TRAIN[:500], LABELS[:500])
    assert np.array_equal(model.decision_function(make(TEST[:9])), reference.decision_function(TEST[:9]))


def test_an_account_pays_once_for_the_same_fit() -> None:
    account = tacit.Ledger.open().account("texts", budget=tacit.Budget(1.0))
    first = tacit.TextClassifier(epsilon=0.7, account=account).fit(TRAIN, LABELS)
    second = clone(first).fit(TRAIN, LABELS)
    assert account.spent.epsilon == pytest.approx(0.7)
    assert first.choice_ == second.choice_
    assert first.receipt_["status"] == "private"
    with pytest.raises(tacit.BudgetError):
        tacit.TextClassifier(epsilon=0.7, bits=10, account=account).fit(TRAIN, LABELS)


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        ([], []),
        (["a"], [1]),
        ([""] * 5, [0, 1, 0, 1, 0]),
        ([None, "x", None], [0, 1, 1]),
        (["\ud800 broken", "\x00", "💥" * 1000], [0, 1, 1]),
        (["same"] * 8, [0] * 8),
        (["a b c"] * 4, [5, 6, 7, 8]),
    ],
    ids=["no row", "one row", "empty", "missing", "odd", "one class", "foreign labels"],
)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_degenerate_data_give_a_valid_model(texts: Any, labels: Any, delta: float) -> None:
    model = tacit.TextClassifier(delta=delta, random_state=0).fit(texts, labels)
    probabilities = model.predict_proba(["hello", "", "hello " * 999])
    assert np.isfinite(probabilities).all()
    assert np.allclose(probabilities.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"bits": 99}, "bits"),
        ({"epsilon": -1}, "epsilon"),
        ({"classes": ("a",)}, "classes"),
        ({"public_text": ["a"], "word_list": "de"}, "word_list"),
        ({"public_text": []}, "public_text"),
    ],
)
def test_bad_parameters_are_named(change: dict[str, Any], name: str) -> None:
    with pytest.raises(tacit.ParameterError, match=f"'{name}' parameter of TextClassifier"):
        tacit.TextClassifier(**change).fit(["a", "b"], [0, 1])


@pytest.mark.parametrize("texts", ["one text", 7])
def test_what_is_no_text_is_refused(texts: Any) -> None:
    with pytest.raises(tacit.ParameterError, match="'X' parameter of TextClassifier"):
        tacit.TextClassifier().fit(texts, [0, 1, 1])


def test_early_words_count_more_and_numbers_are_one_word() -> None:
    """The opening decides where the rest says the opposite; 7 and 4 are the same word."""
    filler = "so it goes " * 40
    texts = [f"{head} 7 {filler} {tail}" for head, tail in (("good", "bad"), ("bad", "good"))] * 500
    model = tacit.TextClassifier(random_state=0).fit(texts, [1, 0] * 500)
    assert model.predict([f"good 4 {filler} bad", f"bad 4 {filler} good"]).tolist() == [1, 0]
    assert model.decision_function(["good 7"]) == model.decision_function(["good 4"])


def test_public_texts_tell_how_words_go_together() -> None:
    """Words that go with no label, but with each other, change little; alone, each would look like the rest."""
    rng = np.random.default_rng(11)
    pairs = rng.integers(0, 2, (3000, 2))
    rows = [f"{'alpha beta gamma delta ' if a else 'no '}{'omega' if b else 'none'}" for a, b in pairs]
    model = tacit.TextClassifier(epsilon=3.0, public_text=list(rows), random_state=0).fit(rows, pairs[:, 1])
    assert model.rules_.topics is not None
    alphas = "alpha beta gamma delta"
    both, first, second = model.decision_function([f"{alphas} omega", f"{alphas} none", "no omega"])
    assert abs(second - both) < 0.5 * abs(first - both)
    assert model.score(rows, pairs[:, 1]) > 0.99


def topical(n: int, seed: int, classes: int = 2) -> tuple[list[str], NDArray[np.int64]]:
    """Texts of ten words, each from one of some topics of two hundred rare words; the topic tells the class."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, 3 * classes, n)
    ends = [f"{first}{second}" for first in "abcdefghijklmnopqrst" for second in "abcdefghij"]
    texts = [" ".join(f"{chr(97 + topic)}{end}" for end in rng.choice(ends, 10)) for topic in topics]
    return texts, topics % classes


@pytest.mark.parametrize(("classes", "delta"), [(2, 0.0), (2, 1e-6), (3, 0.0)])
def test_topics_tell_what_single_words_cannot(classes: int, delta: float) -> None:
    """Every word is so rare that its own sum drowns in noise, but words of a topic stand together in public texts."""
    public, _ = topical(4000, 1, classes)
    texts, labels = topical(1500, 2, classes)
    others, truth = topical(1000, 3, classes)
    given: dict[str, Any] = {"epsilon": 0.5, "delta": delta, "classes": tuple(range(classes)), "random_state": 0}
    model = tacit.TextClassifier(public_text=public, **given).fit(texts, labels)
    alone = tacit.TextClassifier(**given).fit(texts, labels)
    assert model.rules_.topics is not None
    assert model.rules_.topics.norm == ("L2" if delta else "L1")
    assert model.score(others, truth) > 0.9 > alone.score(others, truth)
    assert np.isfinite(model.predict_proba(["", "no such words"])).all()


def test_a_model_with_topics_is_saved_and_converted(tmp_path: Path) -> None:
    public, _ = topical(2000, 1)
    texts, labels = topical(1000, 2)
    model = tacit.TextClassifier(epsilon=1.0, public_text=public, random_state=0).fit(texts, labels)
    model.save(tmp_path / "model.json")
    again = tacit.load(tmp_path / "model.json")
    assert (again.decision_function(texts) == model.decision_function(texts)).all()
    converted = model.to_sklearn()
    assert converted.predict_proba(texts) == pytest.approx(model.predict_proba(texts))
    body = json.loads((tmp_path / "model.json").read_text())
    body["model"]["rules"]["topics"]["cells"][0] = 1 << 20
    body["sha256"] = _digest(body["model"])
    (tmp_path / "broken.json").write_text(json.dumps(body))
    with pytest.raises(tacit.ModelError, match="topics"):
        tacit.load(tmp_path / "broken.json")


def test_the_words_of_topics_are_listed() -> None:
    """A word that has no sum of its own is shown by what its topics say."""
    public, _ = topical(2000, 1)
    texts, labels = topical(1000, 2)
    model = tacit.TextClassifier(epsilon=1.0, public_text=public, random_state=0).fit(texts, labels)
    shown = dict(feature_weights(model) or [])
    heads = {name: weight for name, weight in shown.items() if name.startswith("“")}
    assert len(heads) > 50
    for name, weight in heads.items():
        assert (weight > 0) == ((ord(name[1]) - 97) % 2 == 1)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize(
    "public",
    [
        ["win cash now"] * 100,
        [""] * 100,
        ["win cash", "see you"] * 50,
        ["?"] * 80 + ["win"] * 80,
        ["merci mon ami"] * 99,
    ],
)
def test_odd_public_texts_do_no_harm(public: list[str], delta: float) -> None:
    texts, labels = ["win cash now", "see you at lunch"] * 50, [1, 0] * 50
    for epsilon in (0.05, 1.0, 1000.0):
        model = tacit.TextClassifier(epsilon, delta, public_text=public, random_state=0).fit(texts, labels)
        assert np.isfinite(model.predict_proba([*texts, "", "zzz"])).all()
    model = tacit.TextClassifier(1.0, delta, public_text=public, random_state=0).fit([], [])
    assert np.isfinite(model.predict_proba(["win"])).all()


def test_few_public_texts_make_no_topics() -> None:
    texts = ["win cash now", "see you at lunch"] * 500
    model = tacit.TextClassifier(public_text=texts[:30], random_state=0).fit(texts, [1, 0] * 500)
    assert model.rules_.topics is None
    assert model.score(texts, [1, 0] * 500) == 1.0


def test_words_that_begin_alike_are_one_word() -> None:
    texts = ["profit rises", "losses mount"] * 500
    model = tacit.TextClassifier(random_state=0).fit(texts, [1, 0] * 500)
    assert (model.decision_function(["profits"]) == model.decision_function(["profitable"])).all()
    assert np.diff(model.decision_function(["lossless", "profitability"])) > 0


@pytest.mark.parametrize("strength", [0.3, 1.5])
def test_probabilities_say_how_often_the_rule_is_right(strength: float) -> None:
    """Whether words tell little or much: a fixed slope would be wrong for one of them."""
    rng = np.random.default_rng(4)
    words = rng.integers(0, 2, (8000, 10)) * 2 - 1
    y = (rng.random(8000) < 1 / (1 + np.exp(-strength * words.sum(axis=1)))).astype(int)
    texts = [" ".join(f"{'up' if sign > 0 else 'no'}{chr(97 + k)}" for k, sign in enumerate(row)) for row in words]
    model = tacit.TextClassifier(epsilon=1.0, random_state=1).fit(texts, y)
    sure = model.predict_proba(texts).max(axis=1)
    assert abs(sure.mean() - model.score(texts, y)) < 0.06


def test_where_many_rules_are_right_a_plain_one_is_likely() -> None:
    """All texts have two words, and a word tells the class: rules of style, or of a large threshold, are as good."""
    right = []
    for seed in range(40):
        model = tacit.TextClassifier(random_state=seed).fit(["good day", "bad luck"] * 500, [1, 0] * 500)
        right += [
            model.predict(["good", "bad", "what a good day it was", "bad luck again, I am afraid"]) == [1, 0, 1, 0]
        ]
    assert np.mean(right) > 0.88  # without a preference .86


def _same(texts: Any, run: str) -> Any:
    model = tacit.TextClassifier(public_text=texts)
    account = tacit.Ledger.open().account("a", budget=tacit.Budget(9.0))
    if run == "fit":
        return account, lambda: model.set_params(account=account).fit(texts, [0, 1] * 20)
    if run == "tune":
        return account, lambda: tacit.tune([model], texts, [0, 1] * 20, epsilon=3.0, account=account)
    return account, lambda: tacit.Workflow(classifier=model, account=account).run(texts, [0, 1] * 20)


@pytest.mark.parametrize("run", ["fit", "tune", "workflow"])
@pytest.mark.parametrize("made", [list, np.array, pl.Series])
def test_private_texts_are_no_public_ones(made: Any, run: str) -> None:
    """What is learnt from public texts has no noise."""
    account, runs = _same(made(["win cash", "lunch today"] * 20), run)
    with pytest.raises(tacit.ParameterError, match=r"'public_text' parameter of .* other texts than the private ones"):
        runs()
    assert not account.entries()
