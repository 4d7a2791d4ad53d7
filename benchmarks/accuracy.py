"""Accuracy of private classifiers on the paper's three text sets, beside the paper, our prototype and no privacy.

    TACIT_DATA=folder python benchmarks/accuracy.py [--quick] [--json] [--sets SMS,TWITTER,REUTERS,OTHERS,MIXED]
                                                    [--repeats 3] [--peer-python /path/to/python]

Ten-fold cross-validation, three repeats. Every constant is a default of the library; nothing is tuned here. Public
text: tweets outside the sample for SMS and TWITTER, articles outside the sample for REUTERS, never their labels. OTHERS
are tasks that no constant was chosen on: two more topics of Reuters, tweets of other numbers, and two tables, of which
Diabetes hides patients rather than stays; MIXED are tables with text; a name that ends in .tsv is a file of your own, a
line for each text: 0 or 1, a tab, the text. diffprivlib's rows are shown if it can be imported by the interpreter of
``--peer-python`` (default: the environment variable ``TACIT_AUDIT_DIFFPRIVLIB``): all words, told that features are
0 or 1 and that rows have norm 4, one tenth held out; a fit takes it half a minute and more. With ``--json`` the last
line is a flat object of ratios, ours over the paper's best claim (PTT, not private), larger is better.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
from peer_diffprivlib import peer, split
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline

import tacit
from tacit.data import datasets
from tacit.data.schema import TextColumn

EPSILONS = (1.0, 0.5, 0.25, 0.1)
PAPER = {
    "SMS": (96.2, 94.6, 91.4, 87.7),
    "TWITTER": (61.7, 58.3, 56.0, 52.4),
    "REUTERS": (92.8, 92.0, 90.6, 87.5),
}
PROTOTYPE = {
    ("SMS", "nothing"): (96.2, 93.9, 89.5, 87.0),
    ("SMS", "word list"): (96.6, 95.5, 93.3, 89.5),
    ("SMS", "public text"): (96.9, 96.1, 93.6, 91.3),
    ("TWITTER", "nothing"): (65.7, 62.9, 57.3, 53.2),
    ("TWITTER", "word list"): (66.6, 64.1, 60.0, 55.4),
    ("TWITTER", "public text"): (68.7, 67.5, 63.5, 59.7),
    ("REUTERS", "nothing"): (93.5, 92.6, 89.3, 81.1),
    ("REUTERS", "word list"): (94.9, 92.8, 91.8, 89.1),
    ("REUTERS", "public text"): (95.6, 94.5, 93.1, 90.8),
    ("REUTERS", "public text, δ = 1e-6"): (95.8, 95.0, 94.1, 91.9),
}

GOAL = {
    ("SMS", "nothing"): (96.5, 94.5, 91.0, 87.5),
    ("SMS", "word list"): (97.0, 96.0, 94.0, 90.5),
    ("SMS", "public text"): (97.2, 96.3, 94.5, 91.5),
    ("TWITTER", "nothing"): (67.0, 64.0, 61.0, 56.0),
    ("TWITTER", "word list"): (68.0, 66.0, 62.0, 57.0),
    ("TWITTER", "public text"): (69.5, 67.5, 65.0, 60.0),
    ("REUTERS", "nothing"): (94.5, 93.0, 91.5, 90.0),
    ("REUTERS", "word list"): (95.5, 94.0, 93.0, 90.5),
    ("REUTERS", "public text"): (96.0, 95.0, 94.0, 91.5),
    ("REUTERS", "public text, δ = 1e-6"): (96.5, 95.5, 94.5, 92.5),
}


def folds(n: int, repeat: int, quick: bool) -> Iterator[tuple[Any, Any]]:
    """Yield train and test rows of ten folds; the first three if quick."""
    order = np.random.default_rng(repeat).permutation(n)
    parts = np.array_split(order, 10)
    for i, test in enumerate(parts[:3] if quick else parts):
        yield np.concatenate([part for j, part in enumerate(parts) if j != i]), test


def accuracy(data: Any, make: Callable[[int], Any], repeats: int, quick: bool) -> float:
    """Return the mean accuracy in per cent."""
    texts, labels = data.texts, np.asarray(data.labels)
    scores = []
    for repeat in range(repeats):
        for i, (train, test) in enumerate(folds(len(labels), repeat, quick)):
            model = make(1000 * repeat + i)
            is_ours = isinstance(model, tacit.TextClassifier | tacit.TabularClassifier)
            fitted = model.fit(texts[train] if is_ours else texts[train].to_list(), labels[train])
            guess = fitted.predict(texts[test] if is_ours else texts[test].to_list())
            scores.append(float((guess == labels[test]).mean()))
    return 100 * float(np.mean(scores))


def public_texts(name: str) -> pl.Series:
    """Unlabelled public texts that share no row with the data set."""
    if name == "REUTERS":
        sample = set(datasets.load_reuters().texts.to_list())
        rest = [text for text in datasets.load_reuters("labelled").texts.to_list() if text and text not in sample]
        return pl.Series(rest)
    return datasets.load_twitter().texts[20_000:60_000]


def ours_at(epsilon: float, options: dict[str, Any], seed: int) -> tacit.TextClassifier:
    return tacit.TextClassifier(epsilon, random_state=seed, **options)


def show(label: str, values: tuple[float, ...]) -> None:
    print(f"  {label:<46} " + " / ".join(f"{value:5.1f}" for value in values), flush=True)


def peer_interpreter(named: str | None) -> str | None:
    """The Python that can import diffprivlib: the one that was named, else this one; None if it cannot."""
    python = named or sys.executable
    try:
        command = [python, "-c", "from diffprivlib.models import GaussianNB"]
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return python


def show_peer(data: Any, python: str | None, quick: bool) -> None:
    """Print diffprivlib's accuracy on all words, one tenth held out; quick: on 500 words."""
    if python is None:
        print("  diffprivlib: left out, as it cannot be imported; name a Python that can import it with --peer-python")
        return
    words = CountVectorizer(binary=True, max_features=500 if quick else None)
    matrix = words.fit_transform(data.texts.to_list()).astype(np.float64)
    with tempfile.TemporaryDirectory() as folder:
        found = peer(python, split(matrix, data.labels, Path(folder)), EPSILONS)
    for model, label in {"naive_bayes": "Naive Bayes", "logistic": "logistic regression"}.items():
        show(f"diffprivlib: {label}", tuple(found[f"{model}_{e}"]["accuracy"] for e in EPSILONS))


def run(name: str, repeats: int, quick: bool, ratios: dict[str, float], python: str | None) -> None:
    data = {
        "SMS": datasets.load_sms,
        "TWITTER": lambda: datasets.load_twitter("paper"),
        "REUTERS": datasets.load_reuters,
    }[name]()
    majority = 100 * float(np.bincount(np.asarray(data.labels)).max()) / len(data)
    print(f"\n{name}: {len(data):,} rows; accuracy in % at ε = " + " / ".join(map(str, EPSILONS)))
    words = {"binary": True, "token_pattern": r"(?u)\b\w+\b"}
    plain = {
        "logistic regression": lambda _: make_pipeline(CountVectorizer(**words), LogisticRegression(max_iter=300)),
        "Naive Bayes": lambda _: make_pipeline(CountVectorizer(**words), BernoulliNB()),
    }
    for label, make in plain.items():
        show(f"not private: {label}", (accuracy(data, make, 1, True),))
    show("majority", (majority,))
    show("paper: PTT (not private in truth)", PAPER[name])
    show_peer(data, python, quick)
    public = public_texts(name)
    variants: dict[str, dict[str, Any]] = {
        "nothing": {},
        "word list": {"word_list": "en"},
        "public text": {"public_text": public},
        "public text, δ = 1e-6": {"public_text": public, "delta": 1e-6},
    }
    for label, options in variants.items():
        if "δ" in label and name != "REUTERS":
            continue
        if (name, label) in PROTOTYPE:
            show(f"prototype: {label}", PROTOTYPE[name, label])
            show(f"goal: {label}", GOAL[name, label])
        began = time.perf_counter()
        ours = tuple(accuracy(data, partial(ours_at, e, options), repeats, quick) for e in EPSILONS)
        show(f"ours: {label} ({time.perf_counter() - began:.0f} s)", ours)
        for e, value, claimed in zip(EPSILONS, ours, PAPER[name], strict=True):
            ratios[f"{name.lower()}_{label.replace(', δ = 1e-6', ' delta').replace(' ', '_')}_{e}"] = round(
                value / claimed, 4
            )


def run_others(repeats: int, quick: bool) -> None:
    """Print the same on tasks that no constant was chosen on."""
    tweets = datasets.load_twitter()
    texts = {
        "Reuters, all labelled articles, acq": datasets.load_reuters("labelled", topic="acq"),
        "Reuters, all labelled articles, crude": datasets.load_reuters("labelled", topic="crude"),
        **{f"tweets, {n:,}": part_of(tweets, 100_000, n) for n in (1_000, 30_000)},
    }
    print("\nTasks that no constant was chosen on; accuracy in % at ε = " + " / ".join(map(str, EPSILONS)))
    for label, data in texts.items():
        show(f"{label}: majority", (100 * float(np.bincount(np.asarray(data.labels)).max()) / len(data),))
        show(f"{label}: nothing", tuple(accuracy(data, partial(ours_at, e, {}), repeats, quick) for e in EPSILONS))
        if label.startswith("tweets"):
            options = {"public_text": public_texts("TWITTER")}
            with_text = tuple(accuracy(data, partial(ours_at, e, options), repeats, quick) for e in EPSILONS)
            show(f"{label}: public text", with_text)
    show("Adult", tuple(adult(e, repeats) for e in EPSILONS))
    show("Diabetes, patients, area under the curve", tuple(diabetes(e, repeats) for e in EPSILONS))


def run_mixed(repeats: int, quick: bool) -> None:
    """Print the same for texts in a table, beside two columns of chance, and for Adult with three columns as text."""
    print("\nTables with text; accuracy in % at ε = " + " / ".join(map(str, EPSILONS)))
    described = {
        "a": {"kind": "category", "values": [0, 1, 2, 3, 4]},
        "b": {"kind": "number", "edges": [-1, 0, 1]},
        "text": {"kind": "text", "bits": 14},
    }
    for name, data in {"SMS": datasets.load_sms(), "REUTERS": datasets.load_reuters("paper")}.items():
        rng = np.random.default_rng(0)
        columns = {"a": rng.integers(0, 5, len(data)), "text": data.texts, "b": rng.normal(size=len(data))}
        table = SimpleNamespace(texts=pl.DataFrame(columns), labels=np.asarray(data.labels))
        schema = tacit.Schema.from_dict({"label": {"classes": [0, 1]}, "columns": described})
        for label, options in {"default": {}, "from counts of 10 words": {"max_ones": 12}}.items():
            make = partial(mixed_at, schema, options)
            found = tuple(accuracy(table, partial(make, e), repeats, quick) for e in EPSILONS)
            show(f"{name} and two columns: {label}", found)
    train, test = datasets.load_adult("train"), datasets.load_adult("test")
    words = ("education", "occupation", "relationship")
    columns = tuple(TextColumn(c.name, bits=14) if c.name in words else c for c in train.schema.columns)
    schema = replace(train.schema, columns=columns)
    for label, options in {"default": {}, "from counts": {"max_ones": 14}}.items():
        models = [[mixed_at(schema, options, e, seed) for seed in range(3)] for e in EPSILONS]
        fitted = [[model.fit(train.frame, train.labels) for model in row] for row in models]
        scores = [[100 * model.score(test.frame, test.labels) for model in row] for row in fitted]
        show(f"Adult with three columns as text: {label}", tuple(map(float, np.mean(scores, axis=1))))


def mixed_at(schema: Any, options: dict[str, Any], epsilon: float, seed: int) -> Any:
    return tacit.TabularClassifier(epsilon, schema=schema, random_state=seed, **options)


def run_own(path: Path, repeats: int, quick: bool) -> None:
    """Print the same on a file of one's own."""
    lines = [line.split("\t", 1) for line in path.read_text().split("\n") if line]
    data = SimpleNamespace(texts=pl.Series([text for _, text in lines]), labels=np.array([int(y) for y, _ in lines]))
    print(f"\n{path.stem}: {len(lines):,} rows; accuracy in % at ε = " + " / ".join(map(str, EPSILONS)))
    words = CountVectorizer(binary=True, token_pattern=r"(?u)\b\w+\b")
    plain = make_pipeline(words, LogisticRegression(max_iter=300))
    show("not private: logistic regression", (accuracy(data, lambda _: plain, 1, True),))
    show("majority", (100 * float(np.bincount(data.labels).max()) / len(lines),))
    for label, options in {"nothing": {}, "word list": {"word_list": "en"}}.items():
        show(f"ours: {label}", tuple(accuracy(data, partial(ours_at, e, options), repeats, quick) for e in EPSILONS))


def part_of(data: Any, begin: int, rows: int) -> Any:
    labels = np.array(data.labels[begin : begin + rows])
    return replace(data, data=data.texts[begin : begin + rows], labels=labels)


def adult(epsilon: float, repeats: int) -> float:
    train, test = datasets.load_adult("train"), datasets.load_adult("test")
    models = [tacit.TabularClassifier(epsilon, schema=train.schema, random_state=seed) for seed in range(repeats)]
    return 100 * float(np.mean([m.fit(train.frame, train.labels).score(test.frame, test.labels) for m in models]))


def diabetes(epsilon: float, repeats: int) -> float:
    """Return 100 × AUC: 11 % of the stays are positive, so that accuracy tells nothing. Split by patient."""
    data = datasets.load_diabetes()
    patients = data.frame["patient_nbr"].to_numpy()
    scores = []
    for seed in range(repeats):
        held = np.isin(patients, np.random.default_rng(seed).permutation(np.unique(patients))[:14_000])
        train, test = np.flatnonzero(~held), np.flatnonzero(held)
        account = tacit.Ledger.open().account("diabetes", budget=tacit.Budget(epsilon), unit=data.unit)
        model = tacit.TabularClassifier(epsilon, schema=data.schema, account=account, random_state=seed)
        model.fit(data.frame[train], data.labels[train])
        scores.append(roc_auc_score(data.labels[test], model.decision_function(data.frame[test])))
    return 100 * float(np.mean(scores))


def main() -> None:
    parser = argparse.ArgumentParser(description="Accuracy beside the paper, our prototype and no privacy.")
    parser.add_argument("--quick", action="store_true", help="three folds, one repeat")
    parser.add_argument("--json", action="store_true", help="last line: ratios as JSON")
    parser.add_argument("--sets", default="SMS,TWITTER,REUTERS,OTHERS")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--peer-python", default=os.environ.get("TACIT_AUDIT_DIFFPRIVLIB"), help="one that has diffprivlib"
    )
    options = parser.parse_args()
    ratios: dict[str, float] = {}
    repeats = 1 if options.quick else options.repeats
    for name in options.sets.split(","):
        if name == "OTHERS":
            run_others(repeats, options.quick)
        elif name == "MIXED":
            run_mixed(repeats, options.quick)
        elif name.endswith(".tsv"):
            run_own(Path(name), repeats, options.quick)
        else:
            run(name, repeats, options.quick, ratios, peer_interpreter(options.peer_python))
    if options.json:
        print(json.dumps(ratios))


if __name__ == "__main__":
    main()
